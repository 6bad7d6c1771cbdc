"""Rotation of keys, stopped between any two of its transactions, and seen by several processes."""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import URL

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.domain.access import ProjectRef
from keybearer.domain.errors import InvalidError
from keybearer.domain.key_rotation import AT_THE_DATA_DIRECTORY, KeyRotation
from keybearer.domain.secrets.changes import ChangedSecret, NewSecret
from keybearer.domain.secrets.questions import SecretListing
from keybearer.domain.server_keys import RootKeySource
from keybearer.store.database import Database
from keybearer.store.engines import database_url
from keybearer.store.records import Project
from keybearer.store.sealing.envelope import SealingKey, key_id_of
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.sealing.root_key import RootKeys, create_root_key_file, parse_root_keys
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, at, service_domain
from support.unlocking import unlock_with
from tools.local.postgres import PostgresServer

COUNT = 7


def new_root() -> SealingKey:
    return parse_root_keys(base64.b64encode(os.urandom(32)).decode(), "this test").first


def id_of(root: SealingKey) -> str:
    return str(key_id_of(root.name))


@pytest.fixture
def url(own_database: OwnDatabase, tmp_path: Path) -> URL:
    return own_database.engine_url(tmp_path)


@pytest.fixture
async def domain(url: URL, tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path, url) as domain:
        yield domain


@pytest.fixture
async def project(domain: ServiceDomain) -> Project:
    """Return a project whose secrets have two versions each."""
    project = await domain.project("p-slug")
    new = [NewSecret(f"K{number}", f"cnry-1-{number}", comment="cnry-c") for number in range(COUNT)]
    await domain.writing.create(domain.admin, at(project), new)
    changes = [ChangedSecret(f"K{number}", f"cnry-2-{number}") for number in range(COUNT)]
    await domain.writing.update(domain.admin, at(project), changes)
    return project


async def values(domain: ServiceDomain, project: Project) -> dict[str, str]:
    """Return the present values, having opened all former ones and comments as well."""
    listed = await domain.listed(project, "/")
    assert isinstance(listed, SecretListing)
    async with domain.database.reading() as unit:
        for shown in listed.secrets:
            assert shown.secret.details.comment in {"cnry-c", ""}
            for version in range(1, shown.secret.version):
                former = await unit.secrets.version(shown.secret, version)
                assert former is not None
                assert former.value
                assert former.value.startswith("cnry-")
    return {shown.secret.key: shown.value for shown in listed.secrets}


async def advance(database: Database, project: Project, limit: int = 2) -> bool:
    async with database.writing() as unit:
        return await unit.resealing.advance(project.id, limit)


async def forget_keys(database: Database) -> None:
    """Begin with no data key in memory, as a process does that was started after a crash."""
    database.unlock(Keyring(database.keyring.roots))


async def test_everything_opens_between_any_two_transactions_of_a_data_key_rotation(
    domain: ServiceDomain, project: Project
) -> None:
    expected = {f"K{number}": f"cnry-2-{number}" for number in range(COUNT)}
    async with domain.database.writing() as unit:
        assert await unit.resealing.begin(project.id)
    transactions, more = 0, True
    while more:
        await forget_keys(domain.database)
        assert await values(domain, project) == expected
        more = await advance(domain.database, project)
        transactions += 1
    assert transactions > COUNT
    await forget_keys(domain.database)
    assert await values(domain, project) == expected
    async with domain.database.reading() as unit:
        assert await unit.resealing.data_keys() == 1
        assert await unit.resealing.under_way() == []


async def test_what_is_written_between_them_is_neither_lost_nor_sealed_with_the_former_key(
    domain: ServiceDomain, project: Project
) -> None:
    expected = {f"K{number}": f"cnry-2-{number}" for number in range(COUNT)}
    async with domain.database.writing() as unit:
        await unit.resealing.begin(project.id)
    number, more = 0, True
    while more:
        key = f"K{number % COUNT}"
        await domain.writing.update(domain.admin, at(project), [ChangedSecret(key, f"cnry-3-{number}")])
        await domain.writing.create(domain.admin, at(project), [NewSecret(f"N{number}", "cnry-new")])
        expected |= {key: f"cnry-3-{number}", f"N{number}": "cnry-new"}
        more = await advance(domain.database, project, 4)
        number += 1
    await forget_keys(domain.database)
    assert await values(domain, project) == expected


