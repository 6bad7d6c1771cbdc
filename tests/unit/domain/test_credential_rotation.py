"""Rotation of the key of auth methods, stopped between any two of its transactions, and beside writers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL, select, update

from keybearer.base.ids import IdentityId, new_uuid
from keybearer.domain.auth_methods import AuthMethods
from keybearer.domain.kubernetes_auth import KubernetesAuthTerms
from keybearer.domain.lockouts import Lockouts
from keybearer.domain.server_keys import ServerKeys
from keybearer.store.auth_methods import CREDENTIALS
from keybearer.store.database import Database
from keybearer.store.engines import database_url
from keybearer.store.records import Identity
from keybearer.store.sealing.envelope import UnsealError
from keybearer.store.tables.auth_methods import KubernetesAuthRow
from support.async_waiting import until
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, service_domain
from tools.local.postgres import PostgresServer

COUNT = 5
LOCKOUTS = Lockouts(ServerKeys(b"t" * 32, b"d" * 32, b"e" * 32, b"s" * 32))
TERMS = KubernetesAuthTerms(host="https://api.example.com", reviewer_token="cnry-0")


@pytest.fixture
def url(own_database: OwnDatabase, tmp_path: Path) -> URL:
    return own_database.engine_url(tmp_path)


@pytest.fixture
async def domain(url: URL, tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path, url) as domain:
        yield domain


@pytest.fixture
def name(postgres: PostgresServer) -> Iterator[str]:
    name = postgres.create()
    yield name
    postgres.drop(name)


def waiter(postgres: PostgresServer, name: str) -> Callable[[], Awaitable[bool]]:
    """Return the question whether somebody waits for a lock in the database."""
    statement = "SELECT datname FROM pg_stat_activity WHERE wait_event_type = 'Lock'"

    async def is_there() -> bool:
        return name in (await asyncio.to_thread(postgres.execute, "postgres", statement)).split()

    return is_there


async def filled(domain: ServiceDomain) -> list[IdentityId]:
    """Return identities with a token of a reviewer each."""
    made = []
    for number in range(COUNT):
        async with domain.database.writing() as unit:
            present = await unit.identities.get(domain.admin.identity_id)
            assert isinstance(present, Identity)
            identity = replace(present, id=IdentityId(new_uuid()), name=f"i{number}")
            await unit.identities.add(identity)
        terms = replace(TERMS, reviewer_token=f"cnry-{number}")
        await methods_of(domain).attach_kubernetes(domain.admin, identity.id, terms)
        made.append(identity.id)
    return made


def methods_of(domain: ServiceDomain) -> AuthMethods:
    return AuthMethods(domain.database, LOCKOUTS, domain.database.clock)


async def tokens(database: Database, identities: list[IdentityId]) -> list[str | None]:
    async with database.reading() as unit:
        found = [await unit.auth_methods.kubernetes(identity) for identity in identities]
    return [None if auth is None else auth.reviewer_token for auth in found]


async def begin(database: Database) -> None:
    async with database.writing() as unit:
        await unit.credential_resealing.begin()


async def advance(database: Database, limit: int = 2) -> int:
    async with database.writing() as unit:
        return await unit.credential_resealing.advance(limit)


async def finish(database: Database) -> bool:
    async with database.writing() as unit:
        return await unit.credential_resealing.finish()


async def keys(database: Database) -> int:
    async with database.reading() as unit:
        return len(await unit.keys.line(CREDENTIALS))


async def test_everything_opens_between_any_two_transactions(domain: ServiceDomain) -> None:
    identities = await filled(domain)
    expected = [f"cnry-{number}" for number in range(COUNT)]
    for _ in range(2):
        await begin(domain.database)
        remaining = COUNT
        while remaining:
            assert await tokens(domain.database, identities) == expected
            assert not await finish(domain.database)
            async with domain.database.reading() as unit:
                found = await unit.credential_resealing.under_way()
            assert found is not None
            assert found.remaining == remaining
            remaining -= await advance(domain.database)
        assert await advance(domain.database) == 0
        assert await finish(domain.database)
        assert await tokens(domain.database, identities) == expected
        assert await keys(domain.database) == 1
        async with domain.database.reading() as unit:
            assert await unit.credential_resealing.under_way() is None


async def test_a_token_that_is_moved_to_another_row_does_not_open(domain: ServiceDomain) -> None:
    one, other, *_ = await filled(domain)
    async with domain.database.writing() as unit:
        of_one = select(KubernetesAuthRow.reviewer_token).where(KubernetesAuthRow.identity_id == one)
        envelope = (await unit._connection.execute(of_one)).scalar_one()
        await unit._connection.execute(
            update(KubernetesAuthRow)
            .where(KubernetesAuthRow.identity_id == other)
            .values(reviewer_token=envelope)
        )
    with pytest.raises(UnsealError):
        await tokens(domain.database, [other])
    assert await tokens(domain.database, [one]) == ["cnry-0"]


async def test_what_is_written_between_them_needs_no_former_key(domain: ServiceDomain) -> None:
    identities = await filled(domain)
    await begin(domain.database)
    await advance(domain.database)
    for number, identity in enumerate(identities):
        async with domain.database.writing() as unit:
            former = await unit.auth_methods.kubernetes(identity, for_change=True)
            assert former is not None
            await unit.auth_methods.update_kubernetes(replace(former, reviewer_token=f"cnry-new-{number}"))
    assert await finish(domain.database)
    assert await tokens(domain.database, identities) == [f"cnry-new-{number}" for number in range(COUNT)]


async def test_a_rotation_that_begins_again_in_the_middle_ends_with_the_latest_key_alone(
    domain: ServiceDomain,
) -> None:
    identities = await filled(domain)
    for _ in range(3):
        await begin(domain.database)
        await advance(domain.database)
    assert await keys(domain.database) == 4
    while await advance(domain.database):
        pass
    assert await finish(domain.database)
    assert await keys(domain.database) == 1
    assert await tokens(domain.database, identities) == [f"cnry-{number}" for number in range(COUNT)]


async def test_the_end_waits_for_who_seals_with_a_former_key_and_leaves_it_then(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    async with service_domain(tmp_path, database_url(postgres.url(name))) as domain:
        identities = await filled(domain)
        async with domain.database.writing() as unit:
            former = await unit.auth_methods.kubernetes(identities[0], for_change=True)
            assert former is not None
            await unit.auth_methods.update_kubernetes(replace(former, reviewer_token="cnry-late"))
            # Seen by nobody yet, and sealed with what is a former key in a moment.
            await begin(domain.database)
            while await advance(domain.database):
                pass
            ending = asyncio.create_task(finish(domain.database))
            await until(waiter(postgres, name), awaited="the end that waits")
        assert await ending is False
        assert (await tokens(domain.database, identities))[0] == "cnry-late"
        assert await advance(domain.database) == 1
        assert await finish(domain.database)
        assert (await tokens(domain.database, identities))[0] == "cnry-late"


async def test_who_waited_for_the_end_seals_with_the_latest_key(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    async with service_domain(tmp_path, database_url(postgres.url(name))) as domain:
        identities = await filled(domain)
        await methods_of(domain).detach_kubernetes(domain.admin, identities[0])
        async with domain.database.writing() as unit:
            # The whole rotation in one transaction, so that whoever comes meanwhile sees the former key alone.
            await unit.credential_resealing.begin()
            latest, *former = await unit.keys.line(CREDENTIALS)
            assert await unit.credential_resealing.advance(COUNT) == COUNT - 1
            await unit.keys.hold([record.id for record in former])
            terms = replace(TERMS, reviewer_token="cnry-late")
            attaching = asyncio.create_task(
                methods_of(domain).attach_kubernetes(domain.admin, identities[0], terms)
            )
            await until(waiter(postgres, name), awaited="the one who waits")
            assert await unit.credential_resealing.finish()
        await attaching
        async with domain.database.reading() as unit:
            assert await unit.keys.line(CREDENTIALS) == [latest]
        expected = ["cnry-late", *(f"cnry-{number}" for number in range(1, COUNT))]
        assert await tokens(domain.database, identities) == expected
