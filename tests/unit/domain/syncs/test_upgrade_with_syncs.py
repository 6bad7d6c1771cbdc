"""A database of an earlier version, with syncs and what they pushed, goes on as if nothing had happened."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import create_async_engine

from keybearer.destinations.protocol import Traits
from keybearer.domain.audit import EventType
from keybearer.domain.syncs.auditing import sync_event
from keybearer.store.database import Database
from keybearer.store.migrate import migration_config
from keybearer.store.records import Project
from keybearer.store.sealing.keyring import Keyring
from support.async_waiting import until
from support.databases import OwnDatabase
from support.sync_scene import FAST, ONE_STAYED, SyncScene
from support.unlocking import unlock_with
from support.upgrade.earlier_seals import seal_as_before

pytestmark = pytest.mark.every_database

BEFORE_FORMER_PLACES = "0010"
"""The last revision of databases in which a sync that changed its place forgot the former one."""


def go_back(connection: Connection, keyring: Keyring) -> None:
    """Give the database the form of that version, with what such a version may have written."""
    seal_as_before(connection, keyring)
    command.downgrade(migration_config(connection), BEFORE_FORMER_PLACES)
    tables = inspect(connection).get_table_names()
    assert "sync_pushes" in tables
    assert "sync_former_places" not in tables
    # That version looked at a remote every six hours at most.
    seven_hours_ms = 7 * 3600 * 1000
    connection.execute(text(f"UPDATE secret_syncs SET listed_at = listed_at - {seven_hours_ms}"))  # noqa: S608


@pytest.mark.parametrize("is_readable", [True, False])
async def test_nothing_is_written_or_removed_at_a_destination_because_of_the_upgrade(
    scene: SyncScene, project: Project, own_database: OwnDatabase, tmp_path: Path, *, is_readable: bool
) -> None:
    remote = scene.remotes["one"]
    remote.traits = Traits(has_readable_values=is_readable)
    remote.content = {"OTHERS": "x"}
    await scene.put(project, A="cnry-1", B="cnry-2")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id, saying=ONE_STAYED)
    async with scene.database.writing() as unit:
        sync = await unit.secret_syncs.get(sync_id)
        assert sync is not None
        # As its creation is noted, which tells whose it is.
        await unit.audit(sync_event(scene.domain.admin, EventType.CREATE_SECRET_SYNC, sync))
    url = own_database.engine_url(tmp_path)
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(go_back, scene.database.keyring)
    await engine.dispose()
    remote.forget_calls()
    scene.terms = replace(FAST, look_interval=timedelta(seconds=1))
    upgraded = Database(url, scene.clock)
    await upgraded.prepare()
    scene.database.unlock(Keyring(scene.database.keyring.roots))
    await unlock_with(upgraded, scene.database.keyring)
    async with upgraded.following(), scene.running(upgraded):

        async def looked() -> bool:
            return remote.listings >= 2

        await until(looked, awaited="two looks")
        assert remote.writes == 0
        assert await scene.pushed(sync_id) == ["A", "B"]
    scene.terms = FAST
    await scene.put(project, A="cnry-3")
    await scene.delete(project, "B")
    async with scene.running(upgraded):
        await scene.holds(remote, A="cnry-3", OTHERS="x")
    assert (remote.puts, remote.deletes) == (["A"], ["B"])
    await upgraded.close()


async def test_a_sync_of_which_nobody_knows_who_made_it_stops_and_what_was_pushed_stays(
    scene: SyncScene, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    remote = scene.remotes["one"]
    await scene.put(project, A="cnry-1")
    async with scene.running():
        sync_id = await scene.sync(project)
        await scene.succeeded(sync_id)
    url = own_database.engine_url(tmp_path)
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(go_back, scene.database.keyring)
    await engine.dispose()
    upgraded = Database(url, scene.clock)
    await upgraded.prepare()
    scene.database.unlock(Keyring(scene.database.keyring.roots))
    await unlock_with(upgraded, scene.database.keyring)

    await scene.delete(project, "A")
    await scene.ask(sync_id)
    async with upgraded.following(), scene.running(upgraded):
        assert "no owner" in await scene.failed(sync_id)

    assert remote.content == {"A": "cnry-1"}
    await upgraded.close()
