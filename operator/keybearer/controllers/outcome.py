"""How a reconcile can end.

Kinds raise the two errors; everything else that is raised means backoff and a look at the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from keybearer.base.errors import KeybearerError
from keybearer.controllers.conditions import Tone
from keybearer.controllers.remedy import Remedy

__all__ = ["ObjectGoneError", "Outcome", "ReconcileError", "StalledError", "WaitingError"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one run ended; each kind adds what its status is to say besides. What is None stays as it was.

    Attributes:
        tone: whose turn it is.
        reason: of the condition that tells it.
        message: of that condition, for people.
        handled: the request that was answered.
        remedy: what is to be done; None for what the kind says of the reason.
    """

    tone: Tone
    reason: str
    message: str
    handled: str | None = field(default=None, kw_only=True)
    remedy: Remedy | None = field(default=None, kw_only=True)


class ReconcileError(KeybearerError):
    """A reconcile that ends with a condition.

    Args:
        reason: one word in CamelCase, constant, for programs.
        message: what is wrong, where, and what to do; never a value.
        retry: False where something else (a watch, a source's own retry, an edit) will trigger the next run.
        after: when the next run is due, in place of a backoff.
        remedy: what is to be done; None for what the kind says of the reason.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        retry: bool = True,
        after: timedelta | None = None,
        remedy: Remedy | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.retry = retry and after is None
        self.after = after
        self.remedy = remedy


class WaitingError(ReconcileError):
    """Something outside the object must recover; tried again."""


class StalledError(ReconcileError):
    """A person must change something; tried again now and then, and at once when a dependency changes."""


class ObjectGoneError(KeybearerError):
    """The object was deleted while it was reconciled: nothing is left to do."""
