"""Requests by people: two annotations, answered in status and never removed, so that GitOps doesn't fight us."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.controllers.annotations import (
    APPROVE_PLAN,
    IMPORT,
    IMPORT_BEHAVIOR,
    RELEASE_GUARD,
    REMOVE_FOREIGN,
    RENEW,
    SYNC,
)
from keybearer.controllers.objects import ObservedObject

__all__ = ["PendingRequest", "pending_request"]

_BEHAVIORS = ("prioritize-source", "prioritize-destination")


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that was not answered yet.

    Attributes:
        requested_at: the annotation's value, echoed when it is answered; any text that differs from the last.
        import_behavior: of an import, whose value stays where both sides have a key.
        kind: what is asked; `sync` where the other annotation is missing. What is not known is handled as `sync`.
    """

    requested_at: str
    kind: str
    import_behavior: str | None = None

    @property
    def imports(self) -> bool:
        """Tell whether what the destination holds is to be brought into the folder."""
        return self.kind == IMPORT

    @property
    def wrong_behavior(self) -> str | None:
        """Say that an import is to behave in a way that there isn't, and name the ways; None where it isn't so.

        Such a request is not answered: an import of another kind, or the push of a sync, could write over what was to
        stay.
        """
        if not self.imports or self.import_behavior in (None, *_BEHAVIORS):
            return None
        return (
            f"{IMPORT_BEHAVIOR} {(self.import_behavior or '')[:64]!r} is neither {' nor '.join(_BEHAVIORS)}; nothing "
            "is imported, and the operator pushes nothing, until you correct it or ask for something else"
        )

    @property
    def releases_guard(self) -> bool:
        """Tell whether the guard's change may pass this once."""
        return self.kind == RELEASE_GUARD

    @property
    def removes_foreign(self) -> bool:
        """Tell whether the names of others that the status shows may be removed from the destination this once."""
        return self.kind == REMOVE_FOREIGN

    def as_sync(self) -> PendingRequest:
        """Return what is left of a request that is refused: what a person wants is looked at now."""
        return PendingRequest(self.requested_at, SYNC)

    @property
    def renews(self) -> bool:
        """Tell whether certificates are to be issued anew, though nothing else asks for it."""
        return self.kind == RENEW

    @property
    def approves_plan(self) -> bool:
        """Tell whether the plan that status shows may be carried out this once."""
        return self.kind == APPROVE_PLAN


def pending_request(seen: ObservedObject, handled: str | None) -> PendingRequest | None:
    """Return the request that an object carries and its status, which answered `handled` last, doesn't yet."""
    at = seen.requested_at
    if at is None or at[:256] == handled:
        return None
    return PendingRequest(at[:256], seen.request or SYNC, seen.import_behavior)
