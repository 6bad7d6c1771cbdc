from __future__ import annotations

import asyncio
import base64
import gc
import random
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest

from keybearer.kube.connection import Connection
from keybearer.kube.gateway import Gateway
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import CONFIG_MAPS, NAMESPACES, SECRETS, JsonObject, ObjectKey, Resource
from tools.controlplane.controlplane import ControlPlane
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.integration


class Calls:
    """Whom the watch called back."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[frozenset[str]] = asyncio.Queue()

    def __call__(self, owners: frozenset[str]) -> None:
        self.queue.put_nowait(owners)

    async def next(self) -> frozenset[str]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.queue.get()


class CountingWatch(ReferenceWatch[str]):
    """Knows how often it has listed: what is told in between came by the watch, as soon as it happened."""

    listings = 0

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        self.listings += 1
        return super().existing(namespace)


@asynccontextmanager
async def watching(
    connection: Connection, *, resource: Resource = SECRETS, namespaces: list[str] | None = None
) -> AsyncIterator[tuple[CountingWatch, Calls]]:
    calls = Calls()
    watch = CountingWatch(
        connection,
        resource,
        on_change=calls,
        rng=random.Random(1),  # noqa: S311 - spreads reconnecting
        namespaces=namespaces,
    )
    task = asyncio.create_task(watch.run())
    yield watch, calls
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def password(value: str) -> JsonObject:
    return {"data": {"password": base64.b64encode(value.encode()).decode()}}


def identity(stored: JsonObject) -> tuple[str, str]:
    metadata = stored["metadata"]
    assert isinstance(metadata, dict)
    return str(metadata["uid"]), str(metadata["resourceVersion"])


@pytest.mark.parametrize("scope", ["cluster", "namespace"])
async def test_an_edit_a_removal_and_a_return_are_told_as_they_happen(
    connection: Connection, gateway: Gateway, namespace: str, scope: str
) -> None:
    key = ObjectKey(namespace, "identity")
    created = await gateway.create(SECRETS, key, password("cnry-one"))
    async with watching(connection, namespaces=[namespace] if scope == "namespace" else None) as (
        watch,
        calls,
    ):
        watch.follow("sync", [key])
        assert await calls.next() == {"sync"}, "nothing was said to be seen yet"
        listings = watch.listings

        await gateway.apply(SECRETS, key, password("cnry-two"))
        assert await calls.next() == {"sync"}
        await gateway.delete(SECRETS, key, uid=identity(created)[0])
        assert await calls.next() == {"sync"}
        await gateway.create(SECRETS, key, password("cnry-three"))
        assert await calls.next() == {"sync"}
        assert watch.listings == listings, "not by looking again"
    assert calls.queue.empty()


async def test_nobody_is_called_for_what_was_read_or_is_foreign_or_ours(
    connection: Connection, gateway: Gateway, namespace: str
) -> None:
    key, ours = ObjectKey(namespace, "identity"), ObjectKey(namespace, "ours")
    created = await gateway.create(SECRETS, key, password("cnry-one"))
    managed: JsonObject = {"metadata": {"labels": {"keybearer.dev/managed": "true"}}}
    await gateway.create(SECRETS, ours, managed)
    async with watching(connection) as (watch, calls):
        watch.follow("sync", [key, ours])
        watch.seen("sync", key, identity(created)[1])
        await gateway.create(SECRETS, ObjectKey(namespace, "foreign"), password("cnry-foreign"))
        await gateway.apply(SECRETS, ours, {**managed, **password("cnry-ours")})
        await gateway.apply(SECRETS, key, password("cnry-two"))
        assert await calls.next() == {"sync"}
    assert calls.queue.empty()


async def test_config_maps_are_followed_too(connection: Connection, gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "template")
    async with watching(connection, resource=CONFIG_MAPS) as (watch, calls):
        watch.follow("sync", [key])
        await gateway.create(CONFIG_MAPS, key, {"data": {"a": "1"}})
        assert await calls.next() == {"sync"}


@pytest.mark.deep
async def test_it_survives_a_restart_of_the_api_server_and_tells_what_happened_since() -> None:
    """On a control plane of its own, which may be stopped."""
    cluster = ControlPlane()
    await asyncio.to_thread(cluster.start)
    try:
        async with await Connection.open(kubeconfig=str(cluster.admin_kubeconfig)) as connection:
            await _restart_under_a_watch(cluster, connection)
    finally:
        await asyncio.to_thread(cluster.stop)


async def _restart_under_a_watch(cluster: ControlPlane, connection: Connection) -> None:
    gateway = Gateway(connection, may_write=lambda: None)
    await gateway.create(NAMESPACES, ObjectKey("", "team-a"), {})
    kept, gone = ObjectKey("team-a", "kept"), ObjectKey("team-a", "gone")
    async with watching(connection) as (watch, calls):
        for key in (kept, gone):
            created = await gateway.create(SECRETS, key, password("cnry-one"))
            watch.follow(key.name, [key])
            watch.seen(key.name, key, identity(created)[1])
        await gateway.apply(SECRETS, kept, password("cnry-two"))
        assert await calls.next() == {"kept"}

        await asyncio.to_thread(cluster.kill_api_server)
        await asyncio.to_thread(cluster.start_api_server)
        stored = await gateway.get(SECRETS, gone)
        assert stored is not None
        await gateway.delete(SECRETS, gone, uid=identity(stored)[0])
        assert await calls.next() == {"gone"}
        await gateway.apply(SECRETS, kept, password("cnry-three"))
        assert await calls.next() == {"kept"}
    assert calls.queue.empty()


@pytest.fixture
def _traced_memory() -> Iterator[None]:
    """Python notes what it holds."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.deep
@pytest.mark.usefixtures("_traced_memory")
async def test_foreign_secrets_cost_no_memory(
    connection: Connection, gateway: Gateway, namespace: str
) -> None:
    """2,000 Secrets of 10 KiB are 20 MiB; a watch that kept even their metadata would keep 4 MiB.

    By what Python holds: what this process got from the system grows by many other things.
    """
    key = ObjectKey(namespace, "identity")
    value = password("cnry-" + "x" * 10_240)

    async def make(numbers: range) -> None:
        for number in numbers:
            await gateway.create(SECRETS, ObjectKey(namespace, f"foreign-{number}"), value)

    async def fill(start: int, end: int) -> None:
        # As many at once each time: connections have buffers.
        await asyncio.gather(*(make(range(start + turn, end, 10)) for turn in range(10)))

    async with watching(connection) as (watch, calls):
        watch.follow("sync", [key])
        await fill(0, 200)
        before = held()
        await fill(200, 2200)
        await gateway.create(SECRETS, key, password("cnry-one"))
        assert await calls.next() == {"sync"}
        streamed = held()
        assert watch.followed == 1
    async with watching(connection) as (watch, calls):
        watch.follow("sync", [key])
        assert await calls.next() == {"sync"}
        listed = held()

    assert max(streamed - before, listed - before) < 1.0


def held() -> float:
    """Return what Python holds now that nobody could throw away, in MiB."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 2**20
