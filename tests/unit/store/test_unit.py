from __future__ import annotations

from collections.abc import AsyncIterator
from inspect import getmembers
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork
from support.databases import sqlite_with_tables
from support.unlocking import unlock_with


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(sqlite_with_tables(tmp_path), SystemClock())
    await database.prepare()
    await unlock_with(database)
    yield database
    await database.close()


async def test_a_unit_that_reads_secrets_builds_no_other_repository(database: Database) -> None:
    async with database.reading() as unit:
        untouched = _built(unit)
        assert not await unit.secrets.has_overrides("nobody")
        built = _built(unit) - untouched
    assert untouched == {"Keyring"}
    assert built == {"Secrets", "Keys", "RootKeyring", "PlaceSeals", "FolderSeals"}


async def test_each_repository_is_built_once(database: Database) -> None:
    async with database.reading() as unit:
        first = _repositories(unit)
        again = _repositories(unit)
    assert len(first) > 30
    assert [name for name, one in first.items() if again[name] is not one] == []


async def test_repositories_share_what_the_unit_changes(database: Database) -> None:
    async with database.reading() as unit:
        sharing = [vars(one)["_changes"] for one in _repositories(unit).values() if "_changes" in vars(one)]
        assert len(sharing) > 3
        assert all(one is unit.changes for one in sharing)


def _repositories(unit: UnitOfWork) -> dict[str, object]:
    return {
        name: one
        for name, one in getmembers(unit)
        if type(one).__module__.startswith("keybearer.store.") and one is not unit.changes
    }


def _built(unit: UnitOfWork) -> set[str]:
    stored = [one for one in vars(unit).values() if one is not unit.changes]
    return {type(one).__name__ for one in stored if type(one).__module__.startswith("keybearer.store.")}
