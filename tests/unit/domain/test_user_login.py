"""Rules of time and of locks, with a clock that the test turns."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from keybearer.domain.admin import InstanceSetup, SetupDoor, SetUpInstance, organization_slug
from keybearer.domain.authentication import Authentication
from keybearer.domain.authorization import ActorKind, OrganizationRole, Principal
from keybearer.domain.errors import ForbiddenError, InvalidError, UnauthenticatedError
from keybearer.domain.identities import Identities
from keybearer.domain.passwords import Passwords
from keybearer.domain.server_keys import RootKeySource, unlock
from keybearer.domain.user_login import PasswordGate, UserLogins
from keybearer.domain.users import NewUser, UserChange, Users
from keybearer.store.database import Database
from keybearer.store.tables.users import LoginFailureRow
from support.databases import sqlite_with_tables
from support.virtual_time import VirtualTime

HERE, ELSEWHERE = "127.0.0.1", "192.0.2.7"
EMAIL, PASSWORD = "ada@example.com", "cnry-correct horse"
PASSWORDS = Passwords()


@dataclass
class House:
    """A service without HTTP that was set up."""

    clock: VirtualTime
    database: Database
    gate: PasswordGate
    logins: UserLogins
    users: Users
    identities: Identities
    authentication: Authentication
    setup: InstanceSetup
    made: SetUpInstance

    async def login(self, password: str = PASSWORD, email: str = EMAIL, address: str = HERE) -> Principal:
        issued = await self.logins.login(email, password, address)
        return await self.authentication.authenticate(issued.text, "127.0.0.1")

    async def refused(self, password: str = "cnry-wrong", email: str = EMAIL, address: str = HERE) -> str:
        with pytest.raises(UnauthenticatedError) as refused:
            await self.login(password, email, address)
        return refused.value.message

    async def kept_failures(self) -> int:
        async with self.database.reading() as unit:
            counted = await unit._connection.execute(select(func.count()).select_from(LoginFailureRow))
            return counted.scalar_one()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock = VirtualTime()
    database = Database(sqlite_with_tables(tmp_path), clock)
    await database.prepare()
    keys = await unlock(database, RootKeySource(tmp_path / "root.key"))
    setup = InstanceSetup(database, keys, PASSWORDS, clock, SetupDoor(is_open=True, token="cnry-door"))
    made = await setup.set_up(EMAIL, PASSWORD, "Analytical Engines, Ltd.")
    gate = PasswordGate(database, keys, PASSWORDS, clock)
    yield House(
        clock,
        database,
        gate,
        UserLogins(database, keys, gate, clock),
        Users(database, PASSWORDS, gate, clock),
        Identities(database, keys, clock),
        Authentication(database, keys, clock),
        setup,
        made,
    )
    await database.close()


async def test_a_user_is_told_from_a_machine(house: House) -> None:
    assert (await house.login()).kind is ActorKind.USER
    machine = await house.authentication.authenticate(house.made.token, "127.0.0.1")
    assert machine.kind is ActorKind.MACHINE


async def test_an_instance_is_set_up_once(house: House) -> None:
    assert house.made.organization.slug == "analytical-engines-ltd"
    with pytest.raises(InvalidError, match="already been set up"):
        await house.setup.set_up("eve@example.com", PASSWORD, "other")


@pytest.mark.parametrize(
    ("name", "slug"), [("A  B", "a-b"), ("?!", "organization"), ("-x-", "x"), ("Ünïcode", "n-code")]
)
def test_the_slug_of_an_organization_is_made_from_its_name(name: str, slug: str) -> None:
    assert organization_slug(name) == slug


@pytest.mark.parametrize("token", [None, "", "cnry-doo", "cnry-door2", "cnry-\udc80"])
async def test_only_the_printed_token_opens_the_door(house: House, token: str | None) -> None:
    house.setup.admit("cnry-door")
    with pytest.raises(UnauthenticatedError):
        house.setup.admit(token)


async def test_a_closed_door_knows_no_token(house: House, tmp_path: Path) -> None:
    keys = await unlock(house.database, RootKeySource(tmp_path / "root.key"))
    closed = InstanceSetup(house.database, keys, PASSWORDS, house.clock, SetupDoor())
    for token in (None, "", "cnry-door"):
        with pytest.raises(ForbiddenError):
            closed.admit(token)


@pytest.mark.parametrize("email", [EMAIL, "nobody@example.com"])
async def test_a_lockout_ends_with_its_duration(house: House, email: str) -> None:
    for _ in range(3):
        assert await house.refused(email=email) == "Invalid credentials"
    assert "try again in 5 minutes" in await house.refused(PASSWORD, email)
    await house.clock.advance(299)
    assert "try again in 1 minute" in await house.refused(PASSWORD, email)
    await house.clock.advance(1)
    if email == EMAIL:
        await house.login()
    assert await house.refused(email=email) == "Invalid credentials"


@pytest.mark.parametrize("email", [EMAIL, "nobody@example.com"])
async def test_failures_far_apart_do_not_lock(house: House, email: str) -> None:
    for _ in range(6):
        assert await house.refused(email=email) == "Invalid credentials"
        await house.clock.advance(31)


async def test_slow_guesses_lock_as_well(house: House) -> None:
    told: list[str] = []
    while len(told) < 20:
        told.append(await house.refused())
        await house.clock.advance(1 if len(told) % 2 else 31)
    assert told.count("Invalid credentials") == 15
    assert "try again in 60 minutes" in told[15]


async def test_who_is_locked_out_is_told_after_how_many_seconds_to_come_back(house: House) -> None:
    for _ in range(3):
        await house.refused()
    await house.clock.advance(100)
    with pytest.raises(UnauthenticatedError) as refused:
        await house.login()
    assert refused.value.retry_after == timedelta(seconds=200)


async def test_a_stranger_locks_nobody_out_elsewhere(house: House) -> None:
    for _ in range(3):
        await house.refused(address=ELSEWHERE)
    assert "try again in 5 minutes" in await house.refused(PASSWORD, address=ELSEWHERE)
    await house.login()


async def test_a_guess_that_waited_for_its_turn_is_counted_and_locked_out(house: House) -> None:
    """Guesses made at once are all compared before the first is counted: the right one comes too late."""
    right = await house.gate.look(EMAIL, PASSWORD, HERE)
    wrong = [await house.gate.look(EMAIL, "cnry-wrong", HERE) for _ in range(3)]
    async with house.database.writing() as unit:
        for attempt in wrong:
            assert isinstance(await house.gate.settle(unit, attempt), UnauthenticatedError)
        late = await house.gate.settle(unit, right)
    assert isinstance(late, UnauthenticatedError)
    assert "try again in 5 minutes" in late.message


async def test_a_password_that_was_changed_meanwhile_lets_nobody_in(house: House) -> None:
    attempt = await house.gate.look(EMAIL, PASSWORD, HERE)
    await house.users.change_password(await house.login(), PASSWORD, f"{PASSWORD} battery", HERE)
    async with house.database.writing() as unit:
        assert isinstance(await house.gate.settle(unit, attempt), UnauthenticatedError)


async def test_what_failed_is_forgotten_when_it_says_nothing_any_more(house: House) -> None:
    for number in range(5):
        await house.refused(email=f"{number}@example.com")
    assert await house.kept_failures() == 5
    await house.clock.advance(86_401)
    await house.refused()
    assert await house.kept_failures() == 1
    await house.login()
    assert await house.kept_failures() == 0


async def test_a_session_lasts_ten_days(house: House) -> None:
    issued = await house.logins.login(EMAIL, PASSWORD, HERE)
    await house.clock.advance(10 * 86_400 - 1)
    await house.authentication.authenticate(issued.text, None)
    await house.clock.advance(1)
    with pytest.raises(UnauthenticatedError, match="expired"):
        await house.authentication.authenticate(issued.text, None)


async def test_an_admin_of_either_kind_keeps_the_organization_from_being_nobodys(house: House) -> None:
    principal = await house.login()
    machine = await house.authentication.authenticate(house.made.token, None)
    await house.identities.delete(principal, house.made.identity.id)
    for last in (
        house.users.delete(principal, principal.identity_id),
        house.users.update(principal, principal.identity_id, UserChange(role=OrganizationRole.MEMBER)),
    ):
        with pytest.raises(InvalidError, match="last admin"):
            await last
    new = NewUser("grace@example.com", PASSWORD, OrganizationRole.ADMIN)
    await house.users.create(principal, new)
    await house.users.delete(principal, principal.identity_id)
    assert machine.kind is ActorKind.MACHINE


async def test_neither_password_nor_hash_nor_token_shows_in_a_repr(house: House) -> None:
    shown = repr(house.made) + repr(NewUser(EMAIL, PASSWORD, OrganizationRole.ADMIN))
    shown += repr(UserChange(password=PASSWORD)) + repr(SetupDoor(is_open=True, token="cnry-door"))
    for kept in (PASSWORD, house.made.token, house.made.user.user.password_hash, "cnry-door"):
        assert kept not in shown
