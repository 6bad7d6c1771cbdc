"""Who a client is: what it logs in with, or the token it was given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from keybearer.client.errors import InvalidArgument
from keybearer.client.models import TOKEN_PATTERN, AccessToken
from keybearer.client.operation import Operation
from keybearer.client.operations.tokens import KubernetesLogin, LdapAuth, UniversalAuth, UserAuth
from keybearer.client.steps import Ask, Steps, TextSource, take

__all__ = [
    "Credentials",
    "KubernetesAuth",
    "LdapAuth",
    "SuppliedToken",
    "UniversalAuth",
    "UserAuth",
    "login_operation",
]


@dataclass(frozen=True, slots=True)
class KubernetesAuth:
    """Kubernetes: log a machine identity in with the token of a ServiceAccount.

    Attributes:
        jwt: the token, or a function that returns a fresh one, asked at each login.
    """

    identity_id: str
    jwt: str | TextSource = field(repr=False)
    organization_slug: str | None = None


@dataclass(frozen=True, slots=True)
class SuppliedToken:
    """A valid access token from elsewhere, without `Bearer `; never renewed or revoked by itself."""

    access_token: str = field(repr=False)

    def __post_init__(self) -> None:
        if self.access_token[:7].lower() == "bearer ":
            raise InvalidArgument("give the access token without the word Bearer before it")
        if not re.fullmatch(TOKEN_PATTERN, self.access_token):
            raise InvalidArgument("the access token is empty, or holds a character that no token has")


Credentials = UniversalAuth | LdapAuth | KubernetesAuth | UserAuth
"""What a client can log in with, and again when its token has run out."""


def login_operation(credentials: Credentials) -> Steps[Operation[AccessToken]]:
    """Return the login, with a fresh ServiceAccount token where there is a source of them."""
    if not isinstance(credentials, KubernetesAuth):
        return credentials
    jwt = credentials.jwt if isinstance(credentials.jwt, str) else (yield from take(Ask(credentials.jwt)))
    return KubernetesLogin(credentials.identity_id, jwt, credentials.organization_slug)
