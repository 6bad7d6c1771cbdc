"""A service without HTTP, and others that answer its questions about logins as a test says."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from keybearer.domain.auth_methods import AuthMethods
from keybearer.domain.authentication import Authentication
from keybearer.domain.authorization import Principal
from keybearer.domain.bootstrap import AdminCredentials
from keybearer.domain.errors import DomainError
from keybearer.domain.external_logins import ExternalLogins
from keybearer.domain.issuing import IssuedToken
from keybearer.domain.kubernetes_auth import KubernetesAuthTerms
from keybearer.domain.ldap_auth import LdapAuthTerms
from keybearer.outbound.http import OutboundHttp
from keybearer.outbound.ldap import Directory, DirectoryAccess, DirectoryUser, WrongPasswordError
from keybearer.outbound.ldap_filter import Comparison, Filter
from keybearer.outbound.token_review import ReviewedToken, TokenReviews
from keybearer.outbound.urls import OutboundUrl
from keybearer.store.database import Database
from support.directory import loopback_gate
from support.virtual_time import VirtualTime

__all__ = ["HOST", "REVIEWED", "WEB", "House", "People", "Reviews", "refused"]

HOST = "https://api.example.com"
WEB = "system:serviceaccount:shop:web"


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
        self,
        password: str = "cnry-alice",
        user: str = "alice",
        slug: str | None = None,
        address: str = "127.0.0.1",
    ) -> IssuedToken:
        return await self.logins.login_ldap(self.identity_id, user, password, slug, address)

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


async def refused(attempt: Awaitable[object]) -> tuple[type[DomainError], str | None, str]:
    with pytest.raises(DomainError) as caught:
        await attempt
    return type(caught.value), caught.value.name, caught.value.message


REVIEWED = "KubernetesTokenReviewError"
