"""Runs hold each other up only so far, and what an engine leaves behind the next one takes up."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.store.records import Project
from keybearer.store.secret_places import Location
from keybearer.store.secret_syncs import JobStatus, SecretSync, SecretSyncs
from support.async_waiting import until
from support.sync_scene import SyncScene

pytestmark = pytest.mark.every_database


async def test_five_run_for_one_connection_and_others_are_not_held_up(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    busy, free = scene.remotes["busy"], scene.remotes["free"]
    busy.hold.clear()
    many = [await scene.sync(project, "busy", connection="many") for _ in range(12)]
    async with scene.running():

        async def is_full() -> bool:
            return busy.busy == 5

        await until(is_full, awaited="five runs")
        await scene.succeeded(await scene.sync(project, "free", connection="few"))
        assert free.content == {"A": "cnry-1"}
        assert busy.busy == 5
        busy.hold.set()
        # Whoever came later tells that it wrote what another had written.
        assert {one.status for one in await scene.ended(*many)} == {JobStatus.SUCCEEDED}
    assert busy.most_busy == 5


async def test_what_happened_while_nobody_listened_is_found_at_the_start_and_nothing_else_moves(
    scene: SyncScene, project: Project
) -> None:
    other = await scene.domain.project("other")
    one, two = scene.remotes["one"], scene.remotes["two"]
    await scene.domain.folder(project, "/apart")
    await scene.put(project, A="cnry-1")
    await scene.put(other, A="cnry-1")
    async with scene.running():
        first, second = await scene.sync(project, "one"), await scene.sync(other, "two")
        await scene.succeeded(first, second)
    before = await scene.record(second)
    one.forget_calls()
    two.forget_calls()
    await scene.put(project, A="cnry-2")
    await scene.put(other, B="cnry-3")
    await scene.delete(other, "B")
    async with scene.running():
        await scene.holds(one, A="cnry-2")
        await scene.succeeded(first, second)

        async def is_reached() -> bool:
            record = await scene.record(second)
            return record is not None and before is not None and record.reached != before.reached

        await until(is_reached, awaited="a note of what was found the same")
    after = await scene.record(second)
    assert before is not None
    assert after == replace(before, reached=after.reached if after else None)
    assert (two.listings, two.writes) == (0, 0)


async def test_a_run_that_is_under_way_at_the_start_is_not_queued_once_more(
    scene: SyncScene, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = scene.remotes["one"]
    remote.hold.clear()
    await scene.put(project, A="cnry-1")
    sync_id = await scene.sync(project)
    look_for_missed = SecretSyncs.automatic_after
    is_writing, is_swept = asyncio.Event(), asyncio.Event()

    async def look_once_it_runs(self: SecretSyncs, last: str, limit: int) -> list[SecretSync]:
        await is_writing.wait()
        found = await look_for_missed(self, last, limit)
        if not found:
            is_swept.set()
        return found

    monkeypatch.setattr(SecretSyncs, "automatic_after", look_once_it_runs)
    async with scene.running():

        async def runs() -> bool:
            return remote.busy == 1

        await until(runs, awaited="a run")
        is_writing.set()
        await is_swept.wait()
        async with scene.database.reading() as unit:
            assert [job.is_running for job in await unit.sync_jobs.of_syncs([sync_id])] == [True]
        remote.hold.set()
        await scene.succeeded(sync_id)


async def test_a_change_that_was_missed_while_a_run_was_under_way_is_found_after_it(
    scene: SyncScene, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = scene.remotes["one"]
    remote.hold.clear()
    await scene.put(project, A="cnry-1")
    sync_id = await scene.sync(project)
    look_for_missed = SecretSyncs.automatic_after
    is_missed = asyncio.Event()

    async def look_once_it_was_missed(self: SecretSyncs, last: str, limit: int) -> list[SecretSync]:
        await is_missed.wait()
        return await look_for_missed(self, last, limit)

    monkeypatch.setattr(SecretSyncs, "automatic_after", look_once_it_was_missed)
    async with scene.running():

        async def runs() -> bool:
            return remote.busy == 1

        await until(runs, awaited="a run")
        place = Location(EnvironmentSlug("dev"), FolderPath("/"), "A")
        async with scene.database.writing() as unit:
            await unit.move_project(project.id)
            (secret,) = await unit.secrets.at(project.id, [place])
            await unit.secrets.update(project.id, [replace(secret, value="cnry-2", version=2)])
            # Nobody is told.
            unit.changes.folders.clear()
        is_missed.set()
        remote.hold.set()
        await scene.holds(remote, A="cnry-2")
        await scene.succeeded(sync_id)


async def test_an_engine_that_is_told_to_stop_lets_its_runs_end(scene: SyncScene, project: Project) -> None:
    remote = scene.remotes["one"]
    remote.hold.clear()
    await scene.put(project, A="cnry-1")
    sync_id = await scene.sync(project)
    engine = scene.engine()
    task = asyncio.create_task(engine.run())

    async def is_writing() -> bool:
        return remote.busy == 1

    await until(is_writing, awaited="a run")
    engine.stop()
    remote.hold.set()
    await task
    await scene.succeeded(sync_id)
    assert remote.content == {"A": "cnry-1"}


async def test_a_run_that_is_cut_off_is_taken_up_and_looks_before_it_writes(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        remote.hold.clear()
        await scene.put(project, A="cnry-3")

        async def is_writing() -> bool:
            return remote.busy == 1

        await until(is_writing, awaited="a run")
    remote.hold.set()
    remote.forget_calls()
    async with scene.running():
        await scene.succeeded(sync_id)
    assert remote.content == {"A": "cnry-3", "B": "cnry-2"}
    assert remote.listings == 1


async def test_a_sync_of_which_no_run_can_be_made_keeps_no_other_from_running(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    places = {await scene.sync(project, place, connection=place): place for place in ("one", "two", "three")}
    async with scene.running():
        await scene.succeeded(*places)
    # The first that is looked at; a number of this size can't be digested.
    broken, *others = sorted(places)
    record = await scene.record(broken)
    assert record is not None
    config = {**record.destination_config, "number": 1 << 70}
    async with scene.database.writing() as unit:
        await unit.secret_syncs.update(replace(record, destination_config=config))
    await scene.put(project, A="cnry-2")
    async with scene.running():
        for other in others:
            await scene.holds(scene.remotes[places[other]], A="cnry-2")
        assert "TypeError" in await scene.failed(broken)


async def test_pushes_of_one_project_to_places_that_hang_hold_up_no_other_project(
    scene: SyncScene, project: Project
) -> None:
    other = await scene.domain.project("other")
    await scene.put(project, A="cnry-1")
    await scene.put(other, B="cnry-2")
    hanging = [f"h{number}" for number in range(20)]
    for place in hanging:
        scene.remotes[place].hold.clear()
    async with scene.running():
        slow = [await scene.sync(project, place, connection=place) for place in hanging]

        async def all_that_may() -> bool:
            return scene.remotes.busy == 8

        await until(all_that_may, awaited="eight runs of one project")
        quick = [await scene.sync(other, f"q{number}", connection="q") for number in range(5)]
        await scene.succeeded(*quick)
        assert scene.remotes.busy == 8
        for place in hanging:
            scene.remotes[place].hold.set()
        await scene.succeeded(*slow)
    assert all(scene.remotes[f"q{number}"].content == {"B": "cnry-2"} for number in range(5))
