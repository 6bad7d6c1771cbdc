"""What is queued: keys of objects to look at, how urgent they are, and how a look is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Lane", "Trigger", "WorkItem", "WorkKey"]


class Lane(IntEnum):
    """Why a key waits; the lower goes first."""

    URGENT = 0
    """Drift of a target, an edited spec, a request by a person, a corrected credential."""
    FIRST = 1
    """An object that was never in sync."""
    CHANGE = 2
    """Its source changed."""
    REFRESH = 3
    """A retry, an audit, a resync."""


@dataclass(frozen=True, slots=True)
class WorkKey:
    """What to look at."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A key whose turn has come, how urgent it was, and since when it waited (monotonic seconds)."""

    key: WorkKey
    lane: Lane
    since: float


Trigger = Callable[[WorkKey, Lane], None]
"""How other parts ask for a reconcile: `WorkQueue.add`."""
