"""Counters of pushes for metrics: by destination, never by sync, project or name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

__all__ = ["KeyCounts", "PushTallies", "Unpushed", "Waiting"]


@dataclass(slots=True)
class KeyCounts:
    """Outcomes of keys. Never reset, so that rates can be calculated.

    Attributes:
        written: at the destination.
        skipped: found in place by a push, so that nothing was written.
        failed: refused, by a rule or by the remote; counted at each push that tries them.
        removed: from the destination, and from former places.
    """

    written: int = 0
    skipped: int = 0
    failed: int = 0
    removed: int = 0


class PushTallies:
    """Counts of this process. The notes of a run keep them, and so does the clearing of former places."""

    def __init__(self) -> None:
        self._by_destination: dict[str, KeyCounts] = {}

    def of(self, destination: str) -> KeyCounts:
        """Return the counts of a destination, to be added to."""
        return self._by_destination.setdefault(destination, KeyCounts())

    def items(self) -> Iterator[tuple[str, KeyCounts]]:
        """Yield the counts of each destination, by name."""
        yield from sorted(self._by_destination.items())


@dataclass(frozen=True, slots=True)
class Unpushed:
    """What is not pushed yet to one kind of destination.

    Attributes:
        syncs: with a change that waits, is being pushed, or failed.
        keys: names that their last runs planned to write or remove, and did not.
        oldest: age of the oldest of these changes; zero without one.
    """

    destination: str
    syncs: int
    keys: int
    oldest: timedelta


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for any process on this database.

    Attributes:
        jobs: of secret syncs, due or not, without looks.
        unpushed: for each destination with syncs.
    """

    jobs: int
    unpushed: tuple[Unpushed, ...] = ()
