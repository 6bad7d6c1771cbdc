"""What a folder shows of others: order, depth, circles and precedence of imports (wire.md section 2.7). Pure.

A folder's own secret always wins; between imports the later one does. Deeper imports are part of the import
that led to them, where the first occurrence of a key is kept. Published clients disagree about which of two
blocks wins, so that a key never stands in two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.base.steps import StepBudget
from keybearer.store.imports import ImportedPlace
from keybearer.wire.limits import IMPORT_DEPTH_MAX, IMPORT_STEPS_MAX

__all__ = ["Block", "ImportLimitError", "ImportSteps", "block_of", "shown_folders", "without_shadowed"]

_T = TypeVar("_T")


class ImportLimitError(KeybearerError):
    """There are more imports than are followed for one request."""


class ImportSteps(StepBudget):
    """The imports that one request may read and look at, all blocks together; else `ImportLimitError`.

    Folders may import a thousand others each, and a circle is walked once for each way into it.
    """

    def __init__(self) -> None:
        super().__init__(IMPORT_STEPS_MAX, lambda: ImportLimitError("a list follows too many imports"))


@dataclass(frozen=True, slots=True)
class Block:
    """One import of a folder, with the folders whose secrets it shows: the nearest first."""

    environment: EnvironmentSlug
    path: FolderPath
    folder_id: str | None
    folder_ids: tuple[str, ...]


def block_of(
    place: ImportedPlace, imports_of: Mapping[str, Sequence[ImportedPlace]], steps: StepBudget
) -> Generator[None, None, Block]:
    """Return the block of one import; yields where others may go on.

    Circles are cut, the importing folder is never part of its own block, and an import beyond the tenth
    level is not followed.

    Args:
        place: where the import leads.
        imports_of: by folder, the imports further on.
        steps: what all blocks of the request may cost together.

    Raises:
        ImportLimitError: there are too many.
    """
    walk = _Walk(place.importer_id, imports_of, steps)
    yield from walk.follow(place, 1)
    return Block(place.environment, place.path, place.folder_id, tuple(walk.found))


def shown_folders(blocks: Sequence[Block]) -> list[list[str]]:
    """Return the folders of each block without those of a later one, which shows all that they hold."""
    known: set[str] = set()
    shown: list[list[str]] = []
    for block in reversed(blocks):
        shown.append([folder_id for folder_id in block.folder_ids if folder_id not in known])
        known.update(block.folder_ids)
    return shown[::-1]


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

    def __init__(
        self, importer_id: str, imports_of: Mapping[str, Sequence[ImportedPlace]], steps: StepBudget
    ) -> None:
        self._imports_of = imports_of
        # The level at which a folder was entered: one that is met again nearer may lead further.
        self._entered = {importer_id: 0}
        self._steps = steps
        self.found: dict[str, None] = {}

    def follow(self, place: ImportedPlace, level: int) -> Generator[None, None, None]:
        # Each import that is looked at is a step, also one that leads to nothing new.
        if self._steps.take():
            yield
        folder_id = place.folder_id
        if folder_id is None or level > IMPORT_DEPTH_MAX:
            return
        if self._entered.get(folder_id, level + 1) <= level:
            return
        self._entered[folder_id] = level
        self.found.setdefault(folder_id)
        for deeper in self._imports_of.get(folder_id, ()):
            yield from self.follow(deeper, level + 1)
