"""What a writing unit moved, and what this process knows of revisions without asking the database.

With SQLite this process is the only writer (the data directory is locked), so that what it published last is
the truth: a list may be answered from memory as long as the revisions it was built from still stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId, ProjectId

__all__ = ["NOTED_MAX", "ChangeKind", "Changes", "ListChange", "RevisionBook"]

NOTED_MAX = 10_000
"""Secrets that one unit names as changed; what changes more is told of the whole organization."""


class ChangeKind(StrEnum):
    """What happened to a secret of a folder's list, or to the imports of the folder."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    IMPORTS = "imports"


@dataclass(frozen=True, slots=True)
class ListChange:
    """The list of a folder changed.

    Attributes:
        key: of the secret; empty where the imports changed.
        owner: the user whose personal override it is, and whose list alone changed; empty for all.
    """

    kind: ChangeKind
    project_id: ProjectId
    environment: EnvironmentSlug
    path: FolderPath
    key: str = ""
    owner: str = ""


@dataclass(slots=True)
class Changes:
    """What one writing unit moved: told to listeners once its commit was attempted. Never a value.

    Attributes:
        revisions: of projects and of organizations' names, by id.
        identities: those that may do something else now, or are gone.
        tokens: ids of tokens that are worthless or changed.
        folders: what changed in the lists of folders, in order; what follows from it in the lists of other
            folders, by import or reference, is found later by who wants to know.
        organizations: those in which more changed than is told folder by folder: an environment went, say.
        jobs: whether jobs of secret syncs were queued or ended, so that there may be something to run.
        orders: whether certificate requests became due with which the service goes on by itself.
        audit_lines, certificates: how many were written, for metrics alone.
    """

    revisions: dict[str, int] = field(default_factory=dict)
    identities: set[IdentityId] = field(default_factory=set)
    tokens: set[str] = field(default_factory=set)
    folders: list[ListChange] = field(default_factory=list)
    organizations: set[OrganizationId] = field(default_factory=set)
    jobs: bool = False
    orders: bool = False
    audit_lines: int = field(default=0, compare=False)
    certificates: int = field(default=0, compare=False)


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
