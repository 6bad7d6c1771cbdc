"""Kubernetes and LDAP auth on the wire (wire.md section 1.2), and the end of lockouts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from keybearer.wire.base import WHOLE, Flag, WireInstant, WireModel
from keybearer.wire.identities import TrustedIp
from keybearer.wire.limits import TOKEN_TTL_MAX_SECONDS

__all__ = [
    "AllowedField",
    "ClearedLockouts",
    "KubernetesAuth",
    "KubernetesAuthAnswer",
    "KubernetesAuthConfig",
    "LdapAuth",
    "LdapAuthAnswer",
    "LdapAuthConfig",
    "UpdateKubernetesAuth",
    "UpdateLdapAuth",
]

_Seconds = Annotated[int, Field(ge=0, le=TOKEN_TTL_MAX_SECONDS), WHOLE]
_Count = Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE]
_TrustedIps = Annotated[list[TrustedIp], Field(min_length=1, max_length=100)]
_Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2048)]
_Globs = Annotated[str, Field(max_length=4096)]
_Audience = Annotated[str, StringConstraints(strip_whitespace=True, max_length=512)]
_Pem = Annotated[str, Field(max_length=65_536)]
_TokenText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=16_384)]
_Token = Annotated[_TokenText | None, Field(repr=False)]
_Dn = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1024)]
_PasswordText = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00]+$")]
_Password = Annotated[_PasswordText, Field(repr=False)]
_ChangedPassword = Annotated[_PasswordText | None, Field(repr=False)]
_SearchFilter = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]
_Threshold = Annotated[int, Field(ge=1, le=30), WHOLE]
_Duration = Annotated[int, Field(ge=30, le=86_400), WHOLE]
_CounterReset = Annotated[int, Field(ge=5, le=3600), WHOLE]


def _everywhere() -> list[TrustedIp]:
    return [TrustedIp(ip_address="0.0.0.0/0"), TrustedIp(ip_address="::/0")]


class _Terms(WireModel):
    """Of the tokens that a login gives: durations in seconds, 0 without end or limit."""

    access_token_trusted_ips: _TrustedIps = Field(default_factory=_everywhere)
    access_token_ttl: Annotated[_Seconds, Field(alias="accessTokenTTL")] = 2_592_000
    access_token_max_ttl: Annotated[_Seconds, Field(alias="accessTokenMaxTTL")] = 2_592_000
    access_token_num_uses_limit: _Count = 0
    access_token_period: _Seconds = 0


class _ChangedTerms(WireModel):
    """What is absent stays."""

    access_token_trusted_ips: _TrustedIps | None = None
    access_token_ttl: Annotated[_Seconds | None, Field(alias="accessTokenTTL")] = None
    access_token_max_ttl: Annotated[_Seconds | None, Field(alias="accessTokenMaxTTL")] = None
    access_token_num_uses_limit: _Count | None = None
    access_token_period: _Seconds | None = None


class _KubernetesShown(_Terms):
    kubernetes_host: _Url
    ca_cert: _Pem = ""
    token_review_mode: Literal["api"] = "api"
    allowed_namespaces: _Globs = ""
    allowed_names: _Globs = ""
    allowed_audience: _Audience = ""


class KubernetesAuthConfig(_KubernetesShown):
    """POST .../kubernetes-auth/identities/{id}."""

    token_reviewer_jwt: _Token = None


class UpdateKubernetesAuth(_ChangedTerms):
    """PATCH .../kubernetes-auth/identities/{id}: what is absent stays; a null reviewer is removed."""

    kubernetes_host: _Url | None = None
    ca_cert: _Pem | None = None
    token_reviewer_jwt: _Token = None
    token_review_mode: Literal["api"] | None = None
    allowed_namespaces: _Globs | None = None
    allowed_names: _Globs | None = None
    allowed_audience: _Audience | None = None


class KubernetesAuth(_KubernetesShown):
    """A configuration as it is answered: without the reviewer's token."""

    id: str
    identity_id: str
    created_at: WireInstant
    updated_at: WireInstant


class KubernetesAuthAnswer(WireModel):
    """`{identityKubernetesAuth}`."""

    identity_kubernetes_auth: KubernetesAuth


class AllowedField(WireModel):
    """An attribute and the value, or values parted by commas, of which a user must have one."""

    key: Annotated[
        str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9.;-]{0,127}$")
    ]
    value: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]


class _LdapShown(_Terms):
    url: _Url
    bind_dn: Annotated[_Dn, Field(alias="bindDN")]
    search_base: _Dn
    search_filter: _SearchFilter = "(uid={{username}})"
    ldap_ca_certificate: _Pem = ""
    allowed_fields: Annotated[list[AllowedField], Field(max_length=50)] = Field(default_factory=list)
    lockout_enabled: Flag = True
    lockout_threshold: _Threshold = 3
    lockout_duration_seconds: _Duration = 300
    lockout_counter_reset_seconds: _CounterReset = 30


class LdapAuthConfig(_LdapShown):
    """POST .../ldap-auth/identities/{id}."""

    bind_pass: _Password


class UpdateLdapAuth(_ChangedTerms):
    """PATCH .../ldap-auth/identities/{id}: what is absent stays."""

    url: _Url | None = None
    bind_dn: Annotated[_Dn | None, Field(alias="bindDN")] = None
    bind_pass: _ChangedPassword = None
    search_base: _Dn | None = None
    search_filter: _SearchFilter | None = None
    ldap_ca_certificate: _Pem | None = None
    allowed_fields: Annotated[list[AllowedField], Field(max_length=50)] | None = None
    lockout_enabled: Flag | None = None
    lockout_threshold: _Threshold | None = None
    lockout_duration_seconds: _Duration | None = None
    lockout_counter_reset_seconds: _CounterReset | None = None


class LdapAuth(_LdapShown):
    """A configuration as it is answered: without the password."""

    id: str
    identity_id: str
    created_at: WireInstant
    updated_at: WireInstant


class LdapAuthAnswer(WireModel):
    """`{identityLdapAuth}`."""

    identity_ldap_auth: LdapAuth


class ClearedLockouts(WireModel):
    """How many lockouts ended."""

    deleted: int
