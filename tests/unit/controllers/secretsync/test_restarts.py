"""Workloads that follow the target of a SecretSync: those that don't exist, and restarts that wait or were missed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import ForbiddenError
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.source_session import OUTAGE, FakeSession, listing
from unit.controllers.fakes.targets import Body
from unit.controllers.fakes.two_keys import STATUS
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import World, new_world

_OLD = "2026-02-01T12:00:00Z"
_LATER = "2027-01-01T12:00:00Z"
_SHOP = [{"kind": "Deployment", "name": "shop"}]
_SLIP = [{"kind": "Deployment", "name": "shoop"}]
_PATCH = "merge_patch Deployment team-a/{}"


def _deploy(world: World, name: str, created: str = _OLD) -> None:
    metadata: Body = {"namespace": "team-a", "name": name, "creationTimestamp": created}
    world.gateway.put({"kind": "Deployment", "metadata": metadata, "spec": {}})


def _restarted_for(world: World, name: str) -> str | None:
    body = world.gateway.find("Deployment", name)
    assert body is not None
    template = body["spec"].get("template")
    return None if template is None else template["metadata"]["annotations"]["keybearer.dev/restarted-for"]


def _workload(world: World, name: str) -> Body:
    return next(one for one in world.status["workloads"] if one["name"] == name)


def _restarts(world: World) -> int:
    return sum(one.startswith("merge_patch Deployment") for one in world.written())


def _looks(gateway: FakeGateway) -> list[str]:
    """Return the requests for workloads from now on."""
    sent: list[str] = []
    gateway.before = lambda verb, kind: sent.append(verb) if kind == "Deployment" else None
    return sent


@asynccontextmanager
async def _syncing() -> AsyncIterator[tuple[World, FakeSession]]:
    """Give a world, and the session with the source that it reads."""
    session = FakeSession(listing("cnry-0"), seconds=0)
    async with new_world(session) as world:
        yield world, session


async def _change(world: World, session: FakeSession, value: str) -> RunResult:
    """Let the source change, and 15 s pass."""
    session.then(listing(value))
    await asyncio.sleep(15)
    return await world.reconcile()


class TestMissing:
    @in_virtual_time
    async def test_it_is_named_from_the_first_sync_on_until_it_appears(self) -> None:
        async with _syncing() as (world, _):
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SLIP})
            result = await world.reconcile()

            assert world.condition() == ("True", "Synced")
            assert world.message().endswith(
                "; Deployment shoop of rolloutRestart doesn't exist: correct the name, or create it"
            )
            assert _workload(world, "shoop")["missingSince"] == "2026-03-01T12:00:00Z"
            assert "dueSince" not in _workload(world, "shoop")
            assert result.requeue_after == timedelta(seconds=30)
            assert not result.failed
            assert [one.reason for one in world.recorder.told] == ["WorkloadNotFound"]

            _deploy(world, "shoop", _LATER)
            await asyncio.sleep(31)
            await world.reconcile()
            assert world.status["workloads"] == [{"kind": "Deployment", "name": "shoop"}]
            assert "doesn't exist" not in world.message()
            assert _restarted_for(world, "shoop") is None

    @in_virtual_time
    async def test_one_that_appears_after_the_change_that_it_missed_is_not_restarted(self) -> None:
        async with _syncing() as (world, session):
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            await world.reconcile()
            await _change(world, session, "cnry-1")
            assert "dueSince" in _workload(world, "shop")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            _deploy(world, "shop")
            world.written()
            await world.reconcile()

            assert _restarts(world) == 0
            assert world.status["workloads"] == [{"kind": "Deployment", "name": "shop"}]

    @in_virtual_time
    async def test_it_is_looked_for_less_and_less_often_and_told_once(self) -> None:
        async with _syncing() as (world, _):
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SLIP})
            result = await world.reconcile()
            world.written()
            waits = []
            for _ in range(8):
                assert result.requeue_after is not None
                await asyncio.sleep(result.requeue_after.total_seconds())
                result = await world.reconcile()
                waits.append(result.requeue_after)

            assert waits == [timedelta(seconds=one) for one in (30, 60, 120, 240, 480, 600, 600, 600)]
            assert world.written() == []
            assert [one.reason for one in world.recorder.told] == ["WorkloadNotFound"]

    @in_virtual_time
    async def test_it_is_looked_for_though_the_first_run_failed(self) -> None:
        async with _syncing() as (world, session):
            session.then(OUTAGE)
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SLIP})
            await world.reconcile()
            assert world.condition() == ("False", "ServiceUnavailable")
            session.then(listing("cnry-0"))
            await asyncio.sleep(300)
            world.echo()
            await world.reconcile()

            assert _workload(world, "shoop")["missingSince"]

    @in_virtual_time
    async def test_one_that_the_spec_names_no_more_is_forgotten(self) -> None:
        async with _syncing() as (world, _):
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SLIP})
            await world.reconcile()
            world.put_sync(refreshInterval="10s")
            await world.reconcile()

            assert "workloads" not in world.status
            assert "doesn't exist" not in world.message()


class TestMissedRestart:
    @in_virtual_time
    async def test_it_follows_once_when_the_name_is_corrected(self) -> None:
        async with _syncing() as (world, session):
            _deploy(world, "shop")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SLIP})
            await world.reconcile()
            await _change(world, session, "cnry-2")
            assert _restarted_for(world, "shop") is None
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            world.written()
            await world.reconcile()

            assert _restarts(world) == 1
            assert _restarted_for(world, "shop") == f"web:{world.status['target']['fingerprint']}"
            assert world.status["workloads"] == [
                {"kind": "Deployment", "name": "shop", "lastRestartTime": "2026-03-01T12:00:15Z"}
            ]
            await asyncio.sleep(61)
            await world.reconcile()
            assert _restarts(world) == 0

    @in_virtual_time
    async def test_nor_is_one_restarted_that_was_before_or_that_is_newer_than_the_change(self) -> None:
        async with _syncing() as (world, session):
            for name, created in (("api", _OLD), ("shop", _LATER)):
                _deploy(world, name, created)
            api = {"kind": "Deployment", "name": "api"}
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": [api, *_SLIP]})
            await world.reconcile()
            await _change(world, session, "cnry-3")
            # Another target's restart has changed the annotation meanwhile: with this one's, it would start anew.
            body = world.gateway.find("Deployment", "api")
            assert body is not None
            body["spec"]["template"]["metadata"]["annotations"]["keybearer.dev/restarted-for"] = "other"
            await asyncio.sleep(61)
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": [api, *_SHOP]})
            world.written()
            await world.reconcile()

            assert _restarts(world) == 0
            assert _restarted_for(world, "api") == "other"

    @in_virtual_time
    async def test_a_workload_that_is_named_in_addition_has_missed_nothing(self) -> None:
        async with _syncing() as (world, session):
            for name in ("api", "shop"):
                _deploy(world, name)
            api = {"kind": "Deployment", "name": "api"}
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": [api]})
            await world.reconcile()
            await _change(world, session, "cnry-4")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": [api, *_SHOP]})
            world.written()
            await world.reconcile()

            assert _restarts(world) == 0

    @in_virtual_time
    async def test_the_status_of_an_earlier_version_owes_nothing_and_is_not_written(self) -> None:
        async with _syncing() as (world, _):
            _deploy(world, "shop")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            await world.reconcile()
            body = world.gateway.find("SecretSync", "web")
            assert body is not None
            del body["status"]["workloads"]
            world.echo()
            world.written()
            sent = _looks(world.gateway)
            await world.reconcile()

            assert world.written() == []
            assert sent == []


class TestDelay:
    @in_virtual_time
    async def test_a_second_change_within_a_minute_waits_and_the_object_stays_ready(self) -> None:
        async with _syncing() as (world, session):
            _deploy(world, "shop")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            await world.reconcile()
            await _change(world, session, "cnry-5")
            first = _restarted_for(world, "shop")
            await _change(world, session, "cnry-6")
            data = world.data()

            assert world.condition() == ("True", "Synced")
            assert world.message().endswith(
                "; Deployment shop is restarted at 2026-03-01T12:01:15Z, a minute after its last restart"
            )
            assert "last good" not in world.message()
            assert "diagnosis" not in world.status
            assert _workload(world, "shop")["dueSince"] == "2026-03-01T12:00:30Z"
            assert _restarted_for(world, "shop") == first
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            again = await world.reconcile()
            assert again.requeue_after == timedelta(seconds=45)

            await asyncio.sleep(45)
            result = await world.reconcile()
            assert result.requeue_after is None
            assert world.data() == data
            assert _restarted_for(world, "shop") == f"web:{world.status['target']['fingerprint']}" != first
            assert world.status["workloads"] == [
                {"kind": "Deployment", "name": "shop", "lastRestartTime": "2026-03-01T12:01:15Z"}
            ]
            assert "is restarted at" not in world.message()

    @in_virtual_time
    async def test_one_that_waits_is_told_without_a_write_for_each_look(self) -> None:
        async with _syncing() as (world, session):
            _deploy(world, "shop")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            await world.reconcile()
            await _change(world, session, "cnry-7")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP, "labels": {"a": "b"}})
            await world.reconcile()
            world.written()
            sent = _looks(world.gateway)
            await asyncio.sleep(1)
            await world.reconcile()

            assert world.written() == []
            assert sent == []

    @in_virtual_time
    async def test_a_workload_that_can_not_be_patched_is_a_failure_and_the_target_is_called_written(
        self,
    ) -> None:
        async with _syncing() as (world, session):
            _deploy(world, "shop")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            await world.reconcile()
            world.gateway.fail("merge_patch", "Deployment", ForbiddenError("no right to patch"))
            result = await _change(world, session, "cnry-other")

            assert result.failed
            assert world.condition() == ("False", "WorkloadNotRestarted")
            assert world.message() == (
                "the target is written, but not every workload was restarted: Deployment shop: no right to patch"
            )
            assert world.status["diagnosis"]["turn"] == "User"
            world.written()
            await world.reconcile()
            assert world.written() == [_PATCH.format("shop"), STATUS]
            assert world.condition() == ("True", "Synced")


class TestAtRest:
    @in_virtual_time
    async def test_nothing_is_sent_for_workloads(self) -> None:
        async with _syncing() as (world, session):
            _deploy(world, "shop")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            await world.reconcile()
            await _change(world, session, "cnry-8")
            world.put_sync(refreshInterval="10s", target={"rolloutRestart": _SHOP})
            await world.reconcile()
            sent, written = _looks(world.gateway), world.written()
            for _ in range(3):
                result = await world.reconcile()
                assert result.requeue_after is None
            assert written
            assert world.written() == []
            assert sent == []
