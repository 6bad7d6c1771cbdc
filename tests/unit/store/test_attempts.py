"""An operation that another change met is begun anew, as long as nothing of it was committed."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.ids import OrganizationId
from keybearer.store.attempts import repeated
from keybearer.store.database import Database
from keybearer.store.engines import Bounds, database_url, sqlite_url
from keybearer.store.failures import BusyError, RaceError
from keybearer.store.records import Organization
from tools.local.postgres import PostgresServer

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BEFORE = 10**18
"""A revision that the clock has not come to: from it on they are counted."""
HOMES = [Organization(OrganizationId(name), name, name, BEFORE, NOW) for name in ("one", "two")]


@pytest.fixture
def name(postgres: PostgresServer) -> Iterator[str]:
    name = postgres.create()
    yield name
    postgres.drop(name)


@pytest.fixture
async def database(postgres: PostgresServer, name: str) -> AsyncIterator[Database]:
    database = Database(database_url(postgres.url(name)), SystemClock())
    await database.prepare()
    async with database.writing() as unit:
        for home in HOMES:
            await unit.identities.add_organization(home)
    yield database
    await database.close()


class Crossing:
    """Two that move the names of both organizations, each beginning with another one: both hold what the other wants.

    The first attempts wait for each other in between, so that they surely meet.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._met = asyncio.Barrier(2)
        self.begun = 0

    async def move(self, first: int) -> None:
        """Move both, in this order."""
        self.begun += 1
        is_first_attempt = self.begun <= 2
        async with self._database.writing() as unit:
            await unit.move_names(HOMES[first].id)
            if is_first_attempt:
                await self._met.wait()
            await unit.move_names(HOMES[1 - first].id)


async def moves(database: Database) -> list[int]:
    async with database.reading() as unit:
        found = [await unit.identities.organization(home.id) for home in HOMES]
    return [home.names_revision - BEFORE for home in found if home is not None]


async def test_two_who_lock_each_other_out_both_succeed(database: Database) -> None:
    crossing = Crossing(database)
    await asyncio.gather(*(repeated(partial(crossing.move, first)) for first in range(2)))
    # One was begun anew, and maybe twice: it may take the row that it gave up before the other, which waits, wakes.
    assert crossing.begun >= 3
    assert await moves(database) == [2, 2]


async def test_without_another_attempt_one_of_them_is_refused_and_undone(database: Database) -> None:
    crossing = Crossing(database)
    outcomes = await asyncio.gather(*(crossing.move(first) for first in range(2)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if outcome is not None] == [RaceError]
    assert await moves(database) == [1, 1]


async def add_taken(database: Database) -> None:
    async with database.writing() as unit:
        await unit.identities.add_organization(HOMES[0])


async def test_who_meets_others_each_time_is_refused_in_the_end(database: Database) -> None:
    begun = 0

    async def add() -> None:
        nonlocal begun
        begun += 1
        await add_taken(database)

    with pytest.raises(RaceError):
        await repeated(add)
    assert begun == 6


async def test_an_operation_is_not_begun_anew_after_one_of_its_units_was_committed(
    database: Database,
) -> None:
    async def add() -> None:
        async with database.writing() as unit:
            await unit.move_names(HOMES[0].id)
        await add_taken(database)

    with pytest.raises(RaceError):
        await repeated(add)
    assert await moves(database) == [1, 0]


async def test_an_operation_before_it_does_not_count(database: Database) -> None:
    begun = 0

    async def move() -> None:
        async with database.writing() as unit:
            await unit.move_names(HOMES[0].id)

    async def add() -> None:
        nonlocal begun
        begun += 1
        if begun == 1:
            await add_taken(database)

    await repeated(move)
    await repeated(add)
    assert begun == 2


async def test_what_others_refuse_is_refused_at_once() -> None:
    begun = 0

    async def fail() -> None:
        nonlocal begun
        begun += 1
        raise BusyError("no turn")

    with pytest.raises(BusyError):
        await repeated(fail)
    assert begun == 1


async def test_a_file_that_another_program_writes_to_is_busy_and_nothing_worse(tmp_path: Path) -> None:
    file = tmp_path / "keybearer.db"
    database = Database(sqlite_url(file), SystemClock(), Bounds(wait=timedelta(milliseconds=50)))
    await database.prepare()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="kept the database busy"):
            await add_taken(database)
        other.execute("ROLLBACK")
    await add_taken(database)
    await database.close()
