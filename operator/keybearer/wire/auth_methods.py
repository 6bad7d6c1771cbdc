"""Kubernetes and LDAP auth on the wire (wire.md section 1.2), and the end of lockouts."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, StringConstraints

from keybearer.wire.base import WireInstant, WireModel
from keybearer.wire.bodies import Zero
from keybearer.wire.token_terms import ChangedLockingTerms, ChangedTokenTerms, LockingTerms, TokenTerms

__all__ = [
    "AllowedField",
    "ClearedLockouts",
    "KubernetesAuth",
    "KubernetesAuthAnswer",
    "KubernetesAuthConfig",
    "LdapAuth",
    "LdapAuthAnswer",
    "LdapAuthConfig",
    "TokenReviewer",
    "UpdateKubernetesAuth",
    "UpdateLdapAuth",
]

TokenReviewer: TypeAlias = Literal["stored-token", "service-account", "login-token"]
"""Whose token asks the API server to review the token of a login: `stored-token` is `tokenReviewerJwt`,
`service-account` the service's own ServiceAccount, and `login-token` the token that logs in."""
_Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2048, pattern=r"\S")]
# Empty texts of these remove a restriction or a certificate.
_Globs = Annotated[str, Field(max_length=4096), Zero.COUNTS]
_Audience = Annotated[str, StringConstraints(strip_whitespace=True, max_length=512), Zero.COUNTS]
_Pem = Annotated[str, Field(max_length=65_536), Zero.COUNTS]
_TokenText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=16_384)]
_Token = Annotated[_TokenText | None, Field(repr=False)]
_Dn = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1024, pattern=r"\S")]
_PasswordText = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00]+$")]
_Password = Annotated[_PasswordText, Field(repr=False)]
_ChangedPassword = Annotated[_PasswordText | None, Field(repr=False), Zero.COUNTS]
_SearchFilter = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096, pattern=r"\S")
]


class _KubernetesShown(TokenTerms):
    kubernetes_host: _Url
    ca_cert: _Pem = ""
    token_review_mode: Literal["api"] = "api"
    allowed_namespaces: _Globs = ""
    allowed_names: _Globs = ""
    allowed_audience: _Audience = ""


class KubernetesAuthConfig(_KubernetesShown):
    """POST .../kubernetes-auth/identities/{id}."""

    token_reviewer_jwt: _Token = None


class UpdateKubernetesAuth(ChangedTokenTerms):
    """PATCH .../kubernetes-auth/identities/{id}: what is absent stays; a null reviewer is removed."""

    kubernetes_host: _Url | None = None
    ca_cert: _Pem | None = None
    token_reviewer_jwt: Annotated[_Token, Zero.CLEARS] = None
    token_review_mode: Literal["api"] | None = None
    allowed_namespaces: _Globs | None = None
    allowed_names: _Globs | None = None
    allowed_audience: _Audience | None = None


class KubernetesAuth(_KubernetesShown):
    """A configuration as it is answered: whose token asks for reviews, and no token."""

    id: str
    identity_id: str
    token_reviewer: TokenReviewer
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
    value: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096, pattern=r"\S")
    ]


class _LdapShown(LockingTerms):
    url: _Url
    bind_dn: Annotated[_Dn, Field(alias="bindDN")]
    search_base: _Dn
    search_filter: _SearchFilter = "(uid={{username}})"
    ldap_ca_certificate: _Pem = ""
    allowed_fields: Annotated[list[AllowedField], Field(max_length=50)] = Field(default_factory=list)


class LdapAuthConfig(_LdapShown):
    """POST .../ldap-auth/identities/{id}."""

    bind_pass: _Password


class UpdateLdapAuth(ChangedLockingTerms):
    """PATCH .../ldap-auth/identities/{id}: what is absent stays."""

    url: _Url | None = None
    bind_dn: Annotated[_Dn | None, Field(alias="bindDN")] = None
    bind_pass: _ChangedPassword = None
    search_base: _Dn | None = None
    search_filter: _SearchFilter | None = None
    ldap_ca_certificate: _Pem | None = None
    allowed_fields: Annotated[list[AllowedField], Field(max_length=50)] | None = None


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
