"""Which database a test runs on, and a database for one test alone.

Tests run on SQLite. A test or module that is marked `every_database` runs on PostgreSQL too, in `make test-deep`;
its id then ends with the name of the database.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import URL

from keybearer.base.clock import SystemClock
from keybearer.store.database import Database
from keybearer.store.engines import database_url, sqlite_url
from tools.local.postgres import PostgresServer
from tools.local.waiting import PATIENCE_SECONDS

__all__ = [
    "OwnDatabase",
    "database_kind",
    "new_database",
    "own_database",
    "pytest_generate_tests",
    "sqlite_with_tables",
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the test on SQLite, and on PostgreSQL as well if it is marked so."""
    if "database_kind" not in metafunc.fixturenames:
        return
    # All tests name their database, so that what they share in a session stays from one to the next.
    kinds = [pytest.param("sqlite", id=pytest.HIDDEN_PARAM)]
    if metafunc.definition.get_closest_marker("every_database") is not None:
        kinds.append(pytest.param("postgresql", marks=pytest.mark.deep))
    metafunc.parametrize("database_kind", kinds, indirect=True, scope="session")


@pytest.fixture(scope="session")
def database_kind(request: pytest.FixtureRequest) -> str:
    """Return `sqlite` or `postgresql`."""
    return str(request.param)


@dataclass(frozen=True)
class OwnDatabase:
    """A database that one test has for itself: in a data directory, or in the server of this run."""

    server: PostgresServer | None = None
    name: str = ""

    @property
    def url(self) -> str | None:
        """What `keybearer serve` is given as `--database-url`; nothing for SQLite."""
        return None if self.server is None else self.server.url(self.name)

    def engine_url(self, data_dir: Path) -> URL:
        """Return what the store opens."""
        return sqlite_with_tables(data_dir) if self.url is None else database_url(self.url)

    def execute(self, data_dir: Path, statement: str) -> str:
        """Run a statement behind the service's back, as who stole the database would."""
        if self.server is not None:
            return self.server.execute(self.name, statement)
        with closing(sqlite3.connect(_file(data_dir), timeout=PATIENCE_SECONDS)) as connection, connection:
            rows = connection.execute(statement).fetchall()
        return "".join("|".join(map(str, row)) + "\n" for row in rows)

    def files(self, data_dir: Path) -> list[Path]:
        """Return the files that hold it."""
        if self.server is not None:
            return self.server.files_of(self.name)
        return [file for file in data_dir.iterdir() if file.name.startswith(_file(data_dir).name)]


def new_database(kind: str, request: pytest.FixtureRequest) -> OwnDatabase:
    """Return a database of this kind with the tables of this version and nothing in it.

    One of PostgreSQL stays until it is dropped, or until the server of this run ends.
    """
    if kind == "sqlite":
        return OwnDatabase()
    server: PostgresServer = request.getfixturevalue("postgres")
    return OwnDatabase(server, server.create())


@pytest.fixture
def own_database(database_kind: str, request: pytest.FixtureRequest) -> Iterator[OwnDatabase]:
    """Yield a database with the tables of this version and nothing in it; gone after the test."""
    own = new_database(database_kind, request)
    yield own
    if own.server is not None:
        own.server.drop(own.name)


def sqlite_with_tables(data_dir: Path) -> URL:
    """Return the URL of a data directory's database; a new one has the tables of this version and nothing in it."""
    file = _file(data_dir)
    if not file.exists():
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_bytes(_tables())
        file.chmod(0o600)
    return sqlite_url(file)


@cache
def _tables() -> bytes:
    """What the migrations make: a copy takes a hundredth of their time."""

    async def prepare(file: Path) -> None:
        database = Database(sqlite_url(file), SystemClock())
        try:
            await database.prepare()
        finally:
            await database.close()

    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(1) as thread:
        file = _file(Path(made))
        thread.submit(asyncio.run, prepare(file)).result()  # a test's own loop may run in this thread
        return file.read_bytes()


def _file(data_dir: Path) -> Path:
    return data_dir / "keybearer.db"
