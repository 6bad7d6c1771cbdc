"""The page of labels, annotations, finalizers and metadata of requests."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.controllers.certificateprofile.secret_contents import CERTIFICATE_LABEL
from keybearer.controllers.finalizer import FINALIZER, TRUST_FINALIZER
from keybearer.controllers.signers.decide import CLUSTER_MARK, REQUEST_MARK
from keybearer.controllers.target.backup import BACKUP_MARK, TRIAL_MARK
from keybearer.controllers.target.desired import MANAGED_LABEL, OWNER_LABEL
from keybearer.controllers.target.mount_refresh import REFRESH_ANNOTATION
from keybearer.controllers.target.restart import RESTART_ANNOTATION
from tools.reference.markdown import NOTE, cell, code, table

__all__ = ["MARKS", "REQUESTS", "labels_page"]

_SECRETS, _PODS, _CERTIFICATES = (
    "target Secret or ConfigMap",
    "pod template of a workload",
    "Secret of a certificate",
)

MARKS: Mapping[str, tuple[str, str, str]] = {
    MANAGED_LABEL: ("label", _SECRETS, "`true`: the operator's watch of targets selects it."),
    OWNER_LABEL: (
        "label",
        _SECRETS,
        "UID of the SecretSync or CertificateProfile that owns it. Don't copy it to other objects.",
    ),
    "app.kubernetes.io/managed-by": ("label", _SECRETS, "`keybearer`."),
    BACKUP_MARK: (
        "annotation",
        "backup of a Secret or ConfigMap that is being recreated",
        "The rest of what it was. The operator removes the backup; don't delete it yourself.",
    ),
    TRIAL_MARK: (
        "annotation",
        "trial of a Secret or ConfigMap that was refused when it was recreated",
        "The operator removes it at once.",
    ),
    CERTIFICATE_LABEL: ("label", _CERTIFICATES, "Name of the entry in `spec.certificates`."),
    "keybearer.dev/certificate-id": ("annotation", _CERTIFICATES, "Id of the certificate in the service."),
    "keybearer.dev/revision": (
        "annotation",
        _CERTIFICATES,
        "Which attempt brought it; found again after a status was lost.",
    ),
    "keybearer.dev/spec": ("annotation", _CERTIFICATES, "Keyed fingerprint of what was asked for."),
    REFRESH_ANNOTATION: (
        "annotation",
        "pods",
        "When the operator had the kubelet look at the pod, so that its files show a changed target (`refreshMounts`).",
    ),
    RESTART_ANNOTATION: (
        "annotation",
        _PODS,
        "Target, and keyed fingerprint of its data, that the workload was restarted for.",
    ),
    FINALIZER: (
        "finalizer",
        "our custom resources",
        "There is something to clean up before the object goes.",
    ),
    TRUST_FINALIZER: ("finalizer", "CertificateProfile", "Its ClusterTrustBundle goes first."),
    CLUSTER_MARK: ("metadata in the service", "request for a certificate", "Which cluster asked."),
    "keybearer.dev/uid": (
        "metadata in the service",
        "request for a certificate",
        "UID of the CertificateProfile.",
    ),
}
"""Where each is and what it says; those that people set are in `REQUESTS`."""

REQUESTS: Mapping[str, tuple[str, str]] = {
    REQUEST_MARK: (
        "`sync`, `import`, `release-guard`, `approve-plan`, `remove-foreign` or `renew`; without it `sync` is meant",
        "What is asked for. (In the service, metadata of this name hold the UID of an object that others made.)",
    ),
    "keybearer.dev/requestedAt": (
        "any text that differs from the last one; an instant by custom",
        (
            "That it is asked for now. `status` repeats it when it was answered; it is never removed, so that GitOps tools "
            "don't fight it."
        ),
    ),
    "keybearer.dev/import-behavior": (
        "`prioritize-source` or `prioritize-destination`",
        "Whose value stays where both sides have a key; with `import` only.",
    ),
}
"""Annotations by which people ask for something."""

_WORDS = {
    "sync": ("SecretSync, AppConnection, CertificateProfile", "Read, write or push now."),
    "import": ("SecretSync with a destination", "Bring what the destination holds into the folder."),
    "release-guard": (
        "SecretSync",
        "Let the change that the guard holds back pass, this once. In `mode: Plan` it carries out what `status.plan` shows.",
    ),
    "approve-plan": (
        "SecretSync in `mode: Plan`",
        "Carry out the plan that `status.plan` shows, this once, unless the guard holds it back.",
    ),
    "remove-foreign": (
        "SecretSync with a destination",
        "Remove the names of others that `status.push.foreign` shows from the destination, this once.",
    ),
    "renew": ("CertificateProfile", "Issue all of its certificates again."),
}


def labels_page() -> str:
    """Return the page."""
    marks = [(code(name), kind, cell(of), cell(means)) for name, (kind, of, means) in MARKS.items()]
    asked = [(code(name), cell(values), cell(means)) for name, (values, means) in REQUESTS.items()]
    words = [(code(word), cell(of), cell(means)) for word, (of, means) in _WORDS.items()]
    return "\n".join(
        (
            "# Labels and annotations\n",
            NOTE + "\n",
            "## Requests\n",
            "People ask the operator for something by annotations of an object:\n",
            (
                "    kubectl -n NAMESPACE annotate --overwrite secretsync NAME \\\n"
                '      keybearer.dev/request=sync keybearer.dev/requestedAt="$(date -u +%FT%TZ)"\n'
            ),
            table(("annotation", "value", "says"), asked),
            table(("request", "of", "has the operator"), words),
            "## What Keybearer sets\n",
            table(("name", "is a", "on", "says"), marks),
            "Labels and annotations of your own go to targets by `target.template.metadata`; none under `keybearer.dev/`.\n",
        )
    )
