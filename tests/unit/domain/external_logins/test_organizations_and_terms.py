"""For either login the organization must be the identity's, and the terms those of now; they are sealed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from keybearer.base.ids import IdentityId, OrganizationId, new_uuid
from keybearer.domain.errors import NotFoundError, UnauthenticatedError
from keybearer.domain.kubernetes_auth import KubernetesAuthChange
from keybearer.outbound.token_review import ReviewedToken
from unit.domain.external_logins.house import House, refused


async def test_an_identity_of_another_organization_is_no_member(house: House) -> None:
    await house.attach_ldap()
    await house.attach_kubernetes()
    async with house.database.writing() as unit:
        organization = await unit.identities.organization(house.admin.organization_id)
        assert organization is not None
        other = replace(organization, id=OrganizationId(new_uuid()), slug="other")
        await unit.identities.add_organization(other)
    universal = house.authentication.login_universal(
        house.credentials.client_id, house.credentials.client_secret, "other", None
    )
    for attempt in (house.ldap(slug="other"), house.kubernetes(slug="other"), universal):
        assert await refused(attempt) == (
            UnauthenticatedError,
            None,
            "Identity is not a member of the organization",
        )


async def test_who_has_no_credential_is_not_told_which_organizations_exist(house: House) -> None:
    await house.attach_ldap(lockout=False)
    await house.attach_kubernetes()
    house.reviews.says = ReviewedToken(authenticated=False)
    for slug in (None, "keybearer", "elsewhere"):
        kind, _, message = await refused(house.ldap("cnry-wrong", slug=slug))
        assert (kind, message) == (UnauthenticatedError, "LDAP authentication failed")
    without, known, unknown = [
        await refused(house.kubernetes(slug=slug)) for slug in (None, "keybearer", "elsewhere")
    ]
    assert without == known == unknown
    assert unknown[0] is UnauthenticatedError


async def test_who_has_a_credential_is_told_that_the_organization_is_unknown(house: House) -> None:
    await house.attach_ldap()
    await house.attach_kubernetes()
    for attempt in (house.ldap(slug="elsewhere"), house.kubernetes(slug="elsewhere")):
        assert await refused(attempt) == (
            NotFoundError,
            None,
            "Organization with slug 'elsewhere' not found",
        )


async def test_a_login_under_terms_that_changed_meanwhile_is_refused(house: House) -> None:
    await house.attach_ldap()
    house.people.gate.clear()
    login = asyncio.create_task(house.ldap(), name="login")
    await house.people.reached.wait()
    await house.clock.advance(1)
    await house.methods.detach_ldap(house.admin, house.identity_id)
    house.people.gate.set()
    assert "changed during the login" in (await refused(login))[2]


async def test_a_review_under_terms_that_changed_meanwhile_lets_nobody_in(house: House) -> None:
    await house.attach_kubernetes()
    house.reviews.gate.clear()
    login = asyncio.create_task(house.kubernetes(), name="login")
    await house.reviews.reached.wait()
    await house.methods.change_kubernetes(
        house.admin, house.identity_id, KubernetesAuthChange(allowed_names="api")
    )
    house.reviews.gate.set()
    assert "changed during the login" in (await refused(login))[2]


async def test_a_method_that_is_taken_away_ends_the_tokens_it_gave(house: House) -> None:
    await house.attach_ldap()
    await house.attach_kubernetes()
    by_ldap, by_kubernetes = await house.ldap(), await house.kubernetes()
    await house.methods.detach_ldap(house.admin, house.identity_id)
    assert (await refused(house.owner(by_ldap)))[0] is UnauthenticatedError
    assert await house.owner(by_kubernetes) == house.identity_id
    await house.methods.detach_kubernetes(house.admin, house.identity_id)
    assert (await refused(house.owner(by_kubernetes)))[0] is UnauthenticatedError
    for attempt in (house.ldap(), house.kubernetes()):
        kind, _, message = await refused(attempt)
        assert (kind, "not found for identity" in message) == (NotFoundError, True)


async def test_what_opens_other_doors_is_sealed_in_the_database(house: House, tmp_path: Path) -> None:
    await house.attach_ldap()
    await house.attach_kubernetes(reviewer_token="cnry-reviewer")
    async with house.database.reading() as unit:
        kubernetes = await unit.auth_methods.kubernetes(IdentityId(house.identity_id))
        ldap = await unit.auth_methods.ldap(IdentityId(house.identity_id))
    assert kubernetes is not None
    assert ldap is not None
    assert (kubernetes.reviewer_token, ldap.bind_password) == ("cnry-reviewer", "cnry-reader")
    assert "cnry" not in repr(kubernetes) + repr(ldap)
    assert not _holds(tmp_path, b"cnry-re")


def _holds(directory: Path, text: bytes) -> list[str]:
    files = [path for path in directory.iterdir() if path.name.startswith("keybearer.db")]
    assert files
    return [path.name for path in files if text in path.read_bytes()]
