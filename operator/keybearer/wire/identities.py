"""Machine identities and their Universal Auth on the wire (wire.md section 1.4)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.wire.base import Confidential, WireInstant, WireModel
from keybearer.wire.roles import OrganizationRoleSlug, ProjectRoleSlug
from keybearer.wire.token_terms import (
    ChangedLockingTerms,
    Count,
    LockingTerms,
    Seconds,
    TrustedIps,
    everywhere,
)

__all__ = [
    "ClientSecret",
    "ClientSecretAnswer",
    "ClientSecretList",
    "CreateClientSecret",
    "CreateIdentity",
    "CreatedClientSecret",
    "Identity",
    "IdentityAnswer",
    "IdentityList",
    "Membership",
    "MembershipAnswer",
    "MembershipList",
    "MembershipRole",
    "OrganizationRoleSlug",
    "ProjectRoleSlug",
    "PutMembership",
    "UniversalAuth",
    "UniversalAuthAnswer",
    "UniversalAuthConfig",
    "UpdateIdentity",
    "UpdateUniversalAuth",
]


class Identity(WireModel):
    """A machine identity; `role` is its role in the organization."""

    id: str
    name: str
    org_id: str
    role: str
    created_at: WireInstant
    updated_at: WireInstant


class IdentityAnswer(WireModel):
    """`{identity}`."""

    identity: Identity


class IdentityList(WireModel):
    """`{identities, totalCount}`."""

    identities: list[Identity]
    total_count: int


class CreateIdentity(WireModel):
    """POST /api/v1/identities."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    organization_id: Annotated[str, Field(min_length=1)]
    role: OrganizationRoleSlug = "no-access"


class UpdateIdentity(WireModel):
    """PATCH /api/v1/identities/{id}: what is absent stays."""

    name: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    role: OrganizationRoleSlug | None = None


class UniversalAuthConfig(LockingTerms):
    """POST and PATCH .../universal-auth/identities/{id}: durations in seconds, 0 without end or limit."""

    client_secret_trusted_ips: TrustedIps = Field(default_factory=everywhere)


class UpdateUniversalAuth(ChangedLockingTerms):
    """PATCH .../universal-auth/identities/{id}: what is absent stays."""

    client_secret_trusted_ips: TrustedIps | None = None


class UniversalAuth(UniversalAuthConfig):
    """A configuration as it is answered."""

    id: str
    client_id: str
    identity_id: str
    created_at: WireInstant
    updated_at: WireInstant


class UniversalAuthAnswer(WireModel):
    """`{identityUniversalAuth}`."""

    identity_universal_auth: UniversalAuth


class CreateClientSecret(WireModel):
    """POST .../client-secrets: `ttl` in seconds, 0 without end; `numUsesLimit` 0 without limit."""

    description: Annotated[str, Field(max_length=1024)] = ""
    ttl: Seconds = 0
    num_uses_limit: Count = 0


class ClientSecret(WireModel):
    """A client secret, of which only the first four characters are known."""

    id: str
    description: str
    client_secret_prefix: str
    client_secret_num_uses: int
    client_secret_num_uses_limit: int
    client_secret_ttl: Annotated[int, Field(alias="clientSecretTTL")]
    is_client_secret_revoked: bool
    identity_ua_id: Annotated[str, Field(alias="identityUAId")]
    client_secret_last_used_at: WireInstant | None = None
    created_at: WireInstant
    updated_at: WireInstant


class CreatedClientSecret(WireModel):
    """Answer of its making: the only time the text is shown."""

    client_secret: Confidential
    client_secret_data: ClientSecret


class ClientSecretAnswer(WireModel):
    """`{clientSecretData}`."""

    client_secret_data: ClientSecret


class ClientSecretList(WireModel):
    """`{clientSecretData}` of a list."""

    client_secret_data: list[ClientSecret]


class MembershipRole(WireModel):
    """A role that a membership gives."""

    role: ProjectRoleSlug


class PutMembership(WireModel):
    """POST and PATCH /api/v1/projects/{id}/memberships/identities/{identityId}."""

    roles: Annotated[list[MembershipRole], Field(min_length=1, max_length=10)] = Field(
        default_factory=lambda: [MembershipRole(role="no-access")]
    )


class Membership(WireModel):
    """An identity's roles in a project."""

    id: str
    project_id: str
    identity_id: str
    roles: list[MembershipRole]
    created_at: WireInstant
    updated_at: WireInstant


class MembershipAnswer(WireModel):
    """`{identityMembership}`."""

    identity_membership: Membership


class MembershipList(WireModel):
    """`{identityMemberships, totalCount}`."""

    identity_memberships: list[Membership]
    total_count: int
