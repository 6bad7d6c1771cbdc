"""Several processes on one database: they share the jobs, and none is lost with one of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.domain.syncs.jobs import SyncQueue
from keybearer.domain.syncs.look_times import LookTimes
from keybearer.domain.syncs.outcomes import Failure
from keybearer.store.database import Database
from keybearer.store.engines import database_url
from keybearer.store.records import Project
from keybearer.store.sync_turns import Turns
from support.async_waiting import until
from support.scripted_remote import ScriptedRemote
from support.sync_scene import FAST, SyncScene, sync_scene
from support.unlocking import unlock_with
from tools.local.postgres import PostgresServer

pytestmark = pytest.mark.every_database


@dataclass
class ShiftedClock(SystemClock):
    """Ahead of the others, or behind."""

    by: timedelta

    def now(self) -> datetime:
        return super().now() + self.by


@pytest.fixture
async def scene(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[SyncScene]:
    """Yield a scene whose engine doesn't run yet."""
    name = postgres.create()
    async with sync_scene(tmp_path, database_url(postgres.url(name))) as made:
        yield made
    postgres.drop(name)


async def test_two_processes_share_the_runs_and_keep_to_the_bounds_of_all(
    scene: SyncScene, project: Project
) -> None:
    remotes = [scene.remotes[f"r{number}"] for number in range(20)]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.another_process() as other, scene.running(), scene.running(other):
        made = [await scene.sync(project, f"r{number}") for number in range(20)]
        for value in ("cnry-3", "cnry-4", "cnry-5"):
            await scene.put(project, A=value)
        for remote in remotes:
            await scene.holds(remote, A="cnry-5", B="cnry-2")
        await scene.succeeded(*made)
    assert [remote.most_busy for remote in remotes] == [1] * 20
    assert scene.remotes.most_busy <= 5


async def test_a_process_that_says_nothing_loses_its_jobs_to_another(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = replace(FAST, lease=timedelta(seconds=1))
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    sync_id = await scene.sync(project)
    gone = SyncQueue(scene.database, scene.clock, scene.terms)
    (begun,) = await gone.claim(1)
    async with scene.running():
        await scene.succeeded(sync_id)
        assert remote.content == {"A": "cnry-1"}
        # Late, it changes nothing any more.
        await gone.fail(begun, Failure("too late", is_retryable=False))
        await scene.succeeded(sync_id)


async def test_what_a_process_had_is_taken_over_when_its_lease_ends_not_at_the_next_look(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = replace(FAST, lease=timedelta(hours=1))
    await scene.put(project, A="cnry-1")
    sync_id = await scene.sync(project)
    gone = SyncQueue(scene.database, scene.clock, replace(FAST, lease=timedelta(milliseconds=700)))
    await gone.claim(1)
    async with scene.running():
        await scene.succeeded(sync_id)
    assert scene.remotes["one"].content == {"A": "cnry-1"}


async def test_a_process_doesnt_begin_again_what_it_runs_though_it_couldnt_say_so_in_time(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    remote.hold.clear()
    async with scene.running():
        sync_id = await scene.sync(project)
        await until(remote_is_busy(remote), awaited="a run")
        before = await running_jobs(scene)
        await let_leases_end(scene)
        for place in ("two", "three"):
            # Whatever is queued has the engine look for jobs whose process is gone.
            await scene.succeeded(await scene.sync(project, place, connection=place))
        assert await running_jobs(scene) == before
        remote.hold.set()
        await scene.succeeded(sync_id)
    assert remote.most_busy == 1


async def test_who_begins_a_job_again_that_was_taken_from_it_doesnt_hold_it_twice(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    await scene.sync(project)
    here, there = (SyncQueue(scene.database, scene.clock, scene.terms) for _ in range(2))
    (former,) = await here.claim(1)
    await let_leases_end(scene)
    assert await there.take_up(is_starting=False) == 1
    (latter,) = await here.claim(1)
    async with scene.database.writing() as unit:
        assert not await unit.sync_jobs.is_held(former.job)
        assert await unit.sync_jobs.is_held(latter.job)
    assert await here.prolong() == {latter.job.id}


@pytest.mark.parametrize("minutes", [-7, 7])
async def test_processes_whose_clocks_are_minutes_apart_leave_each_other_their_runs(
    scene: SyncScene, project: Project, minutes: int
) -> None:
    await scene.put(project, A="cnry-1")
    await scene.sync(project)
    shifted = ShiftedClock(timedelta(minutes=minutes))
    assert scene.url is not None
    elsewhere = Database(scene.url, shifted)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(elsewhere.close)
        await unlock_with(elsewhere, scene.database.keyring)
        here, there = SyncQueue(scene.database, scene.clock, FAST), SyncQueue(elsewhere, shifted, FAST)
        (begun,) = await here.claim(1)
        assert await there.take_up(is_starting=False) == 0
        assert await here.prolong() == {begun.job.id}
        assert await there.take_up(is_starting=False) == 0
        await here.put_back(begun)

        # What the other runs is left alone likewise, and taken over when its lease ends, not minutes later.
        async with elsewhere.writing() as unit:
            (claimed,) = await unit.sync_claims.claim(
                "there",
                now=scene.clock.now(),
                lease=FAST.lease,
                limit=1,
                per_connection=1,
                turns=Turns(1),
            )
        assert claimed.id != begun.job.id
        assert await here.take_up(is_starting=False) == 0
        async with elsewhere.writing() as unit:
            assert await unit.sync_claims.prolong("there", timedelta(milliseconds=300)) == {claimed.id}

        async def taken_up() -> bool:
            return await here.take_up(is_starting=False) == 1

        await until(taken_up, awaited="the end of the lease")


async def test_of_processes_that_find_a_look_due_at_once_one_queues_it(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    async with scene.running():
        made = [await scene.sync(project, f"r{number}") for number in range(10)]
        await scene.succeeded(*made)
    async with scene.another_process() as other:
        here, there = (
            LookTimes(database, scene.clock, timedelta(milliseconds=1))
            for database in (scene.database, other)
        )
        queued = await asyncio.gather(here.queue_due(), there.queue_due(), here.queue_due())
        assert sum(queued) == 10
        async with scene.database.reading() as unit:
            assert sorted(job.sync_id for job in await unit.sync_jobs.of_syncs(made)) == sorted(made)


async def let_leases_end(scene: SyncScene) -> None:
    """Have all leases end, as while the database is away for longer than that."""
    async with scene.database.writing() as unit:
        for job in await unit.sync_claims.running():
            assert job.claimed_by is not None
            await unit.sync_claims.prolong(job.claimed_by, timedelta(minutes=-1))


async def running_jobs(scene: SyncScene) -> set[str]:
    async with scene.database.reading() as unit:
        return {job.id for job in await unit.sync_claims.running()}


def remote_is_busy(remote: ScriptedRemote) -> Callable[[], Awaitable[bool]]:
    async def probe() -> bool:
        return remote.busy == 1

    return probe
