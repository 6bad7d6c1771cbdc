"""What a folder shows of others: order, depth, circles and precedence of imports (wire.md section 2.7). Pure.

A folder's own secret always wins; between imports the later one does. Deeper imports are part of the import
that led to them, where the first occurrence of a key is kept. Published clients disagree about which of two
blocks wins, so that a key never stands in two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.store.imports import ImportedPlace
from keybearer.wire.limits import IMPORT_DEPTH_MAX

__all__ = ["Block", "ImportLimitError", "block_of", "without_shadowed"]

_MAX_STEPS = 100_000
"""Folders entered for one block: ten levels of a thousand imports each would be 10**30 without it."""

_T = TypeVar("_T")


class ImportLimitError(KeybearerError):
    """Imports lead to more folders than are followed for one request."""


@dataclass(frozen=True, slots=True)
class Block:
    """One import of a folder, with the folders whose secrets it shows: the nearest first."""

    environment: EnvironmentSlug
    path: FolderPath
    folder_id: str | None
    folder_ids: tuple[str, ...]


def block_of(place: ImportedPlace, imports_of: Mapping[str, Sequence[ImportedPlace]]) -> Block:
    """Return the block of one import; `imports_of` holds, by folder, the imports further on.

    Circles are cut, the importing folder is never part of its own block, and an import beyond the tenth
    level is not followed.

    Raises:
        ImportLimitError: there are too many.
    """
    walk = _Walk(place.importer_id, imports_of)
    walk.enter(place, 1)
    return Block(place.environment, place.path, place.folder_id, tuple(walk.found))


def without_shadowed(
    blocks: Sequence[Iterable[_T]], key_of: Callable[[_T], str], *, taken: Iterable[str] = ()
) -> list[list[_T]]:
    """Return the blocks without what a later block provides, nor a key twice within one.

    Args:
        blocks: in the order of their imports, each with its nearest folder first.
        key_of: tells the key of an item.
        taken: keys that none of the blocks may show.
    """
    shadowed = set(taken)
    kept: list[list[_T]] = []
    for block in reversed(blocks):
        first: dict[str, _T] = {}
        for item in block:
            key = key_of(item)
            if key not in shadowed:
                first.setdefault(key, item)
        shadowed.update(first)
        kept.append(list(first.values()))
    return kept[::-1]


class _Walk:
    """The folders behind one import, in the order of their first occurrence."""

    def __init__(self, importer_id: str, imports_of: Mapping[str, Sequence[ImportedPlace]]) -> None:
        self._imports_of = imports_of
        # The level at which a folder was entered: one that is met again nearer may lead further.
        self._entered = {importer_id: 0}
        self._steps = 0
        self.found: dict[str, None] = {}

    def enter(self, place: ImportedPlace, level: int) -> None:
        folder_id = place.folder_id
        if folder_id is None or level > IMPORT_DEPTH_MAX:
            return
        if self._entered.get(folder_id, level + 1) <= level:
            return
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise ImportLimitError("imports lead to too many folders")
        self._entered[folder_id] = level
        self.found.setdefault(folder_id)
        for deeper in self._imports_of.get(folder_id, ()):
            self.enter(deeper, level + 1)
