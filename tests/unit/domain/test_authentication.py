"""Rules of time, with a clock that the test turns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Select, event

from keybearer.base.errors import ConfigurationError
from keybearer.base.ids import IdentityId
from keybearer.domain.authentication import Authentication
from keybearer.domain.authorization import Principal
from keybearer.domain.bootstrap import AdminCredentials, bootstrap
from keybearer.domain.errors import UnauthenticatedError
from keybearer.domain.identities import Identities
from keybearer.domain.issuing import IssuedToken
from keybearer.domain.server_keys import RootKeySource, ServerKeys, unlock
from keybearer.domain.universal_auth import UniversalAuthChange
from keybearer.store.database import Database
from keybearer.store.engines import database_url
from support.databases import sqlite_with_tables
from support.virtual_time import VirtualTime


@dataclass
class House:
    """A service without HTTP, and its admin."""

    clock: VirtualTime
    database: Database
    keys: ServerKeys
    admin: AdminCredentials
    authentication: Authentication
    identities: Identities

    async def login(self, secret: str | None = None) -> IssuedToken:
        given = self.admin.client_secret if secret is None else secret
        return await self.authentication.login_universal(self.admin.client_id, given, None, "127.0.0.1")

    async def who(self, issued: IssuedToken) -> Principal:
        return await self.authentication.authenticate(issued.text, "127.0.0.1")

    async def change(self, change: UniversalAuthChange) -> None:
        principal = await self.who(await self.login())
        await self.identities.change_universal_auth(principal, self.admin.identity_id, change)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock = VirtualTime()
    database = Database(sqlite_with_tables(tmp_path), clock)
    await database.prepare()
    keys = await unlock(database, RootKeySource(tmp_path / "root.key"))
    made: list[AdminCredentials] = []
    assert await bootstrap(database, keys, clock, made.append)
    yield House(
        clock,
        database,
        keys,
        made[0],
        Authentication(database, keys, clock),
        Identities(database, keys, clock),
    )
    await database.close()


async def refused(attempt: Awaitable[object], message: str) -> None:
    with pytest.raises(UnauthenticatedError, match=message):
        await attempt


async def test_bootstrap_happens_once(house: House) -> None:
    made: list[AdminCredentials] = []
    assert not await bootstrap(house.database, house.keys, house.clock, made.append)
    assert made == []


async def test_credentials_that_cannot_be_handed_over_leave_an_empty_database(tmp_path: Path) -> None:
    database = Database(sqlite_with_tables(tmp_path), VirtualTime())
    await database.prepare()
    keys = await unlock(database, RootKeySource(tmp_path / "root.key"))

    def full_disk(_: AdminCredentials) -> None:
        msg = "no space left"
        raise ConfigurationError(msg)

    with pytest.raises(ConfigurationError):
        await bootstrap(database, keys, VirtualTime(), full_disk)
    made: list[AdminCredentials] = []
    assert await bootstrap(database, keys, VirtualTime(), made.append)
    await database.close()


async def test_a_token_ends_with_its_ttl_also_when_it_was_just_checked(house: House) -> None:
    await house.change(UniversalAuthChange(access_token_ttl=5))
    token = await house.login()
    await house.who(token)
    await house.clock.advance(4.9)
    await house.who(token)
    await house.clock.advance(0.1)
    await refused(house.who(token), "expired")
    await refused(house.authentication.renew(token.text, "127.0.0.1"), "expired")


async def test_a_renewed_token_lives_on_and_the_old_text_ends(house: House) -> None:
    await house.change(UniversalAuthChange(access_token_ttl=100, access_token_max_ttl=250))
    token = await house.login()
    await house.clock.advance(90)
    renewed = await house.authentication.renew(token.text, "127.0.0.1")
    assert renewed.terms.expires_in == 100
    await house.clock.advance(50)
    await refused(house.who(token), "expired")
    assert (await house.who(renewed)).identity_id == house.admin.identity_id
    await house.clock.advance(10)
    again = await house.authentication.renew(renewed.text, "127.0.0.1")
    await house.clock.advance(60)
    # At 210 of 250 seconds a lifetime of 100 would pass the max TTL.
    await refused(house.authentication.renew(again.text, "127.0.0.1"), "past its Max TTL expiration")
    await house.who(again)


async def test_without_ttl_a_token_ends_with_its_max_ttl(house: House) -> None:
    await house.change(UniversalAuthChange(access_token_ttl=0, access_token_max_ttl=60))
    token = await house.login()
    await house.clock.advance(59)
    await house.who(token)
    await house.clock.advance(1)
    await refused(house.who(token), "expired")


async def test_a_periodic_token_lives_as_long_as_it_is_renewed(house: House) -> None:
    await house.change(UniversalAuthChange(access_token_period=60))
    token = await house.login()
    for _ in range(100):
        await house.clock.advance(59)
        token = await house.authentication.renew(token.text, "127.0.0.1")
    await house.who(token)
    await house.clock.advance(60)
    await refused(house.who(token), "expired")


async def test_a_lockout_ends_with_its_duration(house: House) -> None:
    for _ in range(3):
        await refused(house.login("cnry-wrong"), "Invalid credentials")
    await refused(house.login(), "temporarily locked")
    await house.clock.advance(299)
    await refused(house.login(), "temporarily locked")
    await house.clock.advance(1)
    await house.login()


async def test_failures_far_apart_do_not_lock(house: House) -> None:
    for _ in range(6):
        await refused(house.login("cnry-wrong"), "Invalid credentials")
        await house.clock.advance(31)
    await house.login()


async def test_an_expired_client_secret_is_told_once_and_revoked(house: House) -> None:
    principal = await house.who(await house.login())
    issued, _ = await house.identities.create_client_secret(
        principal, house.admin.identity_id, description="", ttl=60, num_uses_limit=0
    )
    await house.clock.advance(59)
    token = await house.login(issued.text)
    await house.clock.advance(1)
    await refused(house.login(issued.text), "Access denied due to expired client secret")
    await refused(house.login(issued.text), "Invalid credentials")
    await house.who(token)


async def test_expired_tokens_are_forgotten_at_the_next_login(house: House) -> None:
    await house.change(UniversalAuthChange(access_token_ttl=5))
    for _ in range(3):
        await house.login()
    await house.clock.advance(6)
    await house.login()
    async with house.database.writing() as unit:
        # What is left: the admin's first token, of 30 days, and the last one.
        assert len(await unit.credentials.delete_tokens_of(IdentityId(house.admin.identity_id))) == 2


async def test_a_check_that_was_just_made_asks_no_database(house: House) -> None:
    token = await house.login()
    await house.who(token)
    await house.database.close()
    assert (await house.who(token)).identity_id == house.admin.identity_id


async def test_a_second_look_comes_after_ten_seconds(house: House) -> None:
    token = await house.login()
    await house.who(token)
    async with house.database.writing() as unit:
        # As another replica would do it, which this process hears nothing of.
        await unit.credentials.delete_tokens_of(IdentityId(house.admin.identity_id))
    await house.who(token)
    await house.clock.advance(10)
    await refused(house.who(token), "not allowed")


async def test_neither_client_secret_nor_token_shows_in_a_repr(house: House) -> None:
    token = await house.login()
    assert token.text not in repr(token)
    assert house.admin.client_secret not in repr(house.admin)
    assert house.keys.token_signing.hex() not in repr(house.keys)


async def test_logins_revocations_and_counted_uses_take_turns_at_their_row(house: House) -> None:
    dialect = database_url("postgresql://host/name").get_dialect()()
    locked: list[str] = []

    def note(_: object, statement: object, *__: object) -> None:
        # SQLite has no such lock, and needs none with its one writer: what PostgreSQL would be told counts.
        if isinstance(statement, Select):
            told = " ".join(str(statement.compile(dialect=dialect)).split())
            if told.endswith(" FOR UPDATE"):
                locked.append(told.split(" FROM ")[1].split()[0])

    def locks() -> list[str]:
        taken = locked.copy()
        locked.clear()
        return taken

    principal = await house.who(await house.login())
    identity_id = house.admin.identity_id
    issued, _ = await house.identities.create_client_secret(
        principal, identity_id, description="", ttl=0, num_uses_limit=0
    )
    await house.change(UniversalAuthChange(access_token_num_uses_limit=5))
    event.listen(house.database._writer.sync_engine, "before_execute", note)
    token = await house.login(issued.text)
    assert locks() == ["universal_auths"]
    await house.who(token)
    assert locks() == ["access_tokens"]
    await house.identities.revoke_client_secret(principal, identity_id, issued.record.id)
    assert locks() == ["universal_auths"]
    await house.identities.change_universal_auth(principal, identity_id, UniversalAuthChange())
    assert locks() == ["universal_auths"]
    await house.identities.delete_universal_auth(principal, identity_id)
    assert locks() == ["universal_auths"]
