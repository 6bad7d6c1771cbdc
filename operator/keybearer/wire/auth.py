"""Login, renew, revoke (wire.md sections 1.2 and 1.3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from keybearer.wire.base import WireModel

__all__ = [
    "AccessToken",
    "AccessTokenBody",
    "KubernetesLogin",
    "LdapLogin",
    "Message",
    "UniversalAuthLogin",
]

_Trimmed = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=512), Field(repr=False)
]


class UniversalAuthLogin(WireModel):
    """POST /api/v1/auth/universal-auth/login."""

    client_id: _Trimmed
    client_secret: _Trimmed
    organization_slug: str | None = Field(default=None, max_length=64)


class LdapLogin(WireModel):
    """POST /api/v1/auth/ldap-auth/login; `identityId` is a uuid."""

    identity_id: str
    username: Annotated[str, Field(min_length=1, max_length=512)]
    password: Annotated[str, Field(min_length=1, max_length=1024, repr=False)]
    organization_slug: str | None = Field(default=None, max_length=64)


class KubernetesLogin(WireModel):
    """POST /api/v1/auth/kubernetes-auth/login; `jwt` is a ServiceAccount token."""

    identity_id: str
    jwt: Annotated[str, Field(min_length=1, max_length=16384, repr=False)]
    organization_slug: str | None = Field(default=None, max_length=64)


class AccessToken(WireModel):
    """Answer of every login and of renew; times in seconds, always positive."""

    access_token: Annotated[str, Field(repr=False)]
    expires_in: int
    access_token_max_ttl: Annotated[int, Field(alias="accessTokenMaxTTL")]
    token_type: Literal["Bearer"] = "Bearer"


class AccessTokenBody(WireModel):
    """Request of renew and of revoke."""

    access_token: Annotated[str, Field(min_length=1, max_length=8192, repr=False)]


class Message(WireModel):
    """An answer that is one sentence."""

    message: str
