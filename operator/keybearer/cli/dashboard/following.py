"""Follows what the user may list: in all namespaces, or else in the one of the kubeconfig's context."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from keybearer.cli.dashboard.inventory import Shelf
from keybearer.kube.connection import Connection
from keybearer.kube.list_watch import ListWatch

__all__ = ["follow"]

_ABSENT_SECONDS = 15.0
"""How often a kind is looked for that the cluster doesn't know."""

T = TypeVar("T")


async def follow(connection: Connection, shelf: Shelf[T], namespaces: Sequence[str], home: str) -> None:
    """Fill the shelf until cancelled.

    Args:
        connection: borrowed; its rights decide what is seen.
        shelf: of one kind.
        namespaces: to look in; none of them means all.
        home: where to look if the user may not look into all.
    """
    async with asyncio.TaskGroup() as group:
        if namespaces:
            for namespace in dict.fromkeys(namespaces):
                group.create_task(_follow(connection, shelf, namespace, asyncio.Event()))
            return
        refused = asyncio.Event()
        group.create_task(_follow(connection, shelf, None, refused))
        await refused.wait()
        group.create_task(_follow(connection, shelf, home, asyncio.Event()))


async def _follow(
    connection: Connection, shelf: Shelf[T], namespace: str | None, refused: asyncio.Event
) -> None:
    def forget() -> None:
        shelf.refuse(namespace)
        refused.set()

    while True:
        await _watch(connection, shelf, namespace, forget)
        # It ends only where the cluster doesn't know the kind.
        shelf.follow(namespace, lambda: "the cluster doesn't know the kind.")
        for key in shelf.existing(namespace):
            shelf.gone(key, None)
        await asyncio.sleep(_ABSENT_SECONDS)


async def _watch(
    connection: Connection, shelf: Shelf[T], namespace: str | None, on_refused: Callable[[], None]
) -> None:
    watch = ListWatch(
        connection,
        shelf.resource,
        shelf,
        label_selector="",
        metadata_only=False,
        rng=random.Random(),  # noqa: S311 - spreads reconnecting
        namespaces=None if namespace is None else (namespace,),
        optional=True,
    )
    watch.on_followed = lambda: shelf.admit(namespace)
    watch.on_refused = on_refused
    shelf.follow(namespace, lambda: watch.trouble)
    await watch.run()
