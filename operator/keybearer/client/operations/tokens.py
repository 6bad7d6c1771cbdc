"""Login, renew, revoke, check (interface.md section 4.9; wire.md sections 1.2 and 1.3).

Logins and renewals may be repeated after a failure: an unused token runs out by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, json_body
from keybearer.client.models import TOKEN_PATTERN, AccessToken
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import auth as wire

__all__ = [
    "CheckToken",
    "KubernetesLogin",
    "LdapAuth",
    "RenewToken",
    "RevokeToken",
    "SelectOrganization",
    "UniversalAuth",
    "UserAuth",
]


@from_wire
@dataclass(frozen=True, slots=True)
class _SelectedOrganizationAnswer:
    """`{token}`."""

    token: Annotated[str, Field(pattern=TOKEN_PATTERN)] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _TokenOperation(Operation[AccessToken]):
    repeat: ClassVar[Repeat] = Repeat.FREELY
    authenticated: ClassVar[bool] = False

    def read(self, response: Response) -> AccessToken:
        """Return the token and how long it lasts."""
        return decode(response, AccessToken)


@dataclass(frozen=True, slots=True)
class UniversalAuth(_TokenOperation):
    """Universal Auth: log a machine identity in with its client id and client secret."""

    client_id: str
    client_secret: str = field(repr=False)
    organization_slug: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.UniversalAuthLogin(
                client_id=self.client_id,
                client_secret=self.client_secret,
                organization_slug=self.organization_slug,
            )
        )
        return Request("POST", "/api/v1/auth/universal-auth/login", body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the client secret."""
        return (self.client_secret,)


@dataclass(frozen=True, slots=True)
class LdapAuth(_TokenOperation):
    """LDAP: log a machine identity in as a user of the directory."""

    identity_id: str
    username: str
    password: str = field(repr=False)
    organization_slug: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.LdapLogin(
                identity_id=self.identity_id,
                username=self.username,
                password=self.password,
                organization_slug=self.organization_slug,
            )
        )
        return Request("POST", "/api/v1/auth/ldap-auth/login", body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the password."""
        return (self.password,)


@dataclass(frozen=True, slots=True)
class KubernetesLogin(_TokenOperation):
    """Log a machine identity in with the token of a Kubernetes ServiceAccount."""

    identity_id: str
    jwt: str = field(repr=False)
    organization_slug: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.KubernetesLogin(
                identity_id=self.identity_id, jwt=self.jwt, organization_slug=self.organization_slug
            )
        )
        return Request("POST", "/api/v1/auth/kubernetes-auth/login", body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the ServiceAccount's token."""
        return (self.jwt,)


@dataclass(frozen=True, slots=True)
class UserAuth(_TokenOperation):
    """Log a person in with email and password.

    Attributes:
        organization_id: get a token for this organization, where the service tells them apart by it.
    """

    email: str
    password: str = field(repr=False)
    organization_id: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.UserLogin(email=self.email, password=self.password))
        return Request("POST", "/api/v3/auth/login", body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the password."""
        return (self.password,)


@dataclass(frozen=True, slots=True)
class SelectOrganization(Operation[AccessToken]):
    """Get a token of the same person for an organization."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    organization_id: str

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.SelectOrganization(organization_id=self.organization_id))
        return Request("POST", "/api/v3/auth/select-organization", body=body)

    def read(self, response: Response) -> AccessToken:
        """Return the token."""
        return AccessToken(access_token=decode(response, _SelectedOrganizationAnswer).token)


@dataclass(frozen=True, slots=True)
class RenewToken(_TokenOperation):
    """Make a token last longer; the answer may hold another one."""

    access_token: str = field(repr=False)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.AccessTokenBody(access_token=self.access_token))
        return Request("POST", "/api/v1/auth/token/renew", body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the token."""
        return (self.access_token,)


@dataclass(frozen=True, slots=True)
class RevokeToken(Operation[None]):
    """End a token."""

    repeat: ClassVar[Repeat] = Repeat.FREELY
    authenticated: ClassVar[bool] = False

    access_token: str = field(repr=False)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.AccessTokenBody(access_token=self.access_token))
        return Request("POST", "/api/v1/auth/token/revoke", body=body)

    def read(self, response: Response) -> None:
        """Return nothing: the status says it all."""

    def confidential(self) -> tuple[str, ...]:
        """Return the token."""
        return (self.access_token,)


@dataclass(frozen=True, slots=True)
class CheckToken(Operation[None]):
    """Return if the token is good; `Unauthenticated` where it isn't."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", "/api/v1/auth/checkAuth")

    def read(self, response: Response) -> None:
        """Return nothing: clients look at the status alone (wire.md section 1.3)."""
