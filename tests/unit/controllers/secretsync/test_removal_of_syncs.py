"""A sync whose secrets are being removed: how often that is looked at, and by which calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from keybearer.client import AsyncKeybearer, NotFound, SecretSync
from keybearer.client.syncs import SyncConnection
from keybearer.controllers.ownership import mark_of
from keybearer.controllers.workers import RunResult
from unit.controllers.fakes.source_session import FakeSession
from unit.controllers.fakes.targets import UID, Body
from unit.controllers.fakes.two_keys import TWO
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import World, new_world

_T = TypeVar("_T")
_STORE = "cloud-parameter-store"


@dataclass
class Syncs:
    """The syncs of a service that is told how far a removal is."""

    sync: SecretSync | None
    asked: list[str] = field(default_factory=list)

    async def get(self, sync_id: str, *, destination: str) -> SecretSync:
        assert (sync_id, destination) == ("s1", _STORE)
        self.asked.append("get")
        if self.sync is None:
            raise NotFound("there is none", status=404)
        return self.sync

    async def get_by_name(self, name: str, *, destination: str, project_id: str) -> SecretSync:
        del name, destination, project_id
        self.asked.append("get by name")
        raise NotFound("there is none", status=404)

    async def list(self, *, project_id: str) -> Sequence[SecretSync]:
        assert project_id == "shop"
        self.asked.append("list")
        return [] if self.sync is None else [self.sync]

    async def delete(self, sync_id: str, *, destination: str, remove_secrets: bool) -> None:
        assert (sync_id, destination, remove_secrets) == ("s1", _STORE, True)
        self.asked.append("delete")
        self.removal("pending")

    def removal(self, status: str) -> None:
        assert self.sync is not None
        self.sync = replace(self.sync, remove_status=status)

    def taken(self) -> Sequence[str]:
        """What was asked since this was asked last."""
        asked, self.asked = self.asked, []
        return asked


@dataclass
class _Client:
    secret_syncs: Syncs


class Session(FakeSession):
    """A session that reads sources as ever, and knows one sync."""

    def __init__(self) -> None:
        super().__init__(TWO)
        sync = SecretSync(
            id="s1",
            name="team-a-web",
            project_id="shop",
            connection_id="c1",
            destination=_STORE,
            connection=SyncConnection(id="c1"),
            description=f"web {mark_of('cluster-1', UID)}",
        )
        self.syncs = Syncs(sync)

    async def perform(self, act: Callable[[AsyncKeybearer], Awaitable[_T]], what: str) -> _T:
        del what
        return await act(cast("AsyncKeybearer", _Client(self.syncs)))


def put(world: World, *, ends: bool) -> None:
    """Have a SecretSync whose sync is in the service: it is being deleted, or names its destination no more."""
    metadata: Body = {"finalizers": ["keybearer.dev/cleanup"]}
    if ends:
        metadata["deletionTimestamp"] = world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    half = {
        "destination": _STORE,
        "connectionRef": {"id": "c1"},
        "destinationConfig": {"region": "eu-central-1", "path": "/app/"},
    }
    world.put_sync(metadata=metadata, destinationDeletionPolicy="RemoveSecrets", **(half if ends else {}))
    body = world.gateway.find("SecretSync", "web")
    assert body is not None
    body["status"] = {"sync": {"id": "s1", "destination": _STORE}}
    world.see(body)


async def pause(world: World) -> float | None:
    """Run once, deliver what the watches show, and return after how long the object is looked at again."""
    result = await world.reconcile()
    world.echo()
    return None if result.requeue_after is None else result.requeue_after.total_seconds()


@in_virtual_time
async def test_a_removal_is_looked_at_by_the_list_that_all_share_and_less_often_once_it_takes_long() -> None:
    for ends in (True, False):
        session = Session()
        async with new_world(session) as world:
            put(world, ends=ends)
            assert await pause(world) == 0.3
            assert session.syncs.taken() == ["get", "delete", "get"]

            session.syncs.removal("running")
            await asyncio.sleep(0.3)
            assert await pause(world) == 0.3
            assert session.syncs.taken() == ["list"]
            assert world.status["sync"]["removeStatus"] == "running"

            await asyncio.sleep(30)
            assert await pause(world) == 2
            assert session.syncs.taken() == ["list"]


@in_virtual_time
async def test_what_ended_is_asked_for_by_itself_for_a_list_may_be_older_or_of_another_project() -> None:
    session = Session()
    async with new_world(session) as world:
        put(world, ends=True)
        await world.reconcile()
        world.echo()
        session.syncs.taken()

        session.syncs.sync = None
        await asyncio.sleep(0.3)
        assert await world.reconcile() == RunResult()

        assert session.syncs.taken() == ["list", "get", "get by name"]
        body = world.gateway.find("SecretSync", "web")
        assert body is not None
        assert body["metadata"].get("finalizers", []) == []


@in_virtual_time
async def test_a_removal_that_failed_is_told_and_asked_for_anew_after_the_backoff() -> None:
    for ends in (True, False):
        session = Session()
        async with new_world(session) as world:
            put(world, ends=ends)
            await pause(world)
            session.syncs.taken()

            session.syncs.removal("failed")
            await asyncio.sleep(0.3)
            assert (await world.reconcile()).failed
            world.echo()

            assert session.syncs.taken() == ["list", "get"]
            assert world.condition() == ("False", "PushFailed")
            assert "secrets are removed from cloud-parameter-store: failed" in world.message()
            await asyncio.sleep(5)
            assert await pause(world) == 0.3
            assert session.syncs.taken() == ["get", "delete", "get"]
