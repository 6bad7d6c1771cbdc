"""Logins that ask somebody else, with a clock that the test turns and others that answer as it says."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from keybearer.base.ids import IdentityId, OrganizationId, new_uuid
from keybearer.domain.auth_methods import AuthMethods
from keybearer.domain.authentication import Authentication
from keybearer.domain.authorization import Principal
from keybearer.domain.bootstrap import AdminCredentials, bootstrap
from keybearer.domain.errors import DomainError, InvalidError, NotFoundError, UnauthenticatedError
from keybearer.domain.external_logins import ExternalLogins
from keybearer.domain.identities import Identities
from keybearer.domain.issuing import IssuedToken
from keybearer.domain.kubernetes_auth import KubernetesAuthChange, KubernetesAuthTerms
from keybearer.domain.ldap_auth import LdapAuthChange, LdapAuthTerms
from keybearer.domain.outbound import Outbound, OutboundSettings, outbound_of
from keybearer.domain.server_keys import RootKeySource, unlock
from keybearer.outbound.errors import OutboundFailedError, OutboundRefusedError
from keybearer.outbound.http import OutboundHttp
from keybearer.outbound.ldap import Directory, DirectoryAccess, DirectoryUser, WrongPasswordError
from keybearer.outbound.ldap_filter import Comparison, Filter
from keybearer.outbound.own_account import OwnAccount
from keybearer.outbound.token_review import ReviewedToken, ReviewerUnknownError, TokenReviews
from keybearer.outbound.urls import OutboundUrl
from keybearer.store.database import Database
from keybearer.store.engines import sqlite_url
from support.directory import loopback_gate
from support.virtual_time import VirtualTime

HOST = "https://api.example.com"
WEB = "system:serviceaccount:shop:web"
LOCKED = "This identity auth method is temporarily locked, please try again later"


class Reviews(TokenReviews):
    """An API server that says of every token what the test says."""

    def __init__(self) -> None:
        super().__init__(OutboundHttp(loopback_gate()))
        self.says: ReviewedToken | Exception = ReviewedToken(authenticated=True, username=WEB)
        self.asked: list[tuple[str, str, str]] = []
        self.reached = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def review(
        self, api: OutboundUrl, token: str, *, audience: str, reviewer: str, trusted: ssl.SSLContext
    ) -> ReviewedToken:
        assert trusted.check_hostname
        assert token
        self.asked.append((api.host, audience, reviewer))
        self.reached.set()
        await self.gate.wait()
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


class People(Directory):
    """A directory in which alice has one password; `gate` may hold its answers back."""

    def __init__(self) -> None:
        super().__init__(loopback_gate())
        self.asked = 0
        self.fails: Exception | None = None
        self.reached = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def authenticate(
        self, access: DirectoryAccess, search: Filter, password: str, attributes: object
    ) -> DirectoryUser:
        assert access.bind_password == "cnry-reader"
        assert isinstance(attributes, tuple)
        self.asked += 1
        self.reached.set()
        await self.gate.wait()
        if self.fails is not None:
            raise self.fails
        if search != Comparison("=", "uid", b"alice") or password != "cnry-alice":
            raise WrongPasswordError
        return DirectoryUser("uid=alice", {"memberof": (b"cn=a,dc=b", b"cn=c,dc=d"), "l": (b"Bern",)})


@dataclass
class House:
    """A service without HTTP, its admin, and one more identity."""

    clock: VirtualTime
    admin: Principal
    credentials: AdminCredentials
    identity_id: str
    authentication: Authentication
    methods: AuthMethods
    logins: ExternalLogins
    reviews: Reviews
    people: People
    database: Database
    account: Path = field(default=Path())

    async def kubernetes(self, jwt: str = "cnry-jwt", slug: str | None = None) -> IssuedToken:
        return await self.logins.login_kubernetes(self.identity_id, jwt, slug)

    async def ldap(
        self, password: str = "cnry-alice", user: str = "alice", slug: str | None = None
    ) -> IssuedToken:
        return await self.logins.login_ldap(self.identity_id, user, password, slug)

    async def attach_kubernetes(self, **terms: str) -> None:
        await self.methods.attach_kubernetes(self.admin, self.identity_id, KubernetesAuthTerms(HOST, **terms))  # type: ignore[arg-type] # texts only

    async def attach_ldap(self, *fields: tuple[str, str], lockout: bool = True) -> None:
        terms = LdapAuthTerms(
            url="ldaps://ldap.example.com",
            bind_dn="cn=reader",
            bind_password="cnry-reader",
            search_base="dc=b",
            allowed_fields=fields,
            lockout_enabled=lockout,
        )
        await self.methods.attach_ldap(self.admin, self.identity_id, terms)

    async def owner(self, issued: IssuedToken) -> str:
        return (await self.authentication.authenticate(issued.text, "127.0.0.1")).identity_id


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock = VirtualTime()
    database = Database(sqlite_url(tmp_path / "keybearer.db"), clock)
    await database.prepare()
    keys = await unlock(database, RootKeySource(tmp_path / "root.key"))
    made: list[AdminCredentials] = []
    await bootstrap(database, keys, clock, made.append)
    authentication = Authentication(database, keys, clock)
    issued = await authentication.login_universal(made[0].client_id, made[0].client_secret, None, "127.0.0.1")
    admin = await authentication.authenticate(issued.text, "127.0.0.1")
    identity = await Identities(database, keys, clock).create(
        admin,
        "web",
        made[0].organization_id,
        "no-access",  # type: ignore[arg-type] # a role's word
    )
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("cnry-own-token\n")
    (account / "ca.crt").write_text("")
    reviews, people = Reviews(), People()
    own = OwnAccount(OutboundUrl("https", "kubernetes.default.svc", 443, ""), account)
    remotes = outbound_of(OutboundSettings(), clock).remotes
    logins = ExternalLogins(database, keys, Outbound(reviews, people, remotes, own), clock)
    methods = AuthMethods(database, clock)
    yield House(
        clock,
        admin,
        made[0],
        identity.id,
        authentication,
        methods,
        logins,
        reviews,
        people,
        database,
        account,
    )
    await database.close()


async def refused(attempt: Awaitable[object]) -> tuple[type[DomainError], str | None, str]:
    with pytest.raises(DomainError) as caught:
        await attempt
    return type(caught.value), caught.value.name, caught.value.message


REVIEWED = "KubernetesTokenReviewError"


@pytest.mark.parametrize(
    ("terms", "reviewed", "refusal"),
    [
        pytest.param({}, ReviewedToken(authenticated=True, username=WEB), None, id="all are allowed"),
        pytest.param(
            {"allowed_namespaces": "team-*, shop", "allowed_names": "we?", "allowed_audience": "kb"},
            ReviewedToken(authenticated=True, username=WEB, audiences=("kb",)),
            None,
            id="each is allowed",
        ),
        pytest.param(
            {},
            ReviewedToken(authenticated=False, username=WEB),
            (REVIEWED, "Kubernetes token not authenticated"),
            id="a token that is no good",
        ),
        pytest.param(
            {"allowed_namespaces": "other"},
            ReviewedToken(authenticated=True, username=WEB),
            (None, "Access denied: K8s namespace not allowed."),
            id="another namespace",
        ),
        pytest.param(
            {"allowed_names": "we"},
            ReviewedToken(authenticated=True, username=WEB),
            (None, "Access denied: K8s name not allowed."),
            id="another name",
        ),
        pytest.param(
            {"allowed_audience": "kb"},
            ReviewedToken(authenticated=True, username=WEB, audiences=("https://kubernetes.default.svc",)),
            (None, "Access denied: K8s audience not allowed."),
            id="another audience",
        ),
        *(
            pytest.param(
                {},
                ReviewedToken(authenticated=True, username=username),
                (None, "Access denied: the token belongs to no ServiceAccount."),
                id=f"no ServiceAccount: {username}",
            )
            for username in (
                "",
                "admin",
                "system:node:n",
                "system:serviceaccount:shop",
                "system:serviceaccount::web",
                "system:serviceaccount:shop:",
                "system:serviceaccount:shop:web:x",
            )
        ),
    ],
)
async def test_a_service_account_is_let_in_where_the_terms_allow_it(
    house: House, terms: dict[str, str], reviewed: ReviewedToken, refusal: tuple[str | None, str] | None
) -> None:
    await house.attach_kubernetes(**terms)
    house.reviews.says = reviewed
    if refusal is None:
        assert await house.owner(await house.kubernetes()) == house.identity_id
    else:
        assert await refused(house.kubernetes()) == (UnauthenticatedError, *refusal)


@pytest.mark.parametrize(
    "failure",
    [
        OutboundFailedError("the reviewer may not create tokenreviews"),
        OutboundRefusedError("the host lies inside"),
        ReviewerUnknownError("who?"),
    ],
    ids=["no right", "not allowed", "an unknown reviewer"],
)
async def test_a_review_that_does_not_come_about_is_a_bad_request(house: House, failure: Exception) -> None:
    await house.attach_kubernetes(reviewer_token="cnry-reviewer")
    house.reviews.says = failure
    assert await refused(house.kubernetes()) == (
        InvalidError,
        REVIEWED,
        f"The token review failed: {failure}",
    )


async def test_a_token_that_reviews_itself_and_is_not_known_is_not_authenticated(house: House) -> None:
    await house.attach_kubernetes()
    house.reviews.says = ReviewerUnknownError("401")
    expected = (UnauthenticatedError, REVIEWED, "Kubernetes token not authenticated")
    assert await refused(house.kubernetes()) == expected


async def test_a_text_that_is_no_token_is_sent_nowhere(house: House) -> None:
    await house.attach_kubernetes()
    assert (await refused(house.kubernetes("cnry a\r\nb")))[1] == REVIEWED
    assert house.reviews.asked == []


async def test_the_reviewer_is_the_configured_one_or_the_token_itself(house: House) -> None:
    await house.attach_kubernetes(reviewer_token="cnry-reviewer", allowed_audience="kb")
    house.reviews.says = ReviewedToken(authenticated=True, username=WEB, audiences=("kb",))
    await house.kubernetes()
    await house.methods.change_kubernetes(
        house.admin, house.identity_id, KubernetesAuthChange(reviewer_token="")
    )
    await house.kubernetes()
    assert house.reviews.asked == [
        ("api.example.com", "kb", "cnry-reviewer"),
        ("api.example.com", "kb", "cnry-jwt"),
    ]


async def test_the_services_own_token_goes_to_its_own_cluster_and_nowhere_else(house: House) -> None:
    await house.attach_kubernetes()
    for host in (
        "https://kubernetes.default.svc",
        "https://kubernetes.default.svc:8443",
        "https://kubernetes.default.svc/api/v1/namespaces/a/services/b/proxy",
        HOST,
    ):
        await house.methods.change_kubernetes(house.admin, house.identity_id, KubernetesAuthChange(host=host))
        await house.kubernetes()
    assert [(host, reviewer) for host, _, reviewer in house.reviews.asked] == [
        ("kubernetes.default.svc", "cnry-own-token"),
        ("kubernetes.default.svc", "cnry-jwt"),
        ("kubernetes.default.svc", "cnry-jwt"),
        ("api.example.com", "cnry-jwt"),
    ]


async def test_a_missing_own_token_is_told_without_a_value(house: House) -> None:
    await house.attach_kubernetes()
    change = KubernetesAuthChange(host="https://kubernetes.default.svc")
    await house.methods.change_kubernetes(house.admin, house.identity_id, change)
    (house.account / "token").unlink()
    kind, name, message = await refused(house.kubernetes())
    assert (kind, name) == (InvalidError, REVIEWED)
    assert "can't be read" in message


async def test_a_reviewers_token_is_not_taken_along_to_another_host(house: House) -> None:
    await house.attach_kubernetes(reviewer_token="cnry-reviewer")
    for change in (
        KubernetesAuthChange(host="https://evil.example.com"),
        KubernetesAuthChange(host="http://api.example.com"),
    ):
        kind, _, message = await refused(
            house.methods.change_kubernetes(house.admin, house.identity_id, change)
        )
        assert (kind, "tokenReviewerJwt again" in message) == (InvalidError, True)
    await house.methods.change_kubernetes(
        house.admin, house.identity_id, KubernetesAuthChange(host=f"{HOST}/", allowed_names="web")
    )


async def test_an_ldap_password_is_not_taken_along_to_another_directory(house: House) -> None:
    await house.attach_ldap()
    change = LdapAuthChange(url="ldaps://evil.example.com")
    kind, _, message = await refused(house.methods.change_ldap(house.admin, house.identity_id, change))
    assert (kind, "bindPass again" in message) == (InvalidError, True)


@pytest.mark.parametrize("slug", ["keybearer", "", None])
async def test_a_user_of_the_directory_is_let_in(house: House, slug: str | None) -> None:
    await house.attach_ldap()
    assert await house.owner(await house.ldap(slug=slug)) == house.identity_id


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
