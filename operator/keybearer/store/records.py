"""What the store gives and takes: one frozen record per table, opened where the table holds it sealed.

Records that say what their table is are in the modules of their repositories (`store.tags`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId, ProjectId
from keybearer.store.tags import Tag

__all__ = [
    "AccessToken",
    "ClientSecret",
    "Environment",
    "Folder",
    "Identity",
    "LoginFailures",
    "Membership",
    "Metadata",
    "Organization",
    "Project",
    "Secret",
    "SecretDetails",
    "UniversalAuth",
    "User",
]


@dataclass(frozen=True, slots=True)
class Organization:
    """An organization."""

    id: OrganizationId
    name: str
    slug: str
    names_revision: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Identity:
    """A machine identity, or what a user is to projects; `role` is its role in the organization."""

    id: IdentityId
    organization_id: OrganizationId
    name: str
    role: str
    permission_revision: int
    created_at: datetime
    updated_at: datetime
    kind: str = "machine"


@dataclass(frozen=True, slots=True)
class User:
    """A user beside its identity; `email`, in lower case, is the username as well."""

    identity_id: IdentityId
    email: str
    first_name: str | None
    last_name: str | None
    password_hash: str = field(repr=False)
    password_changed_at: datetime
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class LoginFailures:
    """Failed logins to one account from one source of addresses; they say nothing any more from `expires_at` on.

    Attributes:
        digest: keyed, of the two; `account` of the account alone.
        failures: in quick succession; `slow_failures`: since `slow_since`, however slowly they came.
    """

    digest: bytes = field(repr=False)
    account: bytes = field(repr=False)
    failures: int
    last_failure_at: datetime | None
    slow_failures: int
    slow_since: datetime | None
    locked_until: datetime | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class UniversalAuth:
    """Universal Auth of one identity; durations in seconds, 0 means without end or unlimited."""

    identity_id: IdentityId
    id: str
    client_id: str
    access_token_ttl: int
    access_token_max_ttl: int
    access_token_num_uses_limit: int
    access_token_period: int
    access_token_trusted_ips: tuple[str, ...]
    client_secret_trusted_ips: tuple[str, ...]
    lockout_enabled: bool
    lockout_threshold: int
    lockout_duration_seconds: int
    lockout_counter_reset_seconds: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """A client secret as the store knows it: never its text. `ttl` in seconds, 0 without end."""

    id: str
    identity_id: IdentityId
    description: str
    prefix: str
    digest: bytes = field(repr=False)
    num_uses: int
    num_uses_limit: int
    ttl: int
    revoked: bool
    last_used_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token that was signed; times in seconds, `expires_at` None for one without end."""

    id: str
    identity_id: IdentityId
    auth_method: str
    client_secret_id: str | None
    ttl: int
    max_ttl: int
    period: int
    num_uses: int
    num_uses_limit: int
    trusted_ips: tuple[str, ...]
    created_at: datetime
    renewed_at: datetime | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class GrantedTerms:
    """What a way to log in grants at present; times in seconds, 0 means without end or unlimited."""

    ttl: int
    max_ttl: int
    period: int
    num_uses_limit: int
    trusted_ips: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """A project; `revision` moves with every change of an answer about it."""

    id: ProjectId
    organization_id: OrganizationId
    name: str
    slug: str
    description: str | None
    type: str
    auto_capitalization: bool
    has_delete_protection: bool
    revision: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Membership:
    """An identity's roles in a project."""

    id: str
    project_id: ProjectId
    identity_id: IdentityId
    roles: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment; `position` counts from 1."""

    id: str
    project_id: ProjectId
    name: str
    slug: EnvironmentSlug
    position: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder; the root of an environment has the path `/` and no parent."""

    id: str
    environment_id: str
    parent_id: str | None
    name: str
    path: FolderPath
    description: str | None
    version: int
    is_reserved: bool
    last_secret_modified: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Metadata:
    """A key and a value beside a secret."""

    key: str
    value: str = field(repr=False)
    is_encrypted: bool = False


@dataclass(frozen=True, slots=True)
class SecretDetails:
    """What a secret carries beside its value; sealed like it.

    `is_literal` says that the value holds no references, whatever it looks like.
    """

    comment: str = field(default="", repr=False)
    metadata: tuple[Metadata, ...] = field(default=(), repr=False)
    reminder_note: str | None = field(default=None, repr=False)
    reminder_repeat_days: int | None = None
    reminder_recipients: tuple[str, ...] = ()
    is_literal: bool = False


@dataclass(frozen=True, slots=True)
class Secret:
    """One version of a secret, opened. `value` is None where it was not asked for."""

    id: str
    project_id: ProjectId
    folder_id: str
    environment: EnvironmentSlug
    path: FolderPath
    key: str
    owner: str
    version: int
    value: str | None = field(repr=False)
    details: SecretDetails
    skip_multiline_encoding: bool | None
    created_at: datetime
    updated_at: datetime
    tags: tuple[Tag, ...] = ()
