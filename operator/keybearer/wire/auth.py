"""Login, renew, revoke (wire.md sections 1.2 and 1.3)."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AliasChoices, BeforeValidator, Field, StringConstraints

from keybearer.wire.base import Confidential, WireModel
from keybearer.wire.bodies import BodyModel

__all__ = [
    "AccessToken",
    "AccessTokenBody",
    "GivenPassword",
    "KubernetesLogin",
    "LdapLogin",
    "Message",
    "SelectOrganization",
    "SelectedOrganization",
    "UniversalAuthLogin",
    "UserLogin",
    "UserToken",
    "fold_email",
]

_Trimmed = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=512, pattern=r"\S"),
    Field(repr=False),
]

_OrganizationSlug = Annotated[
    str | None,
    Field(max_length=64, validation_alias=AliasChoices("organizationSlug", "subOrganizationName")),
]
"""Older clients use the second name (wire.md section 1.2)."""


GivenPassword = Annotated[str, Field(min_length=1, max_length=1024, repr=False)]
"""A password to be compared, not one to be set."""


def fold_email(given: object) -> object:
    """Return an email as it is kept: trimmed, in lower case."""
    return given.strip().lower() if isinstance(given, str) else given


class UniversalAuthLogin(BodyModel):
    """POST /api/v1/auth/universal-auth/login."""

    client_id: _Trimmed
    client_secret: _Trimmed
    organization_slug: _OrganizationSlug = None


class LdapLogin(BodyModel):
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


class KubernetesLogin(BodyModel):
    """POST /api/v1/auth/kubernetes-auth/login; `jwt` is a ServiceAccount token."""

    identity_id: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=r"\S")
    ]
    jwt: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=16384, pattern=r"\S"),
        Field(repr=False),
    ]
    organization_slug: _OrganizationSlug = None


class AccessToken(WireModel):
    """Answer of every login and of renew; times in seconds, always positive."""

    access_token: Annotated[str, Field(repr=False)]
    expires_in: int
    access_token_max_ttl: Annotated[int, Field(alias="accessTokenMaxTTL")]
    token_type: Literal["Bearer"] = "Bearer"


class AccessTokenBody(BodyModel):
    """Request of renew and of revoke."""

    access_token: Annotated[str, Field(min_length=1, max_length=8192, repr=False)]


class Message(WireModel):
    """An answer that is one sentence."""

    message: str


class UserLogin(BodyModel):
    """POST /api/v3/auth/login. What is no email is answered like an email that nobody has."""

    email: Annotated[str, BeforeValidator(fold_email), Field(min_length=1, max_length=254)]
    password: GivenPassword


class UserToken(WireModel):
    """Answer of a user's login."""

    access_token: Confidential


class SelectOrganization(BodyModel):
    """POST /api/v3/auth/select-organization."""

    organization_id: Annotated[str, Field(min_length=1, max_length=64)]


class SelectedOrganization(WireModel):
    """The token for that organization."""

    token: Confidential
