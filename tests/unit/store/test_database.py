from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.base.ids import IdentityId, OrganizationId, ProjectId
from keybearer.store.audit import AuditRecord
from keybearer.store.database import Database
from keybearer.store.engines import database_url, sqlite_url
from keybearer.store.failures import BusyError
from keybearer.store.records import Organization, Project
from keybearer.store.revisions import Changes
from keybearer.store.sealing.envelope import SealingKey, key_name, new_key_material
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.sealing.root_key import RootKeys
from support.audit_house import told
from support.databases import OwnDatabase

pytestmark = pytest.mark.every_database

NOW = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
BEFORE = 10**18
"""A revision that the clock has not come to: from it on they are counted."""
HOME = Organization(OrganizationId("home"), "Home", "home", BEFORE, NOW)
PROJECT = Project(
    id=ProjectId("p"),
    organization_id=HOME.id,
    name="P",
    slug="p-slug",
    description=None,
    type="secret-manager",
    auto_capitalization=False,
    has_delete_protection=False,
    revision=BEFORE,
    created_at=NOW,
    updated_at=NOW,
)


@pytest.fixture
async def database(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(own_database.engine_url(tmp_path), SystemClock())
    await database.prepare()
    database.unlock(Keyring(RootKeys(SealingKey(key_name(uuid4(), 1), new_key_material()))))
    yield database
    await database.close()


async def test_what_was_written_is_read_back_to_the_millisecond(database: Database) -> None:
    async with database.writing() as unit:
        await unit.identities.add_organization(HOME)
        await unit.projects.add(PROJECT)
    async with database.reading() as unit:
        assert await unit.identities.organization(HOME.id) == HOME
        assert await unit.projects.find(HOME.id, IdentityId("nobody"), ids=["p"]) == [(PROJECT, None, False)]


async def test_an_error_in_the_block_undoes_all_of_it_and_publishes_nothing(database: Database) -> None:
    published: list[Changes] = []
    database.revisions.subscribe(published.append)
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block is what is tested
        async with database.writing() as unit:
            await unit.identities.add_organization(HOME)
            await unit.move_names(HOME.id)
            raise ZeroDivisionError
    async with database.reading() as unit:
        assert await unit.identities.is_empty()
    assert published == []


async def test_a_commit_publishes_what_it_moved_before_the_writer_goes_on(database: Database) -> None:
    published: list[Changes] = []
    database.revisions.subscribe(published.append)
    async with database.writing() as unit:
        await unit.identities.add_organization(HOME)
        await unit.projects.add(PROJECT)
        await unit.move_project(PROJECT.id)
        await unit.move_project(PROJECT.id)
        assert published == []
    assert [changes.revisions for changes in published] == [{"p": BEFORE + 1}]
    assert database.revisions.stands([("p", BEFORE + 1)])
    assert not database.revisions.stands([("p", BEFORE)])


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(DBAPIError, match=r"read-?only"):
        async with database.reading() as unit:
            await unit.identities.add_organization(HOME)


async def test_writers_of_a_project_wait_for_each_other_and_readers_for_nobody(database: Database) -> None:
    async with database.writing() as unit:
        await unit.identities.add_organization(HOME)
        await unit.projects.add(PROJECT)
    async with database.writing() as first:
        await first.move_project(PROJECT.id)
        second = asyncio.create_task(_move(database))
        async with database.reading() as unit:
            assert await unit.projects.revisions([PROJECT.id]) == {PROJECT.id: BEFORE}
        assert not second.done()
    await second
    async with database.reading() as unit:
        assert await unit.projects.revisions([PROJECT.id]) == {PROJECT.id: BEFORE + 2}


async def test_a_revision_that_was_lost_with_the_database_is_not_come_by_again(database: Database) -> None:
    began = (datetime.now(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    async with database.writing() as unit:
        await unit.identities.add_organization(replace(HOME, names_revision=1))
        await unit.projects.add(replace(PROJECT, revision=1))
        await unit.move_names(HOME.id)
        await unit.move_project(PROJECT.id)
        moved = dict(unit.changes.revisions)
    # As far as the clock: whatever was reached from a state of before lies behind.
    assert moved.keys() == {HOME.id, PROJECT.id}
    assert min(moved.values()) >= began


async def _move(database: Database) -> None:
    async with database.writing() as unit:
        await unit.move_project(PROJECT.id)


async def test_revisions_stand_until_somebody_moves_them(database: Database) -> None:
    async with database.writing() as unit:
        await unit.identities.add_organization(HOME)
        await unit.projects.add(PROJECT)
        await unit.move_names(HOME.id)
        await unit.move_project(PROJECT.id)
    seen = [(PROJECT.id, BEFORE + 1), (HOME.id, BEFORE + 1)]
    assert await database.still_stand(seen)
    assert not await database.still_stand([*seen, ("gone", 1)])
    await _move(database)
    assert not await database.still_stand(seen)


async def test_an_error_of_the_database_shows_no_parameter(database: Database) -> None:
    marked = Organization(OrganizationId("o"), "cnry-organization-name", "cnry-slug", 1, NOW)
    with pytest.raises((IntegrityError, BusyError)) as refused:  # noqa: PT012 - both rows are needed
        async with database.writing() as unit:
            await unit.identities.add_organization(marked)
            await unit.identities.add_organization(marked)
    error = refused.value if database.is_sqlite else refused.value.__cause__
    assert "cnry" not in str(error)
    assert "parameters hidden" in str(error)


async def test_a_file_survives_power_loss_by_its_settings(tmp_path: Path) -> None:
    database = Database(sqlite_url(tmp_path / "keybearer.db"), SystemClock())
    async with database._writer.connect() as connection:
        settings = [
            (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert settings == ["wal", 2, 1]
    await database.close()


async def test_a_unit_before_unlocking_cannot_reach_keys(tmp_path: Path) -> None:
    locked = Database(sqlite_url(tmp_path / "locked.db"), SystemClock())
    await locked.prepare()
    with pytest.raises(ConfigurationError, match="not unlocked"):
        async with locked.writing() as unit:
            await unit.keys.server_key("token signing")
    await locked.close()


async def test_before_unlocking_no_line_of_the_audit_log_is_written(tmp_path: Path) -> None:
    """Unlocking brings what chains them; a line without a chain would look as if somebody had put it in."""
    locked = Database(sqlite_url(tmp_path / "locked.db"), SystemClock())
    await locked.prepare()
    with pytest.raises(ConfigurationError, match="not unlocked"):
        async with locked.writing() as unit:
            await unit.audit(told("written"))
    record = AuditRecord.of(told("direct"), NOW)
    with pytest.raises(ConfigurationError, match="not unlocked"):
        await locked.write_directly(lambda _: None, [record])
    async with locked.reading() as unit:
        with pytest.raises(ConfigurationError, match="not unlocked"):
            unit.audit_log  # noqa: B018 - the question itself is refused
    await locked.close()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keybearer.db"
    path.write_bytes(b"cnry-this is no database" * 100)
    broken = Database(sqlite_url(path), SystemClock())
    with pytest.raises(ConfigurationError, match="can't be opened"):
        await broken.prepare()
    await broken.close()


async def test_data_keys_are_wrapped_anew_for_a_new_root_key(database: Database) -> None:
    old = database.keyring.roots.first
    async with database.writing() as unit:
        await unit.identities.add_organization(HOME)
        await unit.projects.add(PROJECT)
        data_key = await unit.keys.create(PROJECT.id)
        signing = await unit.keys.server_key("token signing")
    fresh = SealingKey(key_name(uuid4(), 1), new_key_material())
    database.unlock(Keyring(RootKeys(fresh, (old,))))
    async with database.writing() as unit:
        await unit.root_keys.activate(fresh)
    async with database.writing() as unit:
        assert await unit.root_keys.rewrap(limit=1) == 1
        assert set((await unit.root_keys.known()).values()) == {"active", "retiring"}
        assert await unit.root_keys.rewrap(limit=10) == 1
        assert await unit.root_keys.rewrap(limit=10) == 0
        assert set((await unit.root_keys.known()).values()) == {"active", "retired"}
    database.unlock(Keyring(RootKeys(fresh)))
    async with database.writing() as unit:
        assert (await unit.keys.active(PROJECT.id)).material == data_key.material
        assert await unit.keys.server_key("token signing") == signing


async def test_a_second_data_key_seals_and_the_first_still_opens(database: Database) -> None:
    async with database.writing() as unit:
        await unit.identities.add_organization(HOME)
        await unit.projects.add(PROJECT)
        first = await unit.keys.create(PROJECT.id)
        second = await unit.keys.create(PROJECT.id)
        assert (await unit.keys.active(PROJECT.id)).name == second.name
        opened = await unit.keys.opened([first.name, second.name])
    assert {name: key.material for name, key in opened.items()} == {
        first.name: first.material,
        second.name: second.material,
    }


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("cnry-nonsense", id="no URL"),
        pytest.param("mysql://u:cnry-password@host/db", id="another database"),
        pytest.param("sqlite:///x.db", id="SQLite by URL"),
    ],
)
def test_a_database_url_that_cannot_be_used_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        database_url(text)
    assert "cnry" not in str(refused.value)


def test_a_postgresql_url_needs_no_driver() -> None:
    url = database_url("postgresql://user@host/name")
    assert (url.drivername, url.host, url.database) == ("postgresql+asyncpg", "host", "name")
