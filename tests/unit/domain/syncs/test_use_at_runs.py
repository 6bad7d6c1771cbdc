"""Whether a sync may use its connection is judged at every run, for its owner and by the terms of that moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.authorization import ProjectRole
from keybearer.domain.syncs.queueing import queue_failed
from keybearer.store.records import Project
from keybearer.store.secret_syncs import JobKind
from keybearer.store.tables.grants import Grant
from support.async_waiting import until
from support.sync_scene import SyncScene

pytestmark = pytest.mark.every_database


async def change(scene: SyncScene, connection_id: str, **terms: Any) -> None:  # noqa: ANN401 - fields of a record
    """Change what a connection allows, as people do."""
    async with scene.database.writing() as unit:
        connection = await unit.app_connections.get(connection_id)
        assert connection is not None
        await unit.app_connections.update(replace(connection, **terms))
        await queue_failed(unit, connection_id, scene.clock.now())


async def test_a_sync_stops_when_its_project_is_no_longer_named_and_goes_on_when_it_is(
    scene: SyncScene, project: Project
) -> None:
    remote, owner = scene.remotes["one"], await scene.member(project)
    connection = await scene.connection(project)
    await change(scene, connection, project_id=None, allowed_project_ids=(project.id,))
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, owner=owner)
        await scene.succeeded(sync_id)

        await change(scene, connection, allowed_project_ids=("another",))
        await scene.put(project, A="cnry-2")

        assert "may not be used in this project" in await scene.failed(sync_id)
        assert remote.content == {"A": "cnry-1"}
        await change(scene, connection, allowed_project_ids=(project.id,))
        await scene.holds(remote, A="cnry-2")
        await scene.succeeded(sync_id)


async def test_a_member_owns_no_sync_over_a_connection_that_names_no_projects(
    scene: SyncScene, project: Project
) -> None:
    await change(scene, await scene.connection(project), project_id=None)
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, owner=await scene.member(project))
        message = await scene.failed(sync_id)
        assert "with the rights of its owner, member: You are not allowed to connect" in message
        assert "keybearer connections allow" in message
        assert scene.remotes["one"].content == {}
        theirs = await scene.sync(project, name="of-the-admin")
        await scene.succeeded(theirs)


async def test_an_owner_without_the_right_is_told_the_command_that_gives_it(
    scene: SyncScene, project: Project
) -> None:
    viewer = await scene.member(project, ProjectRole.VIEWER)
    await scene.put(project, A="cnry-1")
    async with scene.running():
        message = await scene.failed(await scene.sync(project, owner=viewer))
        assert "You are not allowed to connect on app-connections; an admin of the project" in message
        assert (
            f"keybearer grants add {viewer} --project {project.id} --env '*' --subject app-connections "
            "--action read --action connect"
        ) in message


async def test_a_sync_stops_when_its_owner_may_no_longer_connect(scene: SyncScene, project: Project) -> None:
    remote, owner = scene.remotes["one"], await scene.member(project)
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, owner=owner)
        await scene.succeeded(sync_id)
        now = scene.clock.now()
        async with scene.database.writing() as unit:
            await unit.move_project(project.id)
            await unit.grants.add(
                Grant(
                    id=new_uuid(),
                    project_id=ProjectId(project.id),
                    identity_id=owner,
                    effect="deny",
                    subjects=("app-connections",),
                    actions=("connect",),
                    environment="*",
                    environment_id=None,
                    secret_path="/**",
                    created_at=now,
                    updated_at=now,
                )
            )
        await scene.put(project, A="cnry-2")
        message = await scene.failed(sync_id)
        assert "with the rights of its owner, member" in message
        assert f"keybearer grants list --project {project.id} --member {owner}" in message
        assert remote.content == {"A": "cnry-1"}


async def test_a_sync_stops_when_its_place_is_no_longer_allowed(scene: SyncScene, project: Project) -> None:
    remote, connection = scene.remotes["one"], await scene.connection(project)
    await change(scene, connection, allowed_places=("on*",))
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
        await change(scene, connection, allowed_places=("two",))
        await scene.put(project, A="cnry-2")
        assert 'does not allow the place "one"' in await scene.failed(sync_id)
        assert remote.content == {"A": "cnry-1"}


async def test_nothing_is_removed_where_the_connection_allows_nothing(
    scene: SyncScene, project: Project
) -> None:
    remote, connection = scene.remotes["one"], await scene.connection(project)
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        await change(scene, connection, allowed_places=("two",))
        await scene.ask(sync_id, JobKind.REMOVE)
        assert 'the place "one"' in await scene.failed(sync_id, JobKind.REMOVE)
        await scene.change(sync_id, config={"place": "two"})
        await scene.ask(sync_id)
        await scene.holds(scene.remotes["two"], A="cnry-1")

        async def told() -> bool:
            return 'does not allow the place "one"' in ((await scene.progress(sync_id)).message or "")

        await until(told, awaited="a message about the former place")
    assert remote.content == {"A": "cnry-1"}


async def test_who_lost_the_right_is_no_obstacle_to_a_removal_that_was_asked_for(
    scene: SyncScene, project: Project
) -> None:
    owner = await scene.member(project, ProjectRole.VIEWER)
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        async with scene.database.writing() as unit:
            sync = await unit.secret_syncs.get(sync_id, for_change=True)
            assert sync is not None
            await unit.secret_syncs.update(replace(sync.record, owner_id=owner))
        await scene.ask(sync_id, JobKind.REMOVE)
        await scene.succeeded(sync_id, kind=JobKind.REMOVE)
    assert scene.remotes["one"].content == {}
