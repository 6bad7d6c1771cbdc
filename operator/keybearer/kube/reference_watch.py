"""Follows objects that manifests refer to, by their metadata alone.

One watch of a resource for all references: a Secret that nobody refers to passes through as one line and
leaves nothing behind. Secrets of our own are left out by the API server
(`keybearer.dev/managed!=true`, which takes objects without the label too).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Sequence
from typing import Generic

from keybearer.kube.connection import Connection
from keybearer.kube.list_watch import ListWatch
from keybearer.kube.references import OwnerT, ReferenceBook
from keybearer.kube.resources import JsonObject, ObjectKey, Resource

__all__ = ["ReferenceWatch"]

_NOT_OURS = "keybearer.dev/managed!=true"


class ReferenceWatch(Generic[OwnerT]):
    """One metadata-only watch of one resource, and who wants to know about which of its objects.

    An owner first calls `follow`, then reads the objects, then tells with `seen` which versions it read; from
    then on it is called back whenever one of them appears, changes or goes. Without `seen` it may be called
    back once more than needed, never once less.

    Args:
        connection: borrowed.
        resource: what is watched.
        on_change: called with the owners that refer to what has changed; must only take note.
        rng: spreads reconnecting.
        namespaces: one watch in each of these; None watches all.
    """

    def __init__(
        self,
        connection: Connection,
        resource: Resource,
        *,
        on_change: Callable[[frozenset[OwnerT]], None],
        rng: random.Random,
        namespaces: Sequence[str] | None = None,
    ) -> None:
        self._on_change = on_change
        self._book: ReferenceBook[OwnerT] = ReferenceBook()
        self._wanted = asyncio.Event()
        self._watch = ListWatch(
            connection,
            resource,
            self,
            label_selector=_NOT_OURS,
            metadata_only=True,
            rng=rng,
            namespaces=namespaces,
        )

    @property
    def followed(self) -> int:
        """Return how many objects are referred to."""
        return len(self._book)

    def follow(self, owner: OwnerT, keys: Collection[ObjectKey]) -> None:
        """Make these the objects that the owner refers to; none forgets it. Call before reading them."""
        self._book.follow(owner, keys)
        if keys:
            self._wanted.set()

    def seen(self, owner: OwnerT, key: ObjectKey, resource_version: str | None) -> None:
        """Note what the owner has read (None: there is no such object), so that this alone calls nobody."""
        self._book.seen(owner, key, resource_version)

    async def run(self) -> None:
        """Watch until cancelled; nothing is asked of the API server before the first `follow`."""
        await self._wanted.wait()
        await self._watch.run()

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        """Return the references that some owner has seen exist."""
        return self._book.existing(namespace)

    def listed(self, key: ObjectKey, found: JsonObject) -> None:
        """Call back who knows another version."""
        self._tell(key, _version(found))

    def changed(self, key: ObjectKey, found: JsonObject) -> None:
        """Call back who knows another version."""
        self._tell(key, _version(found))

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:  # noqa: ARG002 - nothing of it counts
        """Call back who knew it."""
        self._tell(key, None)

    def _tell(self, key: ObjectKey, version: str | None) -> None:
        owners = self._book.changed(key, version)
        if owners:
            self._on_change(owners)


def _version(found: JsonObject) -> str:
    meta = found["metadata"]
    return str(meta["resourceVersion"]) if isinstance(meta, dict) else ""
