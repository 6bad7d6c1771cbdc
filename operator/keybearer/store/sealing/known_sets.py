"""Sets of rows that a process has looked through, by the envelope of their sum: a bounded number of marks.

An envelope is another one after each change, so that what is here under it is never out of date.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from keybearer.store.sealing.envelope import SealingKey
from keybearer.store.sealing.tally import FolderTallies, PlaceTally

__all__ = [
    "KnownFolder",
    "KnownPlaces",
    "KnownSets",
    "PlacedEnvironment",
    "PlacedFolder",
    "shortened",
]

_MARKS_MAX = 100_000
"""In memory, about 20 MB; a set that is larger than that by itself is kept until the next one comes."""
_SHORT = (1 << 62) - 1


def shortened(mark: int) -> int:
    """Return what is remembered of a mark: as nobody has the key, 62 bits are as good as all, in half the memory."""
    return mark & _SHORT


@dataclass(slots=True)
class KnownFolder:
    """A folder whose seal is open, and its secrets by key and owner where they were looked through."""

    key: SealingKey
    tallies: FolderTallies
    shared: dict[str, int] | None = field(default=None, repr=False)
    personal: dict[tuple[str, str], int] | None = field(default=None, repr=False)

    @property
    def weight(self) -> int:
        """How many marks it holds, and itself."""
        return 1 + len(self.shared or ()) + len(self.personal or ())


class PlacedFolder(NamedTuple):
    """A folder and where it is."""

    id: str
    environment_id: str
    parent_id: str | None
    is_reserved: bool
    name: str
    path: str


class PlacedEnvironment(NamedTuple):
    """An environment and what it is called."""

    id: str
    project_id: str
    slug: str


@dataclass(frozen=True, slots=True)
class KnownPlaces:
    """The places of a project that was looked through.

    Attributes:
        key: that their sum is sealed with.
        tally: their sum.
        folders: by their ids.
        environments: the slug of each, by its id.
        paths: of all folders, each with the id of its environment.
    """

    key: SealingKey
    tally: PlaceTally
    folders: dict[str, PlacedFolder] = field(repr=False)
    environments: dict[str, str] = field(repr=False)
    paths: AbstractSet[tuple[str, str]] = field(repr=False)

    @property
    def weight(self) -> int:
        """How many rows it holds, and itself; a row of a folder weighs as much as two marks."""
        return 1 + 2 * len(self.folders) + len(self.environments)


_Known = TypeVar("_Known", KnownFolder, KnownPlaces)


class _Sets(Generic[_Known]):
    """Those of one kind, letting go of the ones unused for longest."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bytes], tuple[_Known, int]] = OrderedDict()
        self._weight = 0

    def get(self, record_id: str, envelope: bytes) -> _Known | None:
        """Return what is known of this record under this envelope."""
        found = self._known.get((record_id, envelope))
        if found is None:
            return None
        self._known.move_to_end((record_id, envelope))
        return found[0]

    def put(self, record_id: str, envelope: bytes, known: _Known) -> None:
        """Remember it; called again when it has grown."""
        self.take(record_id, envelope)
        self._known[record_id, envelope] = (known, known.weight)
        self._weight += known.weight
        while self._weight > _MARKS_MAX and len(self._known) > 1:
            _, (_, weight) = self._known.popitem(last=False)
            self._weight -= weight

    def take(self, record_id: str, envelope: bytes) -> _Known | None:
        """Return it, and remember it no longer."""
        found = self._known.pop((record_id, envelope), None)
        if found is None:
            return None
        self._weight -= found[1]
        return found[0]


class KnownSets:
    """What this process has looked through."""

    def __init__(self) -> None:
        self.folders: _Sets[KnownFolder] = _Sets()
        self.places: _Sets[KnownPlaces] = _Sets()
