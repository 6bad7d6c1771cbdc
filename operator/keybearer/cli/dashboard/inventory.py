"""What the dashboard has seen and may show: bounded, and let go of as soon as the user may not list it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from keybearer.kube.resources import JsonObject, ObjectKey, Resource

__all__ = ["Changes", "Shelf", "all_notes"]

_MOST = 50_000
"""Objects of one kind that are kept: five times what is to stay usable."""

_COUNTED = 1_000_000
"""Objects beyond those that are counted."""

T = TypeVar("T")


class Shelf(Generic[T]):
    """What is kept of the objects of one kind; a `Receiver` of `ListWatch`.

    Args:
        resource: the kind.
        keep: makes what is kept of an object.
        tell: called after each change.
        most: objects that are kept; others are counted alone.
    """

    def __init__(
        self,
        resource: Resource,
        keep: Callable[[JsonObject], T],
        tell: Callable[[], None],
        *,
        most: int = _MOST,
    ) -> None:
        self.resource = resource
        self._keep = keep
        self._tell = tell
        self._most = most
        self._kept: dict[ObjectKey, T] = {}
        self._left_out: dict[str, set[int]] = {}
        self._refused: set[str | None] = set()
        self._troubles: dict[str | None, Callable[[], str | None]] = {}

    @property
    def kept(self) -> Mapping[ObjectKey, T]:
        """What is known of each object."""
        return self._kept

    @property
    def left_out(self) -> int:
        """How many objects there are beyond those that are kept."""
        return sum(map(len, self._left_out.values()))

    @property
    def notes(self) -> tuple[str, ...]:
        """What can't be shown of the kind, and why; names no object."""
        return tuple(self._notes())

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        """Return what is kept of the namespace; None: of all."""
        if namespace is None:
            self._left_out.clear()
        else:
            self._left_out.pop(namespace, None)
        return {key for key in self._kept if namespace in (None, key.namespace)}

    def listed(self, key: ObjectKey, found: JsonObject) -> None:
        """Keep what a listing found."""
        self.changed(key, found)

    def changed(self, key: ObjectKey, found: JsonObject) -> None:
        """Keep what was made or changed."""
        if key not in self._kept and len(self._kept) >= self._most:
            if self.left_out < _COUNTED:
                self._left_out.setdefault(key.namespace, set()).add(hash(key))
        else:
            self._count_no_more(key)
            self._kept[key] = self._keep(found)
        self._tell()

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:  # noqa: ARG002 - as receivers are told
        """Forget what was deleted."""
        self._kept.pop(key, None)
        self._count_no_more(key)
        self._tell()

    def refuse(self, namespace: str | None) -> None:
        """Forget what the user may not list: a namespace, or all (None) but the namespaces that are visible."""
        if namespace in self._refused:
            return
        self._refused.add(namespace)
        seen = self._troubles.keys() - self._refused
        for key in self.existing(namespace):
            if None not in seen and key.namespace not in seen:
                del self._kept[key]
        self._tell()

    def admit(self, namespace: str | None) -> None:
        """Note that the user may list the namespace (None: all)."""
        self._refused.discard(namespace)
        self._tell()

    def follow(self, namespace: str | None, trouble: Callable[[], str | None]) -> None:
        """Have `trouble` asked what keeps the objects of a namespace (None: of all) from being seen."""
        self._troubles[namespace] = trouble

    def _count_no_more(self, key: ObjectKey) -> None:
        self._left_out.get(key.namespace, set()).discard(hash(key))

    def _notes(self) -> Iterator[str]:
        what = self.resource.plural
        for namespace, trouble in self._troubles.items():
            where = "all namespaces" if namespace is None else f"namespace {namespace}"
            if namespace in self._refused:
                yield f"{what} of {where} are not visible: you may not list and watch them."
            elif (why := trouble()) is not None:
                yield f"{what} of {where} can't be followed now: {why}"
        if self.left_out:
            more = f"{self.left_out} more {what} are not shown."
            yield f"{more} Choose a namespace with --namespace."


class Changes:
    """Counts changes and wakes whoever waits for one."""

    def __init__(self) -> None:
        self.revision = 0
        self._changed = asyncio.Event()

    def tell(self) -> None:
        """Note a change."""
        self.revision += 1
        self._changed.set()

    async def after(self, revision: int) -> int:
        """Return the revision as soon as it is another one than this."""
        while self.revision == revision:
            self._changed.clear()
            await self._changed.wait()
        return self.revision


def all_notes(*shelves: Shelf[T]) -> tuple[str, ...]:
    """Return what can't be shown of any of these kinds, each note once."""
    return tuple(dict.fromkeys(note for shelf in shelves for note in shelf.notes))
