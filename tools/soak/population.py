"""The SecretSyncs of a soak and what may be in their Secrets: a model that is changed before the cluster is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from tools.bench.workload import Key
from tools.soak.ledger import SourceLedger, digest_of

__all__ = ["BY_HAND", "IDENTITY", "Judged", "Member", "Population", "Reading"]

IDENTITY = "service-identity"
"""The Secret with credentials in each namespace."""
BY_HAND = "BY_HAND"
"""A key that each edit by hand leaves in a Secret, so that it is known as one."""


@dataclass(slots=True)
class Member:
    """One SecretSync.

    Attributes:
        target: name of its Secret.
        source: number of the source that it reads.
        sources: of all that it ever read: the last one may still be in its Secret.
        interval_seconds: its refreshInterval.
    """

    namespace: str
    name: str
    target: str
    source: int
    interval_seconds: int
    sources: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.sources.add(self.source)

    @property
    def key(self) -> Key:
        """Namespace and name of its Secret."""
        return self.namespace, self.target


class Judged(Enum):
    """What a Secret holds, as far as it can be told at any moment."""

    REVISION = auto()
    EDITED = auto()
    WRONG = auto()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a Secret holds.

    Attributes:
        revision: of the source that its SecretSync reads now; None when it is of another one, or none at all.
    """

    judged: Judged
    revision: int | None = None


class Population:
    """All members.

    Attributes:
        members: by their Secret.
        departed: Secrets that are to go, and the sources that they may hold until then.
        names: members by namespace and name.
    """

    def __init__(
        self, namespaces: Sequence[str], ledgers: Sequence[SourceLedger], interval_seconds: int
    ) -> None:
        self._namespaces = namespaces
        self._ledgers = ledgers
        self._interval_seconds = interval_seconds
        self._serial = itertools.count()
        self.members: dict[Key, Member] = {}
        self.departed: dict[Key, set[int]] = {}
        self.names: dict[Key, Member] = {}

    def __len__(self) -> int:
        return len(self.members)

    def new(self) -> Member:
        """Return a member more; namespaces and sources are taken in turns."""
        number = next(self._serial)
        member = Member(
            namespace=self._namespaces[number % len(self._namespaces)],
            name=(name := f"sync-{number:05}"),
            target=name,
            source=number // len(self._namespaces) % len(self._ledgers),
            interval_seconds=self._interval_seconds,
        )
        self.members[member.key] = member
        self.names[member.namespace, member.name] = member
        return member

    def any(self, rng: random.Random) -> Member:
        """Return one of them."""
        return rng.choice(list(self.members.values()))

    def remove(self, member: Member) -> None:
        """The member leaves, and its Secret is to go."""
        del self.members[member.key], self.names[member.namespace, member.name]
        self.departed[member.key] = member.sources

    def retarget(self, member: Member) -> str:
        """The member writes to a Secret of another name, which is returned; the old one is to go."""
        self.departed[member.key] = set(member.sources)
        del self.members[member.key]
        stem, _, turn = member.target.partition(".")
        member.target = f"{stem}.{int(turn or 0) + 1}"
        self.members[member.key] = member
        return member.target

    def redirect(self, member: Member, rng: random.Random) -> SourceLedger:
        """The member reads another source, which is returned."""
        others = [number for number in range(len(self._ledgers)) if number != member.source]
        member.source = rng.choice(others)
        member.sources.add(member.source)
        return self._ledgers[member.source]

    def dependents(self, source: int) -> list[Key]:
        """Return the Secrets that follow a source."""
        return [key for key, member in self.members.items() if member.source == source]

    def source_of(self, member: Member) -> SourceLedger:
        """Return what the member reads."""
        return self._ledgers[member.source]

    def read(self, key: Key, data: Mapping[str, str]) -> Reading | None:
        """Tell what a Secret holds; None for one that isn't ours.

        Args:
            key: its namespace and name.
            data: as the API server shows it, in Base64.
        """
        member = self.members.get(key)
        sources = member.sources if member is not None else self.departed.get(key)
        if sources is None:
            return None
        if BY_HAND in data:
            return Reading(Judged.EDITED)
        digest = digest_of(data)
        if member is not None:
            revision = self._ledgers[member.source].revision_of(digest)
            if revision is not None:
                return Reading(Judged.REVISION, revision)
        known = any(self._ledgers[number].revision_of(digest) is not None for number in sources)
        return Reading(Judged.REVISION if known else Judged.WRONG)
