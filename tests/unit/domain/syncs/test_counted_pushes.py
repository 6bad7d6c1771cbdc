"""What pushes did to keys is counted once, and what waits is told the same by every process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.base.backoff import Backoff
from keybearer.destinations.protocol import Traits
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.domain.syncs.engine import SyncEngine
from keybearer.domain.syncs.jobs import JobTerms, SyncQueue
from keybearer.domain.syncs.outcomes import Failure
from keybearer.domain.syncs.run import Done
from keybearer.domain.syncs.tallies import KeyCounts, Unpushed
from keybearer.store.engines import database_url
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind
from support.async_waiting import until
from support.databases import OwnDatabase
from support.scripted_remote import SCRIPTED
from support.sync_scene import FAST, SyncScene, sync_scene
from support.virtual_time import VirtualTime
from tools.local.postgres import PostgresServer

pytestmark = pytest.mark.every_database

HOUR = timedelta(hours=1)
NONE = timedelta(0)
DONE = Done(source_digest=b"", listed_at=None)


@pytest.fixture
async def patient(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[SyncScene]:
    """Yield a scene in which a failed push waits for an hour."""
    terms = JobTerms(backoff=Backoff(floor=HOUR, ceiling=HOUR), start_delay=timedelta(0))
    async with sync_scene(tmp_path, own_database.engine_url(tmp_path), terms=terms) as made:
        yield made


def counted(engine: SyncEngine) -> KeyCounts:
    return engine.tallies.of(SCRIPTED)


async def unpushed(engine: SyncEngine) -> Unpushed:
    (told,) = (await engine.waiting()).unpushed
    return told


async def waiting(scene: SyncScene, sync_id: str) -> None:
    """Return when a push of the sync has failed or was put off, and waits."""

    async def probe() -> bool:
        # A job is named by its sync once it was begun: read first, lest it begin between the two.
        if (await scene.progress(sync_id)).job_id is None:
            return False
        async with scene.database.reading() as unit:
            jobs = await unit.sync_jobs.of_syncs([sync_id])
        return [job.is_running for job in jobs] == [False]

    await until(probe, awaited="a push that waits for its next attempt")


async def test_each_key_is_counted_for_what_a_push_did_to_it(scene: SyncScene, project: Project) -> None:
    remote = scene.remotes["one"]
    remote.refuses["BAD"] = "no such name"
    await scene.put(project, A="cnry-1", B="cnry-2", BAD="cnry-3")
    async with scene.running() as engine:
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.failed(sync_id)
        assert counted(engine) == KeyCounts(written=2, failed=1)
        del remote.refuses["BAD"]
        await scene.put(project, A="cnry-4")
        await scene.delete(project, "B")
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert counted(engine) == KeyCounts(written=4, failed=1, removed=1)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert counted(engine) == KeyCounts(written=4, skipped=2, failed=1, removed=1)
        await scene.ask(sync_id, JobKind.REMOVE)
        await scene.succeeded(sync_id, kind=JobKind.REMOVE)
        assert counted(engine) == KeyCounts(written=4, skipped=2, failed=1, removed=3)


async def test_what_is_removed_at_a_former_place_is_counted(scene: SyncScene, project: Project) -> None:
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running() as engine:
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        await scene.change(sync_id, config={"place": "two"})
        await scene.holds(scene.remotes["one"])
        await scene.succeeded(sync_id)
        assert counted(engine) == KeyCounts(written=4, removed=2)


async def test_a_push_that_is_put_off_tells_how_many_keys_are_left(patient: SyncScene) -> None:
    project = await patient.domain.project("home")
    remote = patient.remotes["one"]
    remote.traits = Traits(has_readable_values=False)
    names = [f"KEY_{number:02}" for number in range(30)]
    remote.on_put[names[10]] = [RemoteThrottledError("limited", wait=HOUR)]
    await patient.put(project, **dict.fromkeys(names, "cnry-1"))
    async with patient.running() as engine:
        sync_id = await patient.sync(project)
        await waiting(patient, sync_id)
        told = await unpushed(engine)
        assert (told.syncs, told.keys) == (1, 20)
        assert counted(engine) == KeyCounts(written=10)
        await patient.ask(sync_id)
        await patient.succeeded(sync_id)
        assert await unpushed(engine) == Unpushed(SCRIPTED, 0, 0, NONE)
        assert counted(engine) == KeyCounts(written=30, skipped=10)


async def test_a_remote_that_fails_at_the_first_call_leaves_all_keys(patient: SyncScene) -> None:
    project = await patient.domain.project("home")
    patient.remotes["one"].on_put["A"] = [RemoteUnavailableError("away")]
    await patient.put(project, A="cnry-1", B="cnry-2")
    async with patient.running() as engine:
        sync_id = await patient.sync(project)
        await waiting(patient, sync_id)
        told = await unpushed(engine)
    assert (told.syncs, told.keys) == (1, 2)


async def test_the_age_is_that_of_the_oldest_change_whatever_comes_later(
    scene: SyncScene, project: Project
) -> None:
    scene.clock = time = VirtualTime()
    engine, jobs = scene.engine(), SyncQueue(scene.database, time, JobTerms())
    first = await scene.sync(project)
    await time.advance(60)
    second = await scene.sync(project, "two")
    assert await unpushed(engine) == Unpushed(SCRIPTED, 2, 0, timedelta(seconds=60))
    begun = {one.job.sync_id: one for one in await jobs.claim(2)}
    await time.advance(60)
    # What is asked for meanwhile waits behind the run, and is the oldest only after that has ended well.
    await scene.ask(first)
    await time.advance(60)
    assert (await unpushed(engine)).oldest == timedelta(seconds=180)
    await jobs.end(begun[second], DONE)
    assert await unpushed(engine) == Unpushed(SCRIPTED, 1, 0, timedelta(seconds=180))
    await jobs.end(begun[first], DONE)
    assert await unpushed(engine) == Unpushed(SCRIPTED, 1, 0, timedelta(seconds=60))
    (again,) = await jobs.claim(1)
    await jobs.end(again, DONE)
    assert await unpushed(engine) == Unpushed(SCRIPTED, 0, 0, NONE)


@pytest.mark.parametrize("is_retryable", [True, False])
async def test_a_change_that_failed_stays_as_old_as_it_is_until_it_is_in_place(
    scene: SyncScene, project: Project, *, is_retryable: bool
) -> None:
    scene.clock = time = VirtualTime()
    engine, jobs = scene.engine(), SyncQueue(scene.database, time, JobTerms())
    sync_id = await scene.sync(project)
    (begun,) = await jobs.claim(1)
    await jobs.fail(begun, Failure("denied", is_retryable=is_retryable))
    await time.advance(7200)
    await scene.ask(sync_id)
    assert await unpushed(engine) == Unpushed(SCRIPTED, 1, 0, timedelta(seconds=7200))
    (again,) = await jobs.claim(1)
    await jobs.end(again, DONE)
    assert await unpushed(engine) == Unpushed(SCRIPTED, 0, 0, NONE)


async def test_imports_removals_and_looks_are_no_changes_that_wait(
    scene: SyncScene, project: Project
) -> None:
    sync_id = await scene.sync(project, is_automatic=False)
    await scene.ask(sync_id, JobKind.REMOVE)
    assert await unpushed(scene.engine()) == Unpushed(SCRIPTED, 0, 0, NONE)


async def test_every_process_tells_the_same_of_what_waits(postgres: PostgresServer, tmp_path: Path) -> None:
    name = postgres.create()
    async with sync_scene(tmp_path, database_url(postgres.url(name)), terms=FAST) as scene:
        project = await scene.domain.project("home")
        scene.remotes["one"].on_read = [RemoteDeniedError("denied")]
        await scene.put(project, A="cnry-1")
        async with scene.another_process() as other:
            async with scene.running() as engine:
                await scene.failed(await scene.sync(project))
                here, there = await unpushed(engine), await unpushed(scene.engine(other))
            assert (here.syncs, here.keys) == (there.syncs, there.keys) == (1, 0)
            assert NONE < here.oldest <= there.oldest
    postgres.drop(name)
