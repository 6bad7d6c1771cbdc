"""A bounded cache of the sets of rows that this process has read and checked, by the envelope of their sum.

Each change makes another envelope, so an entry is never out of date.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from keybearer.store.sealing.envelope import SealingKey
from keybearer.store.sealing.tally import FolderTallies, PlaceTally

__all__ = [
    "KnownFolder",
    "KnownPlaces",
    "KnownSets",
    "Order",
    "PlacedEnvironment",
    "PlacedFolder",
    "shortened",
]

_MARKS_MAX = 100_000
"""How many marks are cached: about 20 MB. A single larger set is kept until the next one comes."""
_SHORT = (1 << 62) - 1
_REORDERED_MAX = 50
"""Folders of one change that are put into an order one by one; of more, the whole is sorted when it is asked for."""


def shortened(mark: int) -> int:
    """Return the 62 bits of a mark that are cached: enough, as nobody has the key, and in half the memory."""
    return mark & _SHORT


@dataclass(slots=True)
class KnownFolder:
    """A folder whose seal was opened; the shortened marks of its secrets, once they were read and checked.

    `shared` is by key, `personal` by key and owner; None until they were read.
    """

    key: SealingKey
    tallies: FolderTallies
    shared: dict[str, int] | None = field(default=None, repr=False)
    personal: dict[tuple[str, str], int] | None = field(default=None, repr=False)

    @property
    def weight(self) -> int:
        """How many marks it holds, plus four for itself, which needs as much memory as four marks."""
        return 4 + len(self.shared or ()) + len(self.personal or ())


class PlacedFolder(NamedTuple):
    """A folder and where it is."""

    id: str
    environment_id: str
    parent_id: str | None
    is_reserved: bool
    name: str
    path: str


class PlacedEnvironment(NamedTuple):
    """An environment and its slug."""

    id: str
    project_id: str
    slug: str


Order = dict[str, list[tuple[str, str]]]
"""By the ids of environments, the paths and ids of their folders in order, but for reserved ones."""


@dataclass(frozen=True, slots=True)
class KnownPlaces:
    """The places of a project, after they were read and checked.

    Attributes:
        key: the key that seals their sum.
        tally: their sum.
        folders: by their ids.
        environments: the slug of each, by its id.
        paths: of all folders, each with the id of its environment.
        order: of environments in which a subtree was asked for.
    """

    key: SealingKey
    tally: PlaceTally
    folders: dict[str, PlacedFolder] = field(repr=False)
    environments: dict[str, str] = field(repr=False)
    paths: AbstractSet[tuple[str, str]] = field(repr=False)
    order: Order = field(default_factory=dict, repr=False, compare=False)

    def within(self, environment_id: str, path: str) -> list[str]:
        """Return the ids of the folders of an environment at the path and under it, but for reserved ones."""
        ordered = self.order.get(environment_id)
        if ordered is None:
            of_environment = (one for one in self.folders.values() if one.environment_id == environment_id)
            ordered = sorted((one.path, one.id) for one in of_environment if not one.is_reserved)
            self.order[environment_id] = ordered
        # "0" is the character after "/": the range holds exactly the paths that begin with the stem.
        stem = "" if path == "/" else path
        found = ordered[bisect_left(ordered, (f"{stem}/", "")) : bisect_left(ordered, (f"{stem}0", ""))]
        place = bisect_left(ordered, (stem, ""))
        if stem and place < len(ordered) and ordered[place][0] == stem:
            found.append(ordered[place])
        return [folder_id for _, folder_id in found]

    def order_after(self, gone: Sequence[PlacedFolder], new: Sequence[PlacedFolder]) -> Order:
        """Return the order, as far as it is known, without some folders and with others."""
        if len(gone) + len(new) > _REORDERED_MAX:
            return {}
        changed = {folder.environment_id for folder in (*gone, *new)}
        order = {
            environment_id: ordered.copy() if environment_id in changed else ordered
            for environment_id, ordered in self.order.items()
        }
        for folder in gone:
            if folder.environment_id in order and not folder.is_reserved:
                ordered = order[folder.environment_id]
                del ordered[bisect_left(ordered, (folder.path, folder.id))]
        for folder in new:
            if folder.environment_id in order and not folder.is_reserved:
                insort(order[folder.environment_id], (folder.path, folder.id))
        return order

    @property
    def weight(self) -> int:
        """How many rows it holds, plus one for itself; a folder needs as much memory as two marks."""
        return 1 + 2 * len(self.folders) + len(self.environments)


_Known = TypeVar("_Known", KnownFolder, KnownPlaces)


class _Sets(Generic[_Known]):
    """The entries of one kind; those that were unused for longest are dropped first."""

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
        """Store it; call again when it has grown."""
        self.take(record_id, envelope)
        self._known[record_id, envelope] = (known, known.weight)
        self._weight += known.weight
        while self._weight > _MARKS_MAX and len(self._known) > 1:
            _, (_, weight) = self._known.popitem(last=False)
            self._weight -= weight

    def take(self, record_id: str, envelope: bytes) -> _Known | None:
        """Remove and return it."""
        found = self._known.pop((record_id, envelope), None)
        if found is None:
            return None
        self._weight -= found[1]
        return found[0]


class KnownSets:
    """The sets that this process has read and checked."""

    def __init__(self) -> None:
        self.folders: _Sets[KnownFolder] = _Sets()
        self.places: _Sets[KnownPlaces] = _Sets()
