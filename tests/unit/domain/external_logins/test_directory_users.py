"""Users of a directory are let in where the terms allow it, and locked out for a while after wrong passwords."""

from __future__ import annotations

import asyncio

import pytest

from keybearer.domain.errors import InvalidError, UnauthenticatedError
from keybearer.domain.ldap_auth import LdapAuthChange
from keybearer.outbound.errors import OutboundFailedError
from unit.domain.external_logins.house import House, refused

LOCKED = "This identity auth method is temporarily locked, please try again later"


async def test_an_ldap_password_is_not_taken_along_to_another_directory(house: House) -> None:
    await house.attach_ldap()
    change = LdapAuthChange(url="ldaps://evil.example.com")
    kind, _, message = await refused(house.methods.change_ldap(house.admin, house.identity_id, change))
    assert (kind, "bindPass again" in message) == (InvalidError, True)


@pytest.mark.parametrize("slug", ["keybearer", "", None])
async def test_a_user_of_the_directory_is_let_in(house: House, slug: str | None) -> None:
    await house.attach_ldap()
    assert await house.owner(await house.ldap(slug=slug)) == house.identity_id


@pytest.mark.parametrize(
    ("fields", "admitted"),
    [
        ((("memberOf", "cn=c,dc=d"),), True),
        ((("L", "Basel, Bern"),), True),
        ((("l", "Basel"),), False),
        ((("l", "bern"),), False),
        ((("l", "Bern"), ("memberOf", "cn=x")), False),
        ((("mail", "a"),), False),
        ((("mail", ","),), False),
    ],
)
async def test_a_user_must_have_one_of_the_values_of_each_required_field(
    house: House, fields: tuple[tuple[str, str], ...], *, admitted: bool
) -> None:
    await house.attach_ldap(*fields)
    if admitted:
        await house.ldap()
    else:
        kind, _, message = await refused(house.ldap())
        assert (kind, "field" in message) == (UnauthenticatedError, True)


async def test_the_third_wrong_password_locks_the_right_one_out_for_a_while(house: House) -> None:
    await house.attach_ldap()
    for user, password in (("alice", "cnry-wrong"), ("bob", "cnry-alice"), ("alice", "cnry-wrong")):
        assert await refused(house.ldap(password, user)) == (
            UnauthenticatedError,
            None,
            "LDAP authentication failed",
        )
    asked = house.people.asked
    assert await refused(house.ldap()) == (UnauthenticatedError, None, LOCKED)
    assert house.people.asked == asked
    await house.clock.advance(300)
    await house.ldap()


async def test_a_stranger_locks_nobody_out_elsewhere(house: House) -> None:
    await house.attach_ldap()
    for _ in range(3):
        await refused(house.ldap("cnry-wrong", address="192.0.2.7"))
    assert (await refused(house.ldap(address="192.0.2.7")))[2] == LOCKED
    await house.ldap()


async def test_tries_at_the_same_time_are_counted_one_by_one(house: House) -> None:
    await house.attach_ldap()
    house.people.gate.clear()
    tries = [asyncio.create_task(house.ldap("cnry-wrong"), name="try") for _ in range(10)]
    house.people.gate.set()
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert house.people.asked == 3
    assert [str(one) for one in outcomes].count(LOCKED) == 7


async def test_a_directory_that_is_away_locks_nobody_out(house: House) -> None:
    await house.attach_ldap()
    house.people.fails = OutboundFailedError("the host can't be reached")
    for _ in range(4):
        assert (await refused(house.ldap()))[2] == "LDAP authentication failed"
    house.people.fails = None
    await house.ldap()


async def test_a_lockout_can_be_cleared_and_switched_off(house: House) -> None:
    await house.attach_ldap()
    for _ in range(3):
        await refused(house.ldap("cnry-wrong"))
    assert await house.methods.clear_ldap_lockouts(house.admin, house.identity_id) == 1
    assert await house.methods.clear_ldap_lockouts(house.admin, house.identity_id) == 0
    await house.ldap()
    await house.methods.change_ldap(house.admin, house.identity_id, LdapAuthChange(lockout_enabled=False))
    for _ in range(4):
        await refused(house.ldap("cnry-wrong"))
    await house.ldap()
