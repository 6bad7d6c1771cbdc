"""A name that a run announced and never wrote isn't this sync's: it stays when somebody else creates it there."""

from __future__ import annotations

import pytest

from keybearer.destinations.remote import RemoteDeniedError, RemoteUnavailableError
from keybearer.domain.syncs.refusals import REFUSALS_MAX
from keybearer.store.records import Project
from support.sync_scene import SyncScene

pytestmark = pytest.mark.every_database


async def test_a_name_of_a_push_that_was_denied_is_not_removed_when_somebody_else_creates_it(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        await scene.put(project, B="cnry-2", C="cnry-3")
        remote.on_put["B"] = [RemoteDeniedError("the token may not write")]
        await scene.ask(sync_id)
        await scene.failed(sync_id)
        assert await scene.pushed(sync_id) == ["A"]
        remote.edit("C", "by hand")
        await scene.delete(project, "B", "C")
        await scene.ask(sync_id)
        await scene.succeeded(sync_id, saying="came from elsewhere")
    assert remote.content == {"A": "cnry-1", "C": "by hand"}


async def test_a_name_that_is_refused_after_an_unanswered_call_is_forgotten(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project, is_automatic=False)
        await scene.ask(sync_id)
        await scene.succeeded(sync_id)
        await scene.put(project, B="cnry-2")
        remote.on_put["B"] = [RemoteUnavailableError("no answer came")]
        remote.refuses["B"] = "no"
        await scene.ask(sync_id)
        await scene.failed(sync_id)
        assert await scene.pushed(sync_id) == ["A"]
        remote.edit("B", "by hand")
        await scene.delete(project, "B")
        await scene.ask(sync_id)
        await scene.succeeded(sync_id, saying="came from elsewhere")
    assert remote.content == {"A": "cnry-1", "B": "by hand"}


async def test_names_that_were_not_tried_after_many_refusals_are_forgotten(
    scene: SyncScene, project: Project
) -> None:
    remote = scene.remotes["one"]
    names = [f"KEY_{number:02}" for number in range(REFUSALS_MAX + 5)]
    remote.refuses |= dict.fromkeys(names, "the place is full")
    await scene.put(project, **dict.fromkeys(names, "cnry-1"))
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.failed(sync_id)
        await scene.ended(sync_id)
    assert await scene.pushed(sync_id) == []
