"""What a converter sees beside the object that it converts."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.controllers.target.spec import OPAQUE
from keybearer.migrate.findings import Notes
from keybearer.migrate.foreign import ForeignObject, Inventory
from keybearer.migrate.manifests import Draft
from keybearer.migrate.settings import Place, Settings

__all__ = ["CARRIED_ELSEWHERE", "Conversion", "Surroundings", "note_type"]

_USUAL_TYPES = (
    OPAQUE,
    "kubernetes.io/tls",
    "kubernetes.io/dockerconfigjson",
    "kubernetes.io/basic-auth",
    "kubernetes.io/ssh-auth",
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of an object.

    Attributes:
        drafts: the objects of ours that it becomes.
        is_absorbed: whether what it says goes into other objects, or needs none: then it is carried without drafts.
    """

    drafts: tuple[Draft, ...] = ()
    is_absorbed: bool = False


CARRIED_ELSEWHERE = Conversion(is_absorbed=True)
"""What the object says stands in the objects that name it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything that was read together, and what the person decided."""

    inventory: Inventory
    settings: Settings

    def identity(self, namespace: str, notes: Notes, *, found: str | None = None, field: str = "") -> str:
        """Return the Secret that `identityRef` names, and note what to do for it.

        Args:
            namespace: where it must be.
            notes: of the object.
            found: one of the manifests' own that has the keys clientId and clientSecret.
            field: what says who reads, in the manifest that was read.
        """
        if found is not None:
            return found
        name = self.settings.identity
        where = f" in namespace {namespace}" if namespace else ""
        notes.step(
            field,
            f"needs a Secret {name}{where} with the login of a machine identity",
            "Make it with clientId and clientSecret (keybearer identities create NAME), or keys of another login.",
        )
        return name

    def place(self, one: ForeignObject, store: str, kind: str, field: str, notes: Notes) -> Place | None:
        """Return where the person says that the contents of a store are, and note that they must get there."""
        place = self.settings.store(one.namespace, store)
        if place is not None:
            notes.step(
                field,
                f"the contents of {kind} {store} must be in {place} first",
                "Bring them there: keybearer secrets import, or the import of a SecretSync with a destination.",
            )
        return place


def note_type(secret_type: str, field: str, notes: Notes) -> None:
    """Note that the operator must be told of a type of Secrets that it doesn't write by itself."""
    if secret_type not in _USUAL_TYPES:
        notes.step(
            field,
            "is a type of Secrets that the operator writes only where it was told to",
            "Start it with --allow-target-type, or leave the type out.",
        )
