"""Login, renew, revoke (wire.md sections 1.2 and 1.3)."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AliasChoices, Field, StringConstraints

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

_OrganizationSlug = Annotated[
    str | None,
    Field(max_length=64, validation_alias=AliasChoices("organizationSlug", "subOrganizationName")),
]
"""Older clients use the second name (wire.md section 1.2)."""


class UniversalAuthLogin(WireModel):
    """POST /api/v1/auth/universal-auth/login."""

    client_id: _Trimmed
    client_secret: _Trimmed
    organization_slug: _OrganizationSlug = None


class LdapLogin(WireModel):
    """POST /api/v1/auth/ldap-auth/login.

    A directory may take a NUL for the end of a text, and an empty password for nobody's, which is always right.
    """

    identity_id: UUID
    username: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=512, pattern=r"^[^\x00]+$")
    ]
    password: Annotated[
        str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00]+$"), Field(repr=False)
    ]
    organization_slug: _OrganizationSlug = None


class KubernetesLogin(WireModel):
    """POST /api/v1/auth/kubernetes-auth/login; `jwt` is a ServiceAccount token."""

    identity_id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
    jwt: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=16384), Field(repr=False)
    ]
    organization_slug: _OrganizationSlug = None


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
