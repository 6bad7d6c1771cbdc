"""Machine identities and their Universal Auth on the wire (wire.md section 1.4)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from keybearer.wire.base import Confidential, Flag, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel
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
    "GivenRole",
    "Identity",
    "IdentityAnswer",
    "IdentityDetail",
    "IdentityDetailAnswer",
    "IdentityItself",
    "IdentityList",
    "IdentityMetadata",
    "Membership",
    "MembershipAnswer",
    "MembershipDetail",
    "MembershipDetailAnswer",
    "MembershipList",
    "MembershipRole",
    "MembershipRoles",
    "OrganizationRoleSlug",
    "OwnDetails",
    "OwnDetailsAnswer",
    "OwnOrganization",
    "ProjectOfMembership",
    "ProjectRoleSlug",
    "PutMembership",
    "UniversalAuth",
    "UniversalAuthAnswer",
    "UniversalAuthConfig",
    "UpdateIdentity",
    "UpdateUniversalAuth",
]


class IdentityMetadata(WireModel):
    """A key and a value of an identity's metadata; the service keeps none so far."""

    key: str
    value: str


class Identity(WireModel):
    """A machine identity; `role` is its role in the organization.

    `authMethods` are its ways to log in, such as `universal-auth`; lists leave them out.
    """

    id: str
    name: str
    org_id: str
    role: str
    has_delete_protection: bool = False
    auth_methods: list[str] = Field(default_factory=list)
    metadata: list[IdentityMetadata] = Field(default_factory=list)
    created_at: WireInstant
    updated_at: WireInstant


class IdentityItself(WireModel):
    """An identity apart from its role in the organization."""

    id: str
    name: str
    has_delete_protection: bool = False
    auth_methods: list[str] = Field(default_factory=list)


class IdentityDetail(Identity):
    """An identity as GET answers it: Terraform's provider reads its name one level deeper."""

    identity: IdentityItself


class IdentityDetailAnswer(WireModel):
    """`{identity}` of GET /api/v1/identities/{id}."""

    identity: IdentityDetail


class OwnOrganization(WireModel):
    """The organization of the caller."""

    id: str
    name: str
    slug: str


class OwnDetails(WireModel):
    """What an identity may know of itself."""

    organization: OwnOrganization


class OwnDetailsAnswer(WireModel):
    """`{identityDetails}`."""

    identity_details: OwnDetails


class IdentityAnswer(WireModel):
    """`{identity}`."""

    identity: Identity


class IdentityList(WireModel):
    """`{identities, totalCount}`."""

    identities: list[Identity]
    total_count: int


def _refuse_protection(given: bool) -> bool:  # noqa: FBT001 - a validator has one argument
    if given:
        raise ValueError(
            "Identities have no delete protection; leave hasDeleteProtection out, or set it to false"
        )
    return given


def _refuse_metadata(given: list[IdentityMetadata]) -> list[IdentityMetadata]:
    if given:
        raise ValueError("Identities have no metadata; leave metadata out, or give none")
    return given


def _refuse_end(given: bool) -> bool:  # noqa: FBT001 - a validator has one argument
    if given:
        raise ValueError(
            "Roles for a time are not offered; give the role without isTemporary, and take it away later"
        )
    return given


_FALSE = {"const": False}
_NoProtection = Annotated[Flag, Field(json_schema_extra=_FALSE), AfterValidator(_refuse_protection)]
_NoMetadata = Annotated[
    list[IdentityMetadata], Field(json_schema_extra={"maxItems": 0}), AfterValidator(_refuse_metadata)
]
_Permanent = Annotated[Flag, Field(json_schema_extra=_FALSE), AfterValidator(_refuse_end)]


class CreateIdentity(BodyModel):
    """POST /api/v1/identities."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    organization_id: Annotated[str, Field(min_length=1)]
    role: OrganizationRoleSlug = "no-access"
    has_delete_protection: _NoProtection | None = None
    metadata: _NoMetadata | None = None


class UpdateIdentity(BodyModel):
    """PATCH /api/v1/identities/{id}: what is absent stays."""

    name: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    role: OrganizationRoleSlug | None = None
    has_delete_protection: _NoProtection | None = None
    metadata: _NoMetadata | None = None


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


class CreateClientSecret(BodyModel):
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


class GivenRole(BodyModel):
    """A role that a membership is to give."""

    role: ProjectRoleSlug
    is_temporary: _Permanent | None = None


class PutMembership(BodyModel):
    """The roles of an identity or a user in a project, in place of those it has."""

    roles: Annotated[list[GivenRole], Field(min_length=1, max_length=10)] = Field(
        default_factory=lambda: [GivenRole(role="no-access")]
    )

    @property
    def role_slugs(self) -> tuple[str, ...]:
        """The roles, each once."""
        return tuple(dict.fromkeys(given.role for given in self.roles))


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


class MembershipRoles(WireModel):
    """`{roles}`, which older paths answer to a change."""

    roles: list[MembershipRole]


class ProjectOfMembership(WireModel):
    """The project that a membership is in."""

    id: str
    name: str


class MembershipDetail(Membership):
    """A membership with both of its sides."""

    identity: IdentityItself
    project: ProjectOfMembership


class MembershipDetailAnswer(WireModel):
    """`{identityMembership}` of one that is read."""

    identity_membership: MembershipDetail
