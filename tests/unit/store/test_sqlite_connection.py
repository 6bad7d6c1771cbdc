"""keybearer.store.sqlite_connection, as SQLAlchemy uses it and beneath."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from keybearer.store.engines import sqlite_engine, sqlite_url
from keybearer.store.sqlite_connection import SqliteConnection, open_sqlite

BUSY = timedelta(milliseconds=50)
MAKE = text("CREATE TABLE fruits (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
ADD = text("INSERT INTO fruits (name) VALUES (:name)")
NAMES = text("SELECT name FROM fruits ORDER BY name")


class _Counted(SqliteConnection):
    """Counts the ways to its thread."""

    trips = 0

    async def _execute(self, fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        self.trips += 1
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "fruits.db"


@pytest.fixture
async def engine(file: Path) -> AsyncIterator[AsyncEngine]:
    engine = sqlite_engine(sqlite_url(file), size=1, wait=BUSY, begin="BEGIN IMMEDIATE", query_only=False)
    async with engine.begin() as connection:
        await connection.execute(MAKE)
    yield engine
    await engine.dispose()


async def test_each_statement_goes_to_the_thread_once_and_so_does_the_end(file: Path) -> None:
    def opener() -> sqlite3.Connection:
        return open_sqlite(str(file), busy=BUSY, query_only=False)

    counted = _Counted(opener, begin="BEGIN")

    async def connect() -> SqliteConnection:
        return await counted.opened()

    engine = create_async_engine(sqlite_url(file), async_creator=connect, pool_size=1)
    async with engine.begin() as connection:
        await connection.execute(MAKE)
    before = counted.trips
    async with engine.begin() as connection:
        for name in ("apple", "pear"):
            await connection.execute(ADD, {"name": name})
        assert list((await connection.execute(NAMES)).scalars()) == ["apple", "pear"]
    assert counted.trips - before == 4
    await engine.dispose()


async def test_a_statement_tells_what_it_found_and_what_it_changed(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        added = await connection.execute(ADD, [{"name": name} for name in ("apple", "fig", "pear")])
        assert added.rowcount == 3
        renamed = await connection.execute(text("UPDATE fruits SET name = upper(name) WHERE id > 1"))
        assert renamed.rowcount == 2
        gone = await connection.execute(text("DELETE FROM fruits WHERE id > 1 RETURNING id, name"))
        assert gone.rowcount == 2
        assert [row._asdict() for row in gone] == [{"id": 2, "name": "FIG"}, {"id": 3, "name": "PEAR"}]
        assert list((await connection.execute(NAMES)).scalars()) == ["apple"]


async def test_what_is_not_committed_is_undone_and_the_connection_goes_on(engine: AsyncEngine) -> None:
    with pytest.raises(IntegrityError):  # noqa: PT012 - the block is what is tested
        async with engine.begin() as connection:
            await connection.execute(ADD, {"name": "apple"})
            await connection.execute(ADD, {"name": "apple"})
    async with engine.begin() as connection:
        assert list((await connection.execute(NAMES)).scalars()) == []


async def test_a_transaction_begins_with_its_first_statement_as_the_engine_says(
    engine: AsyncEngine, file: Path
) -> None:
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
        async with engine.begin() as connection:
            await connection.execute(NAMES)
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN IMMEDIATE")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="locked"):
            async with engine.begin() as connection:
                await connection.execute(NAMES)
        other.execute("COMMIT")
        async with engine.begin() as connection:
            await connection.execute(ADD, {"name": "apple"})
        assert other.execute(str(NAMES)).fetchall() == [("apple",)]


async def test_of_a_task_that_was_cancelled_in_a_statement_nothing_is_left(engine: AsyncEngine) -> None:
    slowly = text(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) SELECT max(i) FROM n"
    )
    adding = asyncio.Event()

    async def add() -> None:
        async with engine.begin() as connection:
            await connection.execute(ADD, {"name": "apple"})
            adding.set()
            await connection.execute(slowly)

    task = asyncio.create_task(add())
    await adding.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with engine.begin() as connection:
        await connection.execute(ADD, {"name": "pear"})
        assert list((await connection.execute(NAMES)).scalars()) == ["pear"]


async def test_a_transaction_that_has_ended_by_itself_is_not_gone_on_with(engine: AsyncEngine) -> None:
    replacing = text("INSERT OR ROLLBACK INTO fruits (name) VALUES (:name)")
    async with engine.connect() as connection:
        await connection.execute(ADD, {"name": "apple"})
        with pytest.raises(IntegrityError):
            await connection.execute(replacing, {"name": "apple"})
        with pytest.raises(OperationalError, match="before its time"):
            await connection.execute(ADD, {"name": "pear"})
        await connection.rollback()
        assert list((await connection.execute(NAMES)).scalars()) == []


@pytest.fixture
def no_database(file: Path) -> Path:
    file.write_bytes(b"no database at all" * 100)
    return file


async def test_of_a_file_that_can_not_be_opened_no_thread_is_left(no_database: Path) -> None:
    before = set(threading.enumerate())
    connection = SqliteConnection(
        lambda: open_sqlite(str(no_database), busy=BUSY, query_only=False), begin="BEGIN IMMEDIATE"
    )
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        _ = await connection.opened()
    left = set(threading.enumerate()) - before
    assert [one.name for one in left if "worker_thread" in one.name] == []


@pytest.mark.usefixtures("engine")
async def test_who_may_only_read_writes_nothing(file: Path) -> None:
    reader = sqlite_engine(sqlite_url(file), size=1, wait=BUSY, begin="BEGIN", query_only=True)
    with pytest.raises(OperationalError, match="readonly"):
        async with reader.begin() as connection:
            await connection.execute(ADD, {"name": "apple"})
    await reader.dispose()
