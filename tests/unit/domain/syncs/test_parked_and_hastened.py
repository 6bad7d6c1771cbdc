"""A push that the remote puts off waits for its time without a worker; what failed goes on as soon as it can."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.base.backoff import Backoff
from keybearer.destinations.protocol import Traits
from keybearer.destinations.remote import RemoteThrottledError, RemoteUnavailableError
from keybearer.domain.syncs.jobs import JobTerms, SyncQueue
from keybearer.domain.syncs.outcomes import Failure
from keybearer.domain.syncs.queueing import queue, queue_failed
from keybearer.domain.syncs.run import Done
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind, JobStatus
from support.async_waiting import until
from support.databases import OwnDatabase
from support.sync_scene import SyncScene, sync_scene
from support.virtual_time import VirtualTime

pytestmark = pytest.mark.every_database

HOUR = timedelta(hours=1)
SLOW = JobTerms(backoff=Backoff(floor=HOUR, ceiling=HOUR), start_delay=timedelta(0))
AWAY = Failure("away", is_retryable=True)


@pytest.fixture
async def patient(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[SyncScene]:
    """Yield a scene in which a failed push waits for an hour."""
    async with sync_scene(tmp_path, own_database.engine_url(tmp_path), terms=SLOW) as made:
        yield made


async def failing(scene: SyncScene, sync_id: str) -> None:
    """Return when a push of the sync has failed and waits."""

    async def probe() -> bool:
        async with scene.database.reading() as unit:
            jobs = await unit.sync_jobs.of_syncs([sync_id])
        return [(job.is_running, job.attempt) for job in jobs] == [(False, 1)]

    await until(probe, awaited="a push that waits for its next attempt")


@pytest.mark.parametrize(("asked", "kept"), [(0.5, 0.5), (100, 24)], ids=["as asked", "a day at most"])
async def test_a_push_that_is_put_off_is_pending_until_then_and_the_attempt_does_not_count(
    scene: SyncScene, project: Project, asked: float, kept: float
) -> None:
    scene.clock = time = VirtualTime()
    sync_id = await scene.sync(project)
    jobs = SyncQueue(scene.database, time, JobTerms())
    for _ in range(7):
        (begun,) = await jobs.claim(1)
        assert begun.job.attempt == 1
        assert await jobs.fail(begun, Failure("limited", is_retryable=True, wait=asked * HOUR))
        wait = (await jobs.due()).next
        assert wait == kept * HOUR
        progress = await scene.progress(sync_id)
        assert progress.status == JobStatus.PENDING
        then = time.now() + kept * HOUR
        assert progress.message == (
            f"limited; what arrived is noted, and the rest follows at {then:%Y-%m-%dT%H:%M:%SZ}"
        )
        assert await jobs.claim(1) == []
        await time.advance(wait.total_seconds())


@pytest.mark.parametrize("kind", [JobKind.IMPORT, JobKind.REMOVE])
async def test_imports_and_removals_are_put_off_as_well(
    scene: SyncScene, project: Project, kind: JobKind
) -> None:
    scene.clock = time = VirtualTime()
    sync_id = await scene.sync(project, is_automatic=False)
    await scene.ask(sync_id, kind, importBehavior="prioritize-source")
    jobs = SyncQueue(scene.database, time, JobTerms())
    (begun,) = await jobs.claim(1)
    await jobs.fail(begun, Failure("limited", is_retryable=True, wait=HOUR))
    assert (await scene.progress(sync_id, kind)).status == JobStatus.PENDING
    await time.advance(HOUR.total_seconds())
    (again,) = await jobs.claim(1)
    assert (again.job.kind, again.job.parameters) == (kind, begun.job.parameters)


async def test_a_change_waits_for_the_time_that_the_remote_asked_for_and_people_do_not(
    scene: SyncScene, project: Project
) -> None:
    scene.clock = time = VirtualTime()
    sync_id = await scene.sync(project)
    jobs = SyncQueue(scene.database, time, JobTerms())
    (begun,) = await jobs.claim(1)
    await jobs.fail(begun, Failure("limited", is_retryable=True, wait=HOUR))
    async with scene.database.writing() as unit:
        sync = await unit.secret_syncs.get(sync_id, for_change=True)
        assert sync is not None
        await queue(unit, sync, JobKind.SYNC, {}, time.now())
    assert (await jobs.due()).next == HOUR
    await scene.ask(sync_id)
    assert len(await jobs.claim(1)) == 1


async def test_a_push_goes_on_where_it_was_put_off_and_no_name_is_written_twice(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    remote.traits = Traits(has_readable_values=False)
    names = [f"KEY_{number:02}" for number in range(30)]
    wait = timedelta(milliseconds=50)
    remote.on_put |= {name: [RemoteThrottledError("limited", wait=wait)] for name in names[9::10]}
    await scene.put(project, **dict.fromkeys(names, "cnry-1"))
    async with scene.running():
        await scene.succeeded(await scene.sync(project))
    assert remote.puts == names


async def test_a_success_starts_the_others_of_the_connection_that_wait_and_none_of_another_one(
    patient: SyncScene,
) -> None:
    scene, project = patient, await patient.domain.project("home")
    await scene.put(project, A="cnry-1")
    for place in ("ill", "elsewhere"):
        scene.remotes[place].on_put["A"] = [RemoteUnavailableError("away")]
    async with scene.running():
        ill = await scene.sync(project, "ill", is_automatic=False)
        elsewhere = await scene.sync(project, "elsewhere", connection="two", is_automatic=False)
        for sync_id in (ill, elsewhere):
            await scene.ask(sync_id)
            await failing(scene, sync_id)
        well = await scene.sync(project, "well", is_automatic=False)
        await scene.ask(well)
        await scene.succeeded(well, ill)
        await failing(scene, elsewhere)


async def test_many_that_wait_begin_a_few_at_a_time(patient: SyncScene) -> None:
    scene, project = patient, await patient.domain.project("home")
    scene.clock = time = VirtualTime()
    jobs = SyncQueue(scene.database, time, SLOW)
    ids = [await scene.sync(project, f"p{number}") for number in range(12)]
    for _ in ids:
        (begun,) = await jobs.claim(1)
        await jobs.fail(begun, AWAY)
    well = await scene.sync(project, "well")
    (begun,) = await jobs.claim(1)
    assert begun.job.sync_id == well
    done = Done(source_digest=b"0")
    await jobs.end(begun, done)
    async with scene.database.reading() as unit:
        due = sorted(job.due_at - time.now() for job in await unit.sync_jobs.of_syncs(ids))
    assert due == [timedelta(seconds=number // 5) for number in range(12)]
    assert {(await scene.progress(sync_id)).status for sync_id in ids} == {JobStatus.PENDING}


async def test_what_goes_on_failing_is_not_tried_with_each_success_of_others(patient: SyncScene) -> None:
    scene, project = patient, await patient.domain.project("home")
    scene.clock = time = VirtualTime()
    jobs = SyncQueue(scene.database, time, SLOW)
    ill = await scene.sync(project, "ill")
    (begun,) = await jobs.claim(1)
    await jobs.fail(begun, AWAY)
    well = await scene.sync(project, "well", is_automatic=False)
    tries = 0
    for _ in range(11):
        await scene.ask(well)
        (begun,) = await jobs.claim(1)
        await jobs.end(begun, Done(source_digest=b"0"))
        for other in await jobs.claim(5):
            assert other.job.sync_id == ill
            tries += 1
            await jobs.fail(other, AWAY)
        await time.advance(60)
    assert tries == 2


async def test_new_credentials_start_what_waits_what_is_put_off_and_what_runs_with_the_old_ones(
    patient: SyncScene,
) -> None:
    scene, project = patient, await patient.domain.project("home")
    scene.clock = time = VirtualTime()
    jobs = SyncQueue(scene.database, time, SLOW)
    ids = [await scene.sync(project, place) for place in ("waits", "parked", "runs")]
    for failure in (AWAY, Failure("limited", is_retryable=True, wait=HOUR)):
        (begun,) = await jobs.claim(1)
        await jobs.fail(begun, failure)
    (runs,) = await jobs.claim(1)
    async with scene.database.writing() as unit:
        await queue_failed(unit, await scene.connection(project), time.now())
    first = await jobs.claim(5)
    assert len(first) == 2
    await jobs.fail(runs, AWAY)
    (last,) = await jobs.claim(5)
    assert {begun.job.sync_id for begun in (*first, last)} == set(ids)
    assert last.job.sync_id == runs.job.sync_id
