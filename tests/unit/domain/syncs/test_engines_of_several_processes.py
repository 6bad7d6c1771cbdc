"""Several processes on one database: they share the jobs, and none is lost with one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.domain.syncs.jobs import SyncQueue
from keybearer.domain.syncs.outcomes import Failure
from keybearer.store.engines import database_url
from keybearer.store.records import Project
from support.postgres import PostgresServer
from support.sync_scene import FAST, SyncScene, sync_scene


@pytest.fixture
async def scene(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[SyncScene]:
    """Yield a scene whose engine doesn't run yet."""
    name = postgres.create()
    async with sync_scene(tmp_path, database_url(postgres.url(name))) as made:
        yield made
    postgres.drop(name)


@pytest.fixture
async def project(scene: SyncScene) -> Project:
    return await scene.domain.project("home")


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
