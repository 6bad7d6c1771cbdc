"""A change sets off the syncs of its folder: all of them, no other, and again where one runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.syncs.queueing import queue
from keybearer.store.records import Project
from keybearer.store.revisions import Changes
from keybearer.store.secret_places import Location
from keybearer.store.secret_syncs import JobKind, JobStatus, SecretSyncs
from support.async_waiting import until
from support.sync_scene import ONE_STAYED, SyncScene

pytestmark = pytest.mark.every_database


async def test_a_change_during_a_run_queues_another(scene: SyncScene, project: Project) -> None:
    remote = scene.remotes["one"]
    remote.hold.clear()
    heard = list[Changes]()
    scene.database.bus.subscribe(heard.append)
    await scene.put(project, A="cnry-1")

    async def is_heard() -> bool:
        return any(changes.folders for changes in heard)

    await until(is_heard, awaited="word of the change, which must not set off the sync that is made now")
    async with scene.running():
        sync_id = await scene.sync(project)

        async def is_writing() -> bool:
            return remote.busy == 1

        await until(is_writing, awaited="a run")
        assert (await scene.progress(sync_id)).status == JobStatus.RUNNING
        await scene.put(project, A="cnry-2")

        async def is_pending() -> bool:
            return (await scene.progress(sync_id)).status == JobStatus.PENDING

        await until(is_pending, awaited="another job")
        remote.hold.set()
        await scene.succeeded(sync_id)
        assert remote.content == {"A": "cnry-2"}
        assert remote.most_busy == 1


async def test_a_change_of_one_folder_moves_no_sync_of_another(scene: SyncScene, project: Project) -> None:
    await scene.domain.folder(project, "/apart")
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        before = await scene.record(sync_id)
        await scene.put(project, "/apart", X="cnry-9")
        marker = await scene.sync(project, "marker", path="/apart")
        await scene.succeeded(marker)
        assert await scene.record(sync_id) == before


async def test_where_there_is_no_sync_a_change_costs_nothing(scene: SyncScene, project: Project) -> None:
    async with scene.running():
        # A sync that changes don't set off says when the start is over.
        await scene.put(project, A="cnry-1")
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        await scene.put(project, A="cnry-2", B="cnry-3")
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        assert scene.followed == 0
        await scene.succeeded(await scene.sync(project, "two"))
        await scene.put(project, A="cnry-4")
        await scene.holds(scene.remotes["two"], A="cnry-4", B="cnry-3")
        assert scene.followed > 0


async def test_new_credentials_are_looked_through_before_anything_is_trusted(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        # Another account, in which nothing is.
        remote.content.clear()
        async with scene.database.writing() as unit:
            opened = await unit.app_connections.opened(await scene.connection(project))
            assert opened is not None
            await unit.app_connections.update(opened.connection, opened.credentials)
        await scene.put(project, A="cnry-3")
        await scene.holds(remote, A="cnry-3", B="cnry-2")


async def test_a_change_that_is_told_of_a_whole_organization_is_found_as_well(
    scene: SyncScene, project: Project
) -> None:
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        place = Location(EnvironmentSlug("dev"), FolderPath("/"), "A")
        async with scene.database.writing() as unit:
            await unit.move_project(project.id)
            (secret,) = await unit.secrets.at(project.id, [place])
            await unit.secrets.update(project.id, [replace(secret, value="cnry-2", version=2)])
            unit.changes.folders.clear()
            unit.changes.organizations.add(project.organization_id)
        await scene.holds(scene.remotes["one"], A="cnry-2")


async def test_a_sync_that_is_set_up_otherwise_during_a_run_is_looked_at_again(
    scene: SyncScene, project: Project
) -> None:
    one, two = scene.remotes["one"], scene.remotes["two"]
    two.content = {"OLD": "x"}
    one.hold.clear()
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)

        async def is_writing() -> bool:
            return one.busy == 1

        await until(is_writing, awaited="a run")
        async with scene.database.writing() as unit:
            sync = await unit.secret_syncs.get(sync_id, for_change=True)
            assert sync is not None
            changed = replace(sync.record, destination_config={"place": "two"}, version=2)
            await unit.secret_syncs.update(changed)
            await queue(unit, replace(sync, record=changed), JobKind.SYNC, {}, scene.clock.now())
        one.hold.set()
        await scene.holds(two, A="cnry-1", OLD="x")
        await scene.succeeded(sync_id, saying=ONE_STAYED)


async def test_a_change_is_not_missed_while_it_is_looked_up_whether_there_are_syncs(
    scene: SyncScene, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = SecretSyncs.any_automatic
    changes = [{"B": "cnry-2"}, {"B": "cnry-3"}]

    async def look_slowly(self: SecretSyncs) -> bool:
        found = await look(self)
        if armed.is_set() and changes:
            await scene.put(project, **changes.pop())
        return found

    armed = asyncio.Event()
    monkeypatch.setattr(SecretSyncs, "any_automatic", look_slowly)
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        armed.set()
        await scene.put(project, A="cnry-4")
        await scene.holds(scene.remotes["one"], A="cnry-4", B="cnry-2")
