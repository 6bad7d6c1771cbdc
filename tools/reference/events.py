"""The page of Events."""

from __future__ import annotations

from collections.abc import Mapping

from tools.reference.markdown import NOTE, cell, code, table

__all__ = ["EVENTS", "events_page"]

EVENTS: Mapping[str, tuple[str, str, str]] = {
    "TargetWritten": (
        "SecretSync",
        "Normal",
        "A target was written again; the message names the keys. The first write is only in the status.",
    ),
    "TargetRetired": (
        "SecretSync",
        "Normal",
        "A target that the spec no longer names was removed.",
    ),
    "Renewed": (
        "CertificateProfile",
        "Normal",
        "A certificate was issued again and is in its Secret; the message says why.",
    ),
    "WorkloadNotFound": (
        "SecretSync, CertificateProfile",
        "Warning",
        "A workload of `rolloutRestart` doesn't exist: correct its name, or create it. `status.workloads` and the message of Ready name it until then.",
    ),
    "MountsNotRefreshed": (
        "SecretSync, CertificateProfile",
        "Warning",
        "The API server refuses the requests of `refreshMounts`. The kubelet updates mounted files within one or two minutes.",
    ),
    "RequestUnknown": (
        "SecretSync",
        "Warning",
        "The annotations have an unknown request. [Requests](labels.md#requests) lists all of them.",
    ),
    "RequestRefused": (
        "SecretSync",
        "Warning",
        "The spec doesn't allow the request; the message says why. The operator did a `sync` instead.",
    ),
    "Orphaned": (
        "all three kinds",
        "Warning",
        "The clean-up passed its deadline. The message names the rest, and the cause.",
    ),
    "CertificateIssued": (
        "CertificateRequest, CertificateSigningRequest, PodCertificateRequest",
        "Normal",
        "A certificate was delivered; the message has its serial number.",
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
                "The operator (`keybearer.dev/operator`) writes Events (`events.k8s.io/v1`) on its objects. When the reason of "
                "a condition changes, an Event has it too: `Normal` if all is well, and `Warning` otherwise. [Conditions and "
                "reasons](reasons.md) explains the reasons. A first sync without problems makes no Event. The same is true for "
                "[requests of others](reasons.md#requests-of-others).\n"
            ),
            "There are also these Events:\n",
            table(("reason", "on", "type", "means"), rows),
            (
                "The API server joins Events of one kind on one object. By default it deletes all Events after an hour. "
                "Everything important is in the status.\n"
            ),
        )
    )
