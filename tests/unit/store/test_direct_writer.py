"""keybearer.store.direct_writer, by way of the database that gives turns to write."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.base.ids import OrganizationId
from keybearer.store.database import Database
from keybearer.store.engines import Bounds, database_url
from keybearer.store.failures import BusyError, NoRoomError, RaceError
from keybearer.store.records import Organization
from support.databases import sqlite_with_tables
from tools.local.waiting import PATIENCE_SECONDS

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ADD = (
    "INSERT INTO organizations (id, name, slug, names_revision, created_at)"
    " VALUES ('direct', 'Direct', 'direct', 1, 0)"
)
ADD_ORPHAN = (
    "INSERT INTO certificate_policies (id, project_id, name, rules, created_at, updated_at)"
    " VALUES ('p', 'gone', 'p', '{}', 0, 0)"
)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with _opened(tmp_path, Bounds()) as database:
        yield database


@pytest.fixture
async def impatient(tmp_path: Path) -> AsyncIterator[Database]:
    """Yield a database that is told soon that others are busy: sooner than a disk may take to keep a commit."""
    async with _opened(tmp_path, Bounds(wait=timedelta(milliseconds=200))) as database:
        yield database


@asynccontextmanager
async def _opened(directory: Path, bounds: Bounds) -> AsyncIterator[Database]:
    database = Database(sqlite_with_tables(directory), SystemClock(), bounds)
    await database.prepare()
    try:
        yield database
    finally:
        await database.close()


async def _names(database: Database) -> list[str]:
    def ask(cursor: sqlite3.Cursor) -> list[str]:
        return [name for (name,) in cursor.execute("SELECT id FROM organizations ORDER BY id")]

    return await database.write_directly(ask)


async def test_what_was_written_is_there_for_everybody(database: Database) -> None:
    await database.write_directly(lambda cursor: cursor.execute(ADD))
    async with database.reading() as unit:
        assert await unit.identities.organization(OrganizationId("direct")) is not None


async def test_what_fails_is_undone_and_the_next_goes_on(database: Database) -> None:
    def fail(cursor: sqlite3.Cursor) -> None:
        cursor.execute(ADD)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.write_directly(fail)
    assert await _names(database) == []


async def test_a_row_that_refers_to_nothing_met_another_change(database: Database) -> None:
    with pytest.raises(RaceError):
        await database.write_directly(lambda cursor: cursor.execute(ADD_ORPHAN))


async def test_it_survives_power_loss_by_its_settings(database: Database) -> None:
    def ask(cursor: sqlite3.Cursor) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await database.write_directly(ask) == ["wal", 2, 1]


async def test_writers_of_both_kinds_wait_for_each_other(database: Database) -> None:
    async with database.writing() as unit:
        direct = asyncio.create_task(database.write_directly(lambda cursor: cursor.execute(ADD)))
        await unit.identities.add_organization(Organization(OrganizationId("o"), "O", "o", 1, NOW))
        assert not direct.done()
    await direct
    assert await _names(database) == ["direct", "o"]


async def test_another_program_that_holds_the_file_is_told_of_as_busy(
    impatient: Database, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "keybearer.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError):
            await impatient.write_directly(lambda cursor: cursor.execute(ADD))


async def test_a_full_volume_is_told_of_and_the_next_goes_on(database: Database) -> None:
    def fill(cursor: sqlite3.Cursor) -> None:
        cursor.execute("PRAGMA max_page_count = 1")  # which is raised to what there is
        cursor.execute("CREATE TABLE large AS SELECT randomblob(1000000) AS content")

    with pytest.raises(NoRoomError, match="is full"):
        await database.write_directly(fill)

    def make_room(cursor: sqlite3.Cursor) -> None:
        cursor.execute("PRAGMA max_page_count = 1000000")
        cursor.execute(ADD)

    await database.write_directly(make_room)
    assert await _names(database) == ["direct"]


async def test_who_gives_up_keeps_the_turn_until_the_thread_is_done(impatient: Database) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait(cursor: sqlite3.Cursor) -> None:
        cursor.execute(ADD)
        begun.set()
        go_on.wait(PATIENCE_SECONDS)

    task = asyncio.create_task(impatient.write_directly(wait))
    assert await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
    task.cancel()
    with pytest.raises(BusyError):
        await _names(impatient)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _names(impatient) == ["direct"]


async def test_only_sqlite_is_written_directly() -> None:
    database = Database(database_url("postgresql://nobody@127.0.0.1:1/none"), SystemClock())
    with pytest.raises(ConfigurationError):
        await database.write_directly(lambda cursor: cursor.execute(ADD))
    await database.close()
