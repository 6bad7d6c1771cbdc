"""The page of Events."""

from __future__ import annotations

from collections.abc import Mapping

from tools.reference.markdown import NOTE, cell, code, table

__all__ = ["EVENTS", "events_page"]

EVENTS: Mapping[str, tuple[str, str, str]] = {
    "TargetWritten": (
        "SecretSync",
        "Normal",
        "A target was written again; the message names the keys. The first writing has the status to say so, and no Event.",
    ),
    "TargetRetired": (
        "SecretSync",
        "Normal",
        "A target that the spec no longer names was taken back.",
    ),
    "Renewed": (
        "CertificateProfile",
        "Normal",
        "A certificate was issued anew and is in its Secret; the message says why.",
    ),
    "WorkloadNotFound": (
        "SecretSync, CertificateProfile",
        "Warning",
        "A workload of `rolloutRestart` doesn't exist: correct it if that is a slip.",
    ),
    "MountsNotRefreshed": (
        "SecretSync, CertificateProfile",
        "Warning",
        "`refreshMounts` is set, and the operator has no right on pods; mounted files change at the kubelet's own pace.",
    ),
    "RequestUnknown": (
        "SecretSync",
        "Warning",
        "The annotations of a request say something that is none; [the words that there are](labels.md#requests).",
    ),
    "RequestRefused": (
        "SecretSync",
        "Warning",
        "What a request asks for can't be done as the spec is; the message says why. It was answered as `sync`.",
    ),
    "Orphaned": (
        "all three kinds",
        "Warning",
        "Cleaning up passed its deadline; the message names what is left behind and why.",
    ),
    "CertificateIssued": (
        "CertificateRequest, CertificateSigningRequest, PodCertificateRequest",
        "Normal",
        "A certificate was handed over; the message has its serial number.",
    ),
}
"""What is told beside the reasons of conditions: of which objects, in which type, and what it means."""


def events_page() -> str:
    """Return the page."""
    rows = [(code(reason), cell(of), type_, cell(means)) for reason, (of, type_, means) in EVENTS.items()]
    return "\n".join(
        (
            "# Events\n",
            NOTE + "\n",
            (
                "Events (`events.k8s.io/v1`) are told by `keybearer.dev/operator`, about the object that they concern. When the reason "
                "of a condition changes, an Event has it too: `Normal` where all is well, `Warning` elsewhere. The page on "
                "[conditions](reasons.md) says what they mean. A first sync that goes well makes no Event. The same holds for "
                "requests of others; their reasons are [there](reasons.md#requests-of-others) too.\n"
            ),
            "Beside these:\n",
            table(("reason", "on", "type", "means"), rows),
            (
                "Events of one kind about one object are joined by the API server's rules, and the API server forgets all of them "
                "after an hour by default: what matters is in the status.\n"
            ),
        )
    )
