"""A user is deleted while somebody else writes where the user's personal secrets are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import URL

from keybearer.base.clock import SystemClock
from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.authorization import OrganizationRole
from keybearer.domain.passwords import Passwords
from keybearer.domain.secrets.changes import NewSecret
from keybearer.domain.secrets.questions import SecretListing
from keybearer.domain.server_keys import ServerKeys
from keybearer.domain.user_login import PasswordGate
from keybearer.domain.users import NewUser, Users, make_user
from keybearer.store.database import Database
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.secret_places import Location
from support.async_waiting import until
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, at, service_domain
from support.unlocking import unlock_with

pytestmark = pytest.mark.every_database

_DEV, _ROOT = EnvironmentSlug("dev"), FolderPath("/")
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture
def url(own_database: OwnDatabase, tmp_path: Path) -> URL:
    return own_database.engine_url(tmp_path)


@pytest.fixture
async def domain(url: URL, tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path, url) as opened:
        yield opened


@pytest.fixture
async def other_replica(
    domain: ServiceDomain, url: URL, own_database: OwnDatabase
) -> AsyncIterator[Database]:
    """Another process on the same database; the same one where there can be only one."""
    if own_database.server is None:
        yield domain.database
        return
    database = Database(url, SystemClock())
    await database.prepare()
    await unlock_with(database, domain.database.keyring)
    yield database
    await database.close()


def _users(database: Database) -> Users:
    clock, passwords = SystemClock(), Passwords()
    keys = ServerKeys(b"t" * 32, b"d" * 32, b"e" * 32, b"s" * 32)
    return Users(database, passwords, PasswordGate(database, keys, passwords, clock), clock)


async def test_a_folder_stays_readable_whose_secret_is_renamed_under_what_a_former_member_kept_there(
    domain: ServiceDomain, other_replica: Database, own_database: OwnDatabase, tmp_path: Path
) -> None:
    project = await domain.project("left")
    await domain.writing.create(domain.admin, at(project), [NewSecret("OLD", "value")])
    new = NewUser("ada@example.com", "", OrganizationRole.MEMBER)
    async with domain.database.writing() as unit:
        user = await make_user(unit, domain.admin.organization_id, new, "hash", SystemClock().now())
        [old] = await unit.secrets.at(project.id, [Location(_DEV, _ROOT, "OLD")])
        override = replace(old, id=str(uuid4()), owner=user.identity.id, value="mine", version=1)
        await unit.secrets.insert(project.id, [override])

    async def waits() -> bool:
        return int(own_database.execute(tmp_path, _WAITING)) > 0

    async with domain.database.writing() as unit:
        await unit.move_project(project.id)
        renamed = replace(old, key="NEW", version=2)
        await unit.secrets.update(project.id, [renamed])
        await unit.secrets.move_overrides(old, renamed)
        deleting = asyncio.create_task(_users(other_replica).delete(domain.admin, user.identity.id))
        if own_database.server is not None:
            await until(waits, awaited="a writer that waits for another")
        assert not deleting.done()
    await deleting

    domain.database.unlock(Keyring(domain.database.keyring.roots))
    listing = await domain.listed(project, "/")
    assert isinstance(listing, SecretListing)
    assert [shown.secret.key for shown in listing.secrets] == ["NEW"]
    async with domain.database.reading() as unit:
        for owner in (user.identity.id, domain.admin.identity_id):
            kept = await unit.secrets.overrides(
                project.id, _DEV, _ROOT, owner, recursive=False, with_values=True
            )
            assert kept == []
