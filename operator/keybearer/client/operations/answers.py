"""The envelopes around what the service answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from keybearer.client.actors import (
    AuditLog,
    ClientSecret,
    Grant,
    Identity,
    IdentityMembership,
    KubernetesAuthSettings,
    LdapAuthSettings,
    Organization,
    UniversalAuthSettings,
    User,
    UserMembership,
)
from keybearer.client.lenient import Several, from_wire
from keybearer.client.models import (
    TOKEN_PATTERN,
    Environment,
    Folder,
    ImportBlock,
    Project,
    Secret,
    SecretImport,
    Tag,
)

__all__ = [
    "AuditLogsAnswer",
    "ClearedLockoutsAnswer",
    "ClientSecretAnswer",
    "ClientSecretsAnswer",
    "EnvironmentAnswer",
    "FolderAnswer",
    "FoldersAnswer",
    "GrantAnswer",
    "GrantsAnswer",
    "IdentitiesAnswer",
    "IdentityAnswer",
    "IdentityMembershipAnswer",
    "IdentityMembershipsAnswer",
    "ImportAnswer",
    "ImportsAnswer",
    "KubernetesAuthAnswer",
    "LdapAuthAnswer",
    "MessageAnswer",
    "OrganizationAnswer",
    "OrganizationsAnswer",
    "ProjectAnswer",
    "ProjectsAnswer",
    "SecretAnswer",
    "SecretBatchAnswer",
    "SecretVersionsAnswer",
    "SecretsAnswer",
    "SelectedOrganizationAnswer",
    "TagAnswer",
    "TagsAnswer",
    "UniversalAuthAnswer",
    "UserAnswer",
    "UserMembershipAnswer",
    "UserMembershipsAnswer",
    "UsersAnswer",
]


@from_wire
@dataclass(frozen=True, slots=True)
class SecretAnswer:
    """`{secret}`."""

    secret: Secret


@from_wire
@dataclass(frozen=True, slots=True)
class SecretsAnswer:
    """`{secrets, imports}`; published servers may leave `imports` out."""

    secrets: tuple[Secret, ...]
    imports: Several[ImportBlock] = ()


@from_wire
@dataclass(frozen=True, slots=True)
class ProjectAnswer:
    """`{project}`."""

    project: Project


@from_wire
@dataclass(frozen=True, slots=True)
class ProjectsAnswer:
    """`{projects}`."""

    projects: tuple[Project, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class EnvironmentAnswer:
    """`{environment}`."""

    environment: Environment


@from_wire
@dataclass(frozen=True, slots=True)
class FolderAnswer:
    """`{folder}`."""

    folder: Folder


@from_wire
@dataclass(frozen=True, slots=True)
class FoldersAnswer:
    """`{folders}`."""

    folders: tuple[Folder, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class MessageAnswer:
    """`{message}`."""

    message: str


@from_wire
@dataclass(frozen=True, slots=True)
class ClientSecretAnswer:
    """`{clientSecretData}`."""

    client_secret_data: ClientSecret


@from_wire
@dataclass(frozen=True, slots=True)
class ClientSecretsAnswer:
    """`{clientSecretData}`."""

    client_secret_data: tuple[ClientSecret, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class IdentitiesAnswer:
    """`{identities}`."""

    identities: tuple[Identity, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class IdentityAnswer:
    """`{identity}`."""

    identity: Identity


@from_wire
@dataclass(frozen=True, slots=True)
class IdentityMembershipAnswer:
    """`{identityMembership}`."""

    identity_membership: IdentityMembership


@from_wire
@dataclass(frozen=True, slots=True)
class IdentityMembershipsAnswer:
    """`{identityMemberships}`."""

    identity_memberships: tuple[IdentityMembership, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class ImportAnswer:
    """`{secretImport}`."""

    secret_import: SecretImport


@from_wire
@dataclass(frozen=True, slots=True)
class ImportsAnswer:
    """`{secretImports}`."""

    secret_imports: tuple[SecretImport, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class OrganizationAnswer:
    """`{organization}`."""

    organization: Organization


@from_wire
@dataclass(frozen=True, slots=True)
class OrganizationsAnswer:
    """`{organizations}`."""

    organizations: tuple[Organization, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class SecretBatchAnswer:
    """`{secrets}`."""

    secrets: tuple[Secret, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class TagAnswer:
    """`{tag}`."""

    tag: Tag


@from_wire
@dataclass(frozen=True, slots=True)
class TagsAnswer:
    """`{tags}`."""

    tags: tuple[Tag, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class ClearedLockoutsAnswer:
    """`{deleted}`."""

    deleted: int


@from_wire
@dataclass(frozen=True, slots=True)
class KubernetesAuthAnswer:
    """`{identityKubernetesAuth}`."""

    identity_kubernetes_auth: KubernetesAuthSettings


@from_wire
@dataclass(frozen=True, slots=True)
class LdapAuthAnswer:
    """`{identityLdapAuth}`."""

    identity_ldap_auth: LdapAuthSettings


@from_wire
@dataclass(frozen=True, slots=True)
class UniversalAuthAnswer:
    """`{identityUniversalAuth}`."""

    identity_universal_auth: UniversalAuthSettings


@from_wire
@dataclass(frozen=True, slots=True)
class UserAnswer:
    """`{user}`."""

    user: User


@from_wire
@dataclass(frozen=True, slots=True)
class UsersAnswer:
    """`{users}`."""

    users: tuple[User, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class UserMembershipAnswer:
    """`{membership}`."""

    membership: UserMembership


@from_wire
@dataclass(frozen=True, slots=True)
class UserMembershipsAnswer:
    """`{memberships}`."""

    memberships: tuple[UserMembership, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class SelectedOrganizationAnswer:
    """`{token}`."""

    token: Annotated[str, Field(pattern=TOKEN_PATTERN)] = field(repr=False)


@from_wire
@dataclass(frozen=True, slots=True)
class AuditLogsAnswer:
    """`{auditLogs}`."""

    audit_logs: tuple[AuditLog, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class GrantAnswer:
    """`{grant}`."""

    grant: Grant


@from_wire
@dataclass(frozen=True, slots=True)
class GrantsAnswer:
    """`{grants}`."""

    grants: tuple[Grant, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class SecretVersionsAnswer:
    """`{secretVersions}`."""

    secret_versions: tuple[Secret, ...]
