"""What this process knows of revisions and permissions without asking the database.

With SQLite this process is the only writer (the data directory is locked), so that what it published last is
the truth: a list may be answered from memory as long as the revisions it was built from still stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from keybearer.base.ids import IdentityId

__all__ = ["Changes", "RevisionBook"]


@dataclass(slots=True)
class Changes:
    """What one writing unit moved: told to listeners once its commit was attempted."""

    revisions: dict[str, int] = field(default_factory=dict)
    identities: set[IdentityId] = field(default_factory=set)
    tokens: set[str] = field(default_factory=set)


class RevisionBook:
    """The latest revision known of each project (by id) and of each organization's names (by its id).

    Numbers only grow. A number that a failed commit published too early is harmless: nothing that was read
    carries it, so that the answer is computed afresh.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._listeners: list[Callable[[Changes], None]] = []

    def subscribe(self, listener: Callable[[Changes], None]) -> None:
        """Call the listener after every commit, before the writer is answered."""
        self._listeners.append(listener)

    def observe(self, revisions: Mapping[str, int]) -> None:
        """Take over what a reader saw."""
        for name, revision in revisions.items():
            if revision > self._known.get(name, -1):
                self._known[name] = revision

    def publish(self, changes: Changes) -> None:
        """Take over what a writer committed, and tell the listeners."""
        self.observe(changes.revisions)
        for listener in self._listeners:
            listener(changes)

    def stands(self, revisions: Iterable[tuple[str, int]]) -> bool:
        """Return whether every one of these is the latest known."""
        known = self._known
        return all(known.get(name) == revision for name, revision in revisions)
