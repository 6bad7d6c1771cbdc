"""The names at a destination, as the service tells of each, and what a push would do to them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from keybearer.controllers.target.changes import KeyChanges
from keybearer.wire.key_schema import may_be_of

__all__ = ["NameState", "PlacedName", "PlacedNames", "PushEffect"]


class NameState(StrEnum):
    """Where a name stands; a word that isn't among these means one of ours that is in place."""

    SYNCED = "synced"
    PENDING = "pending"
    FAILED = "failed"
    REMOVING = "removing"
    FOREIGN = "foreign"


_UNSURE = (NameState.PENDING, NameState.FAILED)
"""Of these the service doesn't say whether an older value is in place."""


@dataclass(frozen=True, slots=True)
class PlacedName:
    """One name.

    Attributes:
        key: the secret of the folder that it is made from; None where it is wanted no more, or never was.
        state: a word of `NameState`.
        message: why it failed.
    """

    name: str
    key: str | None
    state: str
    message: str | None = None


@dataclass(frozen=True, slots=True)
class PushEffect:
    """What a push would do.

    Attributes:
        changes: names, as the destination has them.
        before: how many names of ours are in place.
        kept: names of ours that stay, or are to come.
    """

    changes: KeyChanges
    before: int
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PlacedNames:
    """What the service tells of a sync's destination."""

    names: tuple[PlacedName, ...] = ()

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Names of others, sorted."""
        return tuple(sorted(one.name for one in self.names if one.state == NameState.FOREIGN))

    @cached_property
    def failed(self) -> tuple[PlacedName, ...]:
        """Names that could not be written or removed, sorted."""
        return tuple(
            sorted((one for one in self._ours() if one.state == NameState.FAILED), key=lambda one: one.name)
        )

    def effect(self, wanted: Collection[str], pushed: int | None, *, removes: bool = True) -> PushEffect:
        """Return what a push would do.

        Args:
            wanted: keys of the folder.
            pushed: how many secrets the last push carried, if it succeeded; else None.
            removes: whether the sync removes anything at all.
        """
        # Some destinations take upper and lower case for the same, and the service tells the key either way.
        folded = {key.casefold() for key in wanted}
        kept = [one for one in self._ours() if _is_wanted(one, folded)]
        gone = tuple(sorted(one.name for one in self._ours() if self._goes(one, folded)))
        unsure = tuple(sorted(one.name for one in kept if one.state in _UNSURE))
        sure = len(kept) - len(unsure) + len(gone)
        # After a push that succeeded exactly so many are in place; nothing is known after one that failed.
        older = min(max((pushed or 0) - sure, 0), len(unsure))
        there = {one.key.casefold() for one in kept if one.key is not None}
        new = [key for key in wanted if key.casefold() not in there]
        changes = KeyChanges(
            add=tuple(sorted((*new, *(() if older else unsure)))),
            change=unsure if older else (),
            remove=gone if removes else (),
        )
        return PushEffect(changes, sure + older, frozenset(one.name for one in kept))

    def _goes(self, one: PlacedName, folded: Collection[str]) -> bool:
        """Tell whether a push removes it: the former name of a secret stays while its present one is refused."""
        if _is_wanted(one, folded):
            return False
        return one.key is not None or not may_be_of(one.name, self._refused_keys)

    @cached_property
    def _refused_keys(self) -> frozenset[str]:
        return frozenset(one.key for one in self.failed if one.key is not None)

    def _ours(self) -> Iterator[PlacedName]:
        return _not_foreign(self.names)


def _not_foreign(names: Iterable[PlacedName]) -> Iterator[PlacedName]:
    return (one for one in names if one.state != NameState.FOREIGN)


def _is_wanted(one: PlacedName, folded: Collection[str]) -> bool:
    return one.state != NameState.REMOVING and one.key is not None and one.key.casefold() in folded
