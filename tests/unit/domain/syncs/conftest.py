"""The sync engine against remotes that do what the test says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keybearer.store.records import Project
from support.databases import OwnDatabase
from support.sync_scene import SyncScene, sync_scene


@pytest.fixture
async def scene(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[SyncScene]:
    """Yield a scene whose engine doesn't run yet."""
    async with sync_scene(tmp_path, own_database.engine_url(tmp_path)) as made:
        yield made


@pytest.fixture
async def project(scene: SyncScene) -> Project:
    return await scene.domain.project("home")