async def test_a_rotation_that_begins_again_in_the_middle_ends_with_the_latest_key_alone(
    domain: ServiceDomain, project: Project
) -> None:
    for _ in range(2):
        async with domain.database.writing() as unit:
            await unit.resealing.begin(project.id)
        await advance(domain.database, project)
    while await advance(domain.database, project):
        pass
    await forget_keys(domain.database)
    assert len(await values(domain, project)) == COUNT
    async with domain.database.reading() as unit:
        assert await unit.resealing.data_keys() == 1


async def test_the_rotation_of_a_project_that_is_deleted_ends(
    domain: ServiceDomain, project: Project
) -> None:
    async with domain.database.writing() as unit:
        await unit.resealing.begin(project.id)
    await domain.projects.delete(domain.admin, ProjectRef(id=project.id))
    assert not await advance(domain.database, project)
    async with domain.database.writing() as unit:
        assert await unit.resealing.under_way() == []
        assert not await unit.resealing.begin(project.id)


async def test_who_still_puts_the_former_root_key_first_wraps_with_the_active_one(
    domain: ServiceDomain, project: Project
) -> None:
    former, fresh = domain.database.keyring.roots.first, new_root()
    domain.database.unlock(Keyring(RootKeys(former, (fresh,))))
    async with domain.database.writing() as unit:
        await unit.root_keys.activate(fresh)
    later = await domain.project("later")
    async with domain.database.writing() as unit:
        records = {record.id: record for record in await unit.root_keys.records()}
        assert records[id_of(fresh)].wraps == 1
        assert await unit.root_keys.rewrap(100) > 0
    domain.database.unlock(Keyring(RootKeys(fresh)))
    assert len(await values(domain, project)) == COUNT
    assert await values(domain, later) == {}


async def test_a_process_without_the_active_root_key_wraps_nothing(domain: ServiceDomain) -> None:
    fresh = new_root()
    async with domain.database.writing() as unit:
        await unit.root_keys.active()
        await unit.root_keys.activate(fresh)
    with pytest.raises(ConfigurationError, match=id_of(fresh)):
        await domain.project("refused")


async def test_half_way_through_a_root_rotation_both_keys_are_needed(
    domain: ServiceDomain, project: Project
) -> None:
    former, fresh = domain.database.keyring.roots.first, new_root()
    await domain.project("another")
    domain.database.unlock(Keyring(RootKeys(fresh, (former,))))
    async with domain.database.writing() as unit:
        await unit.root_keys.activate(fresh)
        assert await unit.root_keys.rewrap(1) == 1
    for missing in (RootKeys(former), RootKeys(fresh)):
        domain.database.unlock(Keyring(missing))
        async with domain.database.reading() as unit:
            with pytest.raises(ConfigurationError, match="was not given"):
                await unit.root_keys.require_openable()
    domain.database.unlock(Keyring(RootKeys(fresh, (former,))))
    assert len(await values(domain, project)) == COUNT


class LaterClock(SystemClock):
    """Says what a test says."""

    later = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.later


async def test_a_process_that_died_holds_up_a_root_rotation_for_a_minute_only(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    name = postgres.create()
    clock = LaterClock()
    database = Database(database_url(postgres.url(name)), clock)
    path = tmp_path / "root.key"
    roots = create_root_key_file(path)
    await unlock_with(database, Keyring(roots))
    rotation = KeyRotation(database, RootKeySource(path), clock)
    async with database.writing() as unit:
        await unit.root_keys.hold("00000000-dead", roots.all, clock.now())
    await rotation.start()
    fresh = base64.b64encode(os.urandom(32)).decode()
    path.write_text(f"{fresh}\n{path.read_text()}")
    with pytest.raises(InvalidError, match="1 of 2 processes"):
        await rotation.begin_root(AT_THE_DATA_DIRECTORY)
    assert {root.state for root in (await rotation.stands()).roots} == {"active"}
    clock.later = timedelta(seconds=61)
    made = await rotation.begin_root(AT_THE_DATA_DIRECTORY)
    await rotation.finish()
    status = await rotation.stands()
    assert {root.id: root.state for root in status.roots}[made] == "active"
    assert (status.processes, status.lacking) == (1, 0)
    await rotation.close()
    await database.close()
    postgres.drop(name)


async def test_a_root_key_file_that_turns_bad_takes_nothing_away(url: URL, tmp_path: Path) -> None:
    path = tmp_path / "root.key"
    database = Database(url, SystemClock())
    await database.prepare()
    await unlock_with(database, Keyring(create_root_key_file(path)))
    rotation = KeyRotation(database, RootKeySource(path), SystemClock())
    await rotation.start()
    before = (await rotation.stands()).held
    path.write_text("half a fi")
    await rotation.start()
    assert (await rotation.stands()).held == before
    await database.close()
