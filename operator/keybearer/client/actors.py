"""What the client returns of those who use the service: identities, users, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, JsonValue

from keybearer.client.lenient import Several, Text, from_wire

__all__ = [
    "AllowedField",
    "AuditActor",
    "AuditEvent",
    "AuditLog",
    "ClientSecret",
    "CreatedClientSecret",
    "Identity",
    "IdentityMembership",
    "KubernetesAuthSettings",
    "LdapAuthSettings",
    "Organization",
    "ProjectRole",
    "TrustedIp",
    "UniversalAuthSettings",
    "User",
    "UserMembership",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A machine identity; `role` is its role in the organization."""

    id: str
    name: Text = ""
    org_id: Text = ""
    role: Text = ""
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedIp:
    """An address or a range from which a credential may be used."""

    ip_address: str


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class UniversalAuthSettings:
    """How an identity logs in by client id and client secret. Durations in seconds; 0 is without end or limit."""

    client_id: str
    identity_id: Text = ""
    access_token_ttl: Annotated[int, Field(alias="accessTokenTTL")] = 0
    access_token_max_ttl: Annotated[int, Field(alias="accessTokenMaxTTL")] = 0
    access_token_num_uses_limit: int = 0
    access_token_period: int = 0
    client_secret_trusted_ips: Several[TrustedIp] = ()
    access_token_trusted_ips: Several[TrustedIp] = ()
    lockout_enabled: bool = True
    lockout_threshold: int | None = None
    lockout_duration_seconds: int | None = None
    lockout_counter_reset_seconds: int | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesAuthSettings:
    """How an identity logs in with the token of a ServiceAccount. Durations in seconds; 0 is without end or limit.

    Attributes:
        allowed_namespaces, allowed_names: patterns with `*`, parted by commas; empty for all.
        allowed_audience: empty for any.
        token_reviewer: whose token asks the API server for reviews: `stored-token` (a reviewer's token that the
            service keeps), `service-account` (the service's own) or `login-token` (the token that logs in); empty
            where the service doesn't say.
    """

    kubernetes_host: str
    id: Text = ""
    identity_id: Text = ""
    ca_cert: Text = ""
    token_review_mode: Text = ""
    token_reviewer: Text = ""
    allowed_namespaces: Text = ""
    allowed_names: Text = ""
    allowed_audience: Text = ""
    access_token_ttl: Annotated[int, Field(alias="accessTokenTTL")] = 0
    access_token_max_ttl: Annotated[int, Field(alias="accessTokenMaxTTL")] = 0
    access_token_num_uses_limit: int = 0
    access_token_period: int = 0
    access_token_trusted_ips: Several[TrustedIp] = ()
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedField:
    """An attribute of the directory, and the values, parted by commas, of which a person must have one."""

    key: str
    value: str = field(repr=False)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class LdapAuthSettings:
    """How an identity logs in as a person of a directory. Durations in seconds; 0 is without end or limit.

    Attributes:
        bind_dn: who looks people up there; the password is never shown.
        search_filter: `{{username}}` stands for the name that is given.
        allowed_fields: all of them must hold.
    """

    url: str
    id: Text = ""
    identity_id: Text = ""
    bind_dn: Annotated[Text, Field(alias="bindDN")] = ""
    search_base: Text = ""
    search_filter: Text = ""
    ldap_ca_certificate: Text = ""
    allowed_fields: Several[AllowedField] = ()
    access_token_ttl: Annotated[int, Field(alias="accessTokenTTL")] = 0
    access_token_max_ttl: Annotated[int, Field(alias="accessTokenMaxTTL")] = 0
    access_token_num_uses_limit: int = 0
    access_token_period: int = 0
    access_token_trusted_ips: Several[TrustedIp] = ()
    lockout_enabled: bool = True
    lockout_threshold: int | None = None
    lockout_duration_seconds: int | None = None
    lockout_counter_reset_seconds: int | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSecret:
    """What is known of a client secret: its first characters, never the whole.

    Attributes:
        client_secret_ttl: seconds; 0 for no end.
        client_secret_num_uses_limit: 0 for no limit.
    """

    id: str
    description: Text = ""
    client_secret_prefix: Text = ""
    client_secret_num_uses: int = 0
    client_secret_num_uses_limit: int = 0
    client_secret_ttl: Annotated[int, Field(alias="clientSecretTTL")] = 0
    is_client_secret_revoked: bool = False
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedClientSecret:
    """A new client secret: the only time the service shows it."""

    client_secret: str = field(repr=False)
    client_secret_data: ClientSecret


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRole:
    """A role in a project: `admin`, `member`, `viewer` or `no-access`."""

    role: str


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityMembership:
    """A machine identity's roles in a project."""

    id: str
    project_id: Text = ""
    identity_id: Text = ""
    roles: Several[ProjectRole] = ()
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """An organization."""

    id: str
    name: Text = ""
    slug: Text = ""
    created_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person; `role` is the role in the organization."""

    id: str
    email: Text = ""
    username: Text = ""
    first_name: Text = ""
    last_name: Text = ""
    role: Text = ""
    org_id: Text = ""
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class UserMembership:
    """A user's roles in a project."""

    id: str
    user: User
    project_id: Text = ""
    user_id: Text = ""
    roles: Several[ProjectRole] = ()
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """What was done; `metadata` holds names, ids and paths."""

    type: str
    metadata: dict[str, JsonValue] = field(default_factory=dict)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditActor:
    """Who did it; the keys of `metadata` depend on the type."""

    type: str
    metadata: dict[str, JsonValue] = field(default_factory=dict)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLog:
    """A line of the audit log."""

    id: str
    event: AuditEvent
    actor: AuditActor
    project_id: str | None = None
    ip_address: Text = ""
    user_agent: Text = ""
    request_id: Text = ""
    created_at: Text = ""
