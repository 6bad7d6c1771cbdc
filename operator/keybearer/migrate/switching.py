"""The steps that hand a Secret over: the other operator stops, and the Secret is freed before its owner goes."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.migrate.findings import Notes
from keybearer.migrate.foreign import ForeignObject

__all__ = [
    "CERT_MANAGER",
    "EXTERNAL_SECRETS",
    "INFISICAL",
    "VAULT",
    "OtherOperator",
    "keep_for_return",
    "note_switch",
]


@dataclass(frozen=True, slots=True)
class OtherOperator:
    """The operator that writes the Secrets now.

    Attributes:
        name: for people.
        namespace: of its Deployment, as its Helm chart installs it; in capitals where that depends on the release.
        deployment: its name, likewise.
        labels: marks by which it knows what it wrote; on a Secret that is taken over they would stay for ever.
        annotations: likewise.
    """

    name: str
    namespace: str = "NAMESPACE"
    deployment: str = "DEPLOYMENT"
    labels: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()

    @property
    def freeing_patch(self) -> str:
        """Return the merge patch that takes what it wrote from it; it changes nothing that isn't there."""
        metadata: dict[str, object] = {"ownerReferences": None}
        if self.labels:
            metadata["labels"] = dict.fromkeys(self.labels)
        if self.annotations:
            metadata["annotations"] = dict.fromkeys(self.annotations)
        return json.dumps({"metadata": metadata}, separators=(",", ":"))


CERT_MANAGER = OtherOperator("cert-manager", "cert-manager", "cert-manager")
EXTERNAL_SECRETS = OtherOperator(
    "External Secrets Operator",
    "external-secrets",
    "external-secrets",
    # LabelManaged, LabelOwner and AnnotationDataHash of its apis/externalsecrets/v1.
    labels=("reconcile.external-secrets.io/managed", "reconcile.external-secrets.io/created-by"),
    annotations=("reconcile.external-secrets.io/data-hash",),
)
INFISICAL = OtherOperator("the Infisical operator")
VAULT = OtherOperator("Vault Secrets Operator")


def note_switch(
    one: ForeignObject, other: OtherOperator, target: tuple[str, str], notes: Notes, *, namespace: str = ""
) -> None:
    """Note how a Secret is taken over from an operator that owns it.

    Args:
        one: the object by which the other operator owns it.
        other: that operator.
        target: kind and name of what it writes.
        notes: of the object.
        namespace: of what it writes, where that isn't the object's.
    """
    kind, name = target
    where = namespace or one.namespace
    at = f"-n {shlex.quote(where)} " if where else ""
    notes.last_step(
        f"{other.name} must not write its Secrets any more",
        "Stop it before you apply.",
        f"kubectl -n {other.namespace} scale deployment {other.deployment} --replicas=0",
    )
    notes.last_step(
        f"{kind} {name[:253]} must have no other owner",
        f"Free it after that. Don't delete {one.kind} {one.name} before: Kubernetes then deletes the {kind} too.",
        f"kubectl {at}patch {kind.lower()} {shlex.quote(name)} --type=merge -p {shlex.quote(other.freeing_patch)}",
    )


def keep_for_return(target: dict[str, JsonValue], notes: Notes) -> None:
    """Let a target that is taken over outlive its SecretSync, so that the other operator can take it back."""
    target["onDelete"] = "Retain"
    notes.last_step(
        "is written with onDelete: Retain, so that its target stays when you go back and delete the SecretSync",
        "When you will not go back, remove that line. The target is then deleted with the SecretSync, as before.",
    )
