"""Claims of jobs: never one job twice, never two of a sync, never six of a connection."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from keybearer.base.clock import SystemClock
from keybearer.store.attempts import repeated
from keybearer.store.database import Database
from keybearer.store.pushes import Push
from keybearer.store.secret_syncs import JobKind
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.sync_turns import Turns
from support.async_waiting import until
from support.databases import OwnDatabase
from support.sync_scene import SyncScene, sync_scene
from support.unlocking import unlock_with
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.every_database

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE = timedelta(minutes=1)


@pytest.fixture
async def scene(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[SyncScene]:
    """Yield a scene whose engine never runs."""
    async with sync_scene(tmp_path, own_database.engine_url(tmp_path)) as made:
        yield made


@asynccontextmanager
async def processes(scene: SyncScene, number: int) -> AsyncIterator[list[Database]]:
    """Yield databases as so many processes have them; of SQLite there is one process."""
    async with AsyncExitStack() as stack:
        found = [scene.database]
        while len(found) < number and not scene.database.sole_process:
            assert scene.url is not None
            other = Database(scene.url, SystemClock())
            await unlock_with(other, scene.database.keyring)
            stack.push_async_callback(other.close)
            found.append(other)
        yield [found[index % len(found)] for index in range(number)]


def job(sync_id: str, connection_id: str, kind: JobKind = JobKind.SYNC) -> SyncJob:
    return SyncJob(str(uuid4()), sync_id, connection_id, kind, False, 0, {}, NOW, None, None, NOW)  # noqa: FBT003 - a record


async def syncs(
    scene: SyncScene, number: int, *connections: str, slug: str = "home"
) -> list[tuple[str, str]]:
    """Make syncs of these connections of a project in turn; return their ids and those of the connections."""
    made = []
    project = await scene.domain.project(slug)
    for index in range(number):
        name = connections[index % len(connections)]
        sync_id = await scene.sync(project, connection=name, is_automatic=False)
        made.append((sync_id, await scene.connection(project, name)))
    return made


async def add(database: Database, *jobs: SyncJob) -> None:
    async with database.writing() as unit:
        await unit.sync_jobs.add(jobs)


async def claim(
    database: Database,
    who: str = "me",
    *,
    limit: int = 10,
    now: datetime = NOW,
    turns: Turns | None = None,
) -> list[SyncJob]:
    async def claimed() -> list[SyncJob]:
        async with database.writing() as unit:
            return await unit.sync_claims.claim(
                who, now=now, lease=LEASE, limit=limit, per_connection=5, turns=turns or Turns(10)
            )

    return await repeated(claimed)


async def test_processes_that_claim_at_once_share_the_jobs_and_keep_to_every_bound(scene: SyncScene) -> None:
    made = await syncs(scene, 24, "one", "two", "three")
    await add(scene.database, *(job(*ids, kind) for ids in made for kind in (JobKind.SYNC, JobKind.IMPORT)))
    done: Counter[str] = Counter()
    running: Counter[str] = Counter()
    of_syncs: Counter[str] = Counter()

    async def work(database: Database, who: str) -> None:
        idle = 0
        while idle < 5:
            claimed = await claim(database, who, limit=4)
            idle = 0 if claimed else idle + 1
            for one in claimed:
                running[one.connection_id] += 1
                of_syncs[one.sync_id] += 1
                done[one.id] += 1
                assert one.attempt == 1
                assert one.claimed_by == who
                assert running[one.connection_id] <= 5
                assert of_syncs[one.sync_id] == 1
            await asyncio.sleep(0.01)
            for one in claimed:
                # Counted as ended before it is: a claim right after may be seen first.
                running[one.connection_id] -= 1
                of_syncs[one.sync_id] -= 1

                async def finish(one: SyncJob = one) -> bool:
                    async with database.writing() as unit:
                        return await unit.sync_jobs.finish(one)

                assert await repeated(finish)

    async with processes(scene, 4) as databases, asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(*(work(database, f"p{number}") for number, database in enumerate(databases)))
    assert len(done) == 48
    assert set(done.values()) == {1}


async def test_a_connection_that_is_full_hides_no_other(scene: SyncScene) -> None:
    made = await syncs(scene, 31, *["many"] * 30, "few")
    few = made.pop()
    await add(scene.database, *(job(*ids) for ids in made))
    await add(scene.database, replace(job(*few), due_at=NOW + timedelta(seconds=1)))
    claimed = await claim(scene.database, limit=10, now=NOW + timedelta(seconds=2))
    assert Counter(one.sync_id == few[0] for one in claimed) == {False: 5, True: 1}
    assert await claim(scene.database, limit=10, now=NOW + timedelta(seconds=2)) == []


async def test_who_waits_shares_the_workers_with_who_waited_longer_and_has_more(scene: SyncScene) -> None:
    many = await syncs(scene, 30, *(f"m{number}" for number in range(30)), slug="many")
    few = await syncs(scene, 3, "f1", "f2", slug="few")
    await add(scene.database, *(job(*ids) for ids in many))
    later = NOW + timedelta(seconds=1)
    await add(scene.database, *(replace(job(*ids), due_at=later) for ids in few))
    of_few = {sync_id for sync_id, _ in few}

    def counted(claimed: list[SyncJob]) -> Counter[bool]:
        return Counter(one.sync_id in of_few for one in claimed)

    turns = Turns(10)
    alone = await claim(scene.database, limit=10, turns=turns)
    assert counted(alone) == {False: 8}
    assert await claim(scene.database, limit=2, turns=turns) == []
    # Who comes then finds room, though the other has been waiting for longer.
    assert counted(await claim(scene.database, limit=2, now=later, turns=turns)) == {True: 1}
    # The organization of both has all but one now; another process has workers of its own.
    assert await claim(scene.database, limit=1, now=later, turns=turns) == []
    assert counted(await claim(scene.database, "other", limit=4, now=later)) == {False: 2, True: 2}


async def test_projects_take_turns_with_one_worker(scene: SyncScene) -> None:
    projects = [await syncs(scene, 3, slug, slug=slug) for slug in ("one", "two", "three")]
    for index, made in enumerate(projects):
        due_at = NOW - timedelta(hours=3 - index)
        await add(scene.database, *(replace(job(*ids), due_at=due_at) for ids in made))
    turns, order = Turns(1), []
    for _ in range(9):
        (claimed,) = await claim(scene.database, limit=1, turns=turns)
        order.append(next(n for n, made in enumerate(projects) if claimed.sync_id in dict(made)))
        async with scene.database.writing() as unit:
            assert await unit.sync_jobs.finish(claimed)
    assert order == [0, 1, 2] * 3


async def test_a_project_whose_connection_is_full_takes_no_turn_from_others(scene: SyncScene) -> None:
    full = await syncs(scene, 20, "full", slug="full")
    other = await syncs(scene, 20, *(f"o{number}" for number in range(20)), slug="other")
    await add(scene.database, *(job(*ids) for ids in (*full, *other)))
    turns = Turns(20)
    of_full = {sync_id for sync_id, _ in full}
    claimed = await claim(scene.database, limit=20, turns=turns)
    assert Counter(one.sync_id in of_full for one in claimed) == {True: 5, False: 14}


async def test_one_waits_per_sync_and_kind_with_the_newest_wish_and_the_earlier_time(
    scene: SyncScene,
) -> None:
    ((sync_id, connection_id),) = await syncs(scene, 1, "one")
    later = replace(job(sync_id, connection_id), due_at=NOW + timedelta(hours=1), parameters={"a": 1})
    await add(scene.database, later)
    assert await claim(scene.database) == []
    await add(scene.database, replace(job(sync_id, connection_id), parameters={"a": 2}))
    (claimed,) = await claim(scene.database)
    assert (claimed.id, claimed.parameters, claimed.due_at) == (later.id, {"a": 2}, NOW)
    # Behind one that runs another waits, and isn't begun.
    await add(scene.database, job(sync_id, connection_id))
    assert await claim(scene.database) == []


async def test_a_job_that_waits_again_takes_in_the_one_behind_it(scene: SyncScene) -> None:
    ((sync_id, connection_id),) = await syncs(scene, 1, "one")
    await add(scene.database, job(sync_id, connection_id))
    (claimed,) = await claim(scene.database)
    await add(scene.database, replace(job(sync_id, connection_id), parameters={"newer": True}))
    async with scene.database.writing() as unit:
        assert await unit.sync_jobs.release(claimed, NOW + timedelta(seconds=3))
        assert not await unit.sync_jobs.release(claimed, NOW)
        (waiting,) = await unit.sync_jobs.of_syncs([sync_id])
        assert await unit.sync_jobs.due(NOW) == (False, NOW + timedelta(seconds=3))
    assert (waiting.id, waiting.attempt, waiting.parameters) == (claimed.id, 1, {"newer": True})
    (again,) = await claim(scene.database, now=NOW + timedelta(seconds=3))
    assert again.attempt == 2


async def test_who_let_the_lease_end_has_the_job_no_more(scene: SyncScene) -> None:
    ((sync_id, connection_id),) = await syncs(scene, 1, "one")
    await add(scene.database, job(sync_id, connection_id))
    (slow,) = await claim(scene.database, "slow")
    async with scene.database.writing() as unit:
        assert await unit.sync_claims.orphaned() == []
        assert await unit.sync_claims.prolong("slow", -LEASE) == {slow.id}
        (orphan,) = await unit.sync_claims.orphaned()
        assert [job.id for job in await unit.sync_claims.running()] == [slow.id]
        assert await unit.sync_jobs.release(orphan, NOW, attempt=0)
    (quick,) = await claim(scene.database, "quick")
    async with scene.database.writing() as unit:
        assert not await unit.sync_jobs.is_held(slow)
        assert await unit.sync_jobs.is_held(quick)
        assert await unit.sync_claims.prolong("slow", LEASE) == set()
        assert not await unit.sync_jobs.release(slow, NOW)
        assert not await unit.sync_jobs.finish(slow)
        assert await unit.sync_jobs.finish(quick)
        assert not await unit.sync_jobs.finish(quick)


async def test_jobs_and_ledger_go_with_their_sync(scene: SyncScene) -> None:
    ((sync_id, connection_id),) = await syncs(scene, 1, "one")
    await add(scene.database, job(sync_id, connection_id))
    (claimed,) = await claim(scene.database)
    async with scene.database.writing() as unit:
        await unit.pushes.note(sync_id, [Push("A", b"1", None)])
        await unit.secret_syncs.delete(sync_id)
        assert await unit.pushes.of_sync(sync_id) == {}
        assert not await unit.sync_jobs.finish(claimed)


async def test_the_ledger_holds_what_was_noted_last(scene: SyncScene) -> None:
    ((sync_id, _), (other, _)) = await syncs(scene, 2, "one")
    many = [Push(f"K{number}", b"1", None) for number in range(450)]
    async with scene.database.writing() as unit:
        await unit.pushes.note(sync_id, many)
        await unit.pushes.note(other, [Push("K1", b"x", None)])
        await unit.pushes.note(sync_id, [Push("K1", b"2", "v2")])
        await unit.pushes.forget(sync_id, [f"K{number}" for number in range(2, 450)])
    async with scene.database.reading() as unit:
        assert await unit.pushes.of_sync(sync_id) == {
            "K0": Push("K0", b"1", None),
            "K1": Push("K1", b"2", "v2"),
        }
        assert await unit.pushes.of_sync(other) == {"K1": Push("K1", b"x", None)}


async def test_every_process_hears_that_there_is_something_to_run(scene: SyncScene) -> None:
    heard: list[bool] = []
    scene.database.bus.subscribe(lambda changes: heard.append(changes.jobs))
    ((sync_id, connection_id),) = await syncs(scene, 1, "one")
    assert not any(heard)
    await add(scene.database, job(sync_id, connection_id))

    async def has_heard() -> bool:
        return any(heard)

    await until(has_heard, awaited="word of a job")
