"""The service looks at destinations by itself, puts right what others changed there, and shows only that."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from keybearer.destinations.protocol import Traits
from keybearer.destinations.remote import RemoteDeniedError, RemoteUnavailableError
from keybearer.domain.audit import EventType
from keybearer.domain.syncs.look_times import LookTimes
from keybearer.store.audit import AuditFilter
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind, SyncRecord
from keybearer.store.sync_looks import SyncLooks
from support.async_waiting import until
from support.scripted_remote import ScriptedRemote
from support.sync_scene import FAST, MANY, ONE_STAYED, SyncScene

pytestmark = pytest.mark.every_database

SOON = replace(FAST, look_interval=timedelta(seconds=0.4))


async def looked_at(remote: ScriptedRemote, times: int) -> None:
    async def probe() -> bool:
        return remote.listings >= times

    await until(probe, awaited=f"{times} looks")


@pytest.mark.parametrize("is_readable", [True, False])
async def test_what_others_changed_or_deleted_is_put_right_without_anybodys_help_and_counted(
    scene: SyncScene, project: Project, *, is_readable: bool
) -> None:
    scene.terms = SOON
    remote = scene.remotes["one"]
    remote.traits = Traits(has_readable_values=is_readable)
    await scene.put(project, A="cnry-1", B="cnry-2", C="cnry-3")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.holds(remote, A="cnry-1", B="cnry-2", C="cnry-3")
        await looked_at(remote, remote.listings + 2)
        remote.edit("A", "by hand")
        del remote.content["B"]
        remote.edit("FOREIGN", "x")
        remote.forget_calls()
        await scene.holds(remote, A="cnry-1", B="cnry-2", C="cnry-3", FOREIGN="x")
        await scene.succeeded(sync_id, saying=ONE_STAYED)
        assert sorted(remote.puts) == ["A", "B"]
    await scene.trail.flush()
    async with scene.database.reading() as unit:
        lines = await unit.audit_log.listed(AuditFilter(project.organization_id), offset=0, limit=100)
    runs = [line for line in lines if line.event_type == EventType.SYNC_SECRETS]
    assert {line.details["repaired"] for line in runs} == {0, 2}


async def test_a_look_that_finds_nothing_shows_nowhere(scene: SyncScene, project: Project) -> None:
    scene.terms = SOON
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        before = await scene.record(sync_id)
        assert before is not None
        seen: list[SyncRecord] = []
        target = remote.listings + 3

        async def probe() -> bool:
            record = await scene.record(sync_id)
            assert record is not None
            seen.append(replace(record, listed_at=before.listed_at))
            return remote.listings >= target

        await until(probe, awaited="three looks")
        assert all(record == before for record in seen)
        assert remote.puts == ["A"]
    await scene.trail.flush()
    async with scene.database.reading() as unit:
        lines = await unit.audit_log.listed(AuditFilter(project.organization_id), offset=0, limit=100)
    # Nothing was done, and no value left the service.
    assert [line.event_type for line in lines].count(EventType.GET_SECRETS) == 1


async def test_what_a_look_learns_of_others_is_told(scene: SyncScene, project: Project) -> None:
    scene.terms = SOON
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        remote.edit("OTHERS", "x")

        async def is_told() -> bool:
            return (await scene.progress(sync_id)).message is not None

        await until(is_told, awaited="a word about others")
        await scene.succeeded(sync_id, saying=ONE_STAYED)


async def test_where_changes_set_nothing_off_nobody_looks(scene: SyncScene, project: Project) -> None:
    scene.terms = SOON
    by_hand, by_itself = scene.remotes["one"], scene.remotes["two"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        by_hand.forget_calls()
        await scene.sync(project, "two")
        await looked_at(by_itself, 4)
        assert by_hand.listings == 0


async def test_a_look_that_fails_for_a_moment_is_tried_again_and_shows_nowhere(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = SOON
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        before = await scene.progress(sync_id)
        remote.on_read = [RemoteUnavailableError("no usable answer came") for _ in range(7)]
        seen = {before}

        async def is_over() -> bool:
            seen.add(await scene.progress(sync_id))
            return not remote.on_read

        await until(is_over, awaited="seven looks")
        assert seen == {before}


async def test_a_look_that_is_refused_becomes_a_push_that_says_why(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = SOON
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        remote.forget_calls()
        remote.on_read = [RemoteDeniedError("the credentials are refused") for _ in range(9)]
        assert await scene.failed(sync_id) == "the credentials are refused"
        # One look and one push: whoever mends it, or asks, has it tried again.
        assert len(remote.on_read) == 7
        await scene.ask(sync_id)
        await scene.failed(sync_id)


async def test_looks_that_are_due_at_once_are_queued_once_and_begin_apart(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    async with scene.running():
        made = [await scene.sync(project, f"r{number}") for number in range(8)]
        await scene.succeeded(*made)
    interval = timedelta(milliseconds=1)
    now = scene.clock.now()
    times = LookTimes(scene.database, scene.clock, interval)
    assert await times.queue_due() == 8
    assert await times.queue_due() == 0
    async with scene.database.reading() as unit:
        assert await unit.sync_jobs.count_waiting() == 0
        jobs = await unit.sync_jobs.of_syncs(made)
    assert {job.kind for job in jobs} == {JobKind.LOOK}
    async with scene.database.writing() as unit:
        for job in jobs:
            await unit.secret_syncs.delete(job.sync_id)
    assert now <= min(job.due_at for job in jobs)
    an_hour = LookTimes(scene.database, scene.clock, timedelta(hours=1))
    async with scene.running():
        made = [await scene.sync(project, f"r{number}") for number in range(8)]
        await scene.succeeded(*made)
    async with scene.database.writing() as unit:
        for sync_id in made:
            await unit.sync_looks.note(sync_id, None, None)
    now = scene.clock.now()
    assert await an_hour.queue_due() == 8
    async with scene.database.reading() as unit:
        waits = [(job.due_at - now).total_seconds() for job in await unit.sync_jobs.of_syncs(made)]
    assert all(-1 <= wait < 370 for wait in waits)
    assert max(waits) - min(waits) > 1


async def test_a_look_that_is_due_and_goes_on_is_not_asked_for_over_and_over(
    scene: SyncScene, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.terms = replace(FAST, look_interval=timedelta(seconds=1))
    asked = 0
    look_for_due = SyncLooks.due

    async def counted(self: SyncLooks, *given: object, **options: object) -> list[str]:
        nonlocal asked
        asked += 1
        return await look_for_due(self, *given, **options)  # type: ignore[arg-type] # as it was called

    monkeypatch.setattr(SyncLooks, "due", counted)
    await scene.put(project, A="cnry-1")
    remote = scene.remotes["one"]
    async with scene.running():
        await scene.succeeded(await scene.sync(project))
        remote.on_read = [RemoteUnavailableError("away") for _ in range(MANY)]
        began, asked = asyncio.get_running_loop().time(), 0
        await looked_at(remote, remote.listings + 20)
        # A hundredth of the interval is the least that lies between two rounds.
        passed = asyncio.get_running_loop().time() - began
        assert asked <= 3 * (passed / 0.01 + 1)
    assert remote.listings >= 20


async def test_a_sync_that_is_set_up_otherwise_during_a_look_keeps_nothing_of_what_that_found(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = SOON
    one = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        one.hold_reads.clear()
        await looked_at(one, one.listings + 1)
        await scene.change(sync_id, config={"place": "two"})
        one.hold_reads.set()
        await scene.holds(scene.remotes["two"], A="cnry-1")
        await scene.holds(one)
        await scene.succeeded(sync_id)
        assert await scene.pushed(sync_id) == ["A"]


async def test_a_look_that_was_dated_by_a_clock_that_was_ahead_is_made_again_and_not_trusted(
    scene: SyncScene, project: Project
) -> None:
    scene.terms = replace(FAST, look_interval=timedelta(hours=1))
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        hour = timedelta(hours=1)
        times = LookTimes(scene.database, scene.clock, hour)
        for ahead, looks in ((hour / 20, 0), (48 * hour, 1)):
            remote.forget_calls()
            async with scene.database.writing() as unit:
                await unit.sync_looks.note(sync_id, scene.clock.now() + ahead, None)
            await scene.put(project, A=f"cnry-{ahead}")
            await scene.holds(remote, A=f"cnry-{ahead}")
            await scene.succeeded(sync_id)
            assert remote.listings == looks
    async with scene.database.writing() as unit:
        await unit.sync_looks.note(sync_id, scene.clock.now() + hour / 20, None)
    assert await times.queue_due() == 0
    async with scene.database.writing() as unit:
        await unit.sync_looks.note(sync_id, scene.clock.now() + 48 * hour, None)
    assert await times.queue_due() == 1
