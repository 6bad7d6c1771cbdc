"""Domain to wire: the JSON of Kubernetes and LDAP auth. What opens another door is never shown."""

from __future__ import annotations

from collections.abc import Iterable

from keybearer.store.auth_methods import KubernetesAuth, LdapAuth
from keybearer.wire.auth_methods import TokenReviewer
from keybearer.wire.base import write_instant

__all__ = ["kubernetes_auth_json", "ldap_auth_json"]

Json = dict[str, object]


def kubernetes_auth_json(auth: KubernetesAuth, reviewer: TokenReviewer) -> Json:
    """Return Kubernetes auth (wire.md section 1.2), and whose token asks for reviews."""
    return {
        "kubernetesHost": auth.host,
        "caCert": auth.ca_pem,
        "tokenReviewMode": "api",
        "tokenReviewer": reviewer,
        "allowedNamespaces": auth.allowed_namespaces,
        "allowedNames": auth.allowed_names,
        "allowedAudience": auth.allowed_audience,
        **_common(auth),
    }


def ldap_auth_json(auth: LdapAuth) -> Json:
    """Return LDAP auth (wire.md section 1.2)."""
    return {
        "url": auth.url,
        "bindDN": auth.bind_dn,
        "searchBase": auth.search_base,
        "searchFilter": auth.search_filter,
        "ldapCaCertificate": auth.ca_pem,
        "allowedFields": [{"key": key, "value": value} for key, value in auth.allowed_fields],
        "lockoutEnabled": auth.lockout_enabled,
        "lockoutThreshold": auth.lockout_threshold,
        "lockoutDurationSeconds": auth.lockout_duration_seconds,
        "lockoutCounterResetSeconds": auth.lockout_counter_reset_seconds,
        **_common(auth),
    }


def _common(auth: KubernetesAuth | LdapAuth) -> Json:
    return {
        "id": auth.id,
        "identityId": auth.identity_id,
        "accessTokenTTL": auth.access_token_ttl,
        "accessTokenMaxTTL": auth.access_token_max_ttl,
        "accessTokenNumUsesLimit": auth.access_token_num_uses_limit,
        "accessTokenPeriod": auth.access_token_period,
        "accessTokenTrustedIps": _addresses(auth.access_token_trusted_ips),
        "createdAt": write_instant(auth.created_at),
        "updatedAt": write_instant(auth.updated_at),
    }


def _addresses(ranges: Iterable[str]) -> list[Json]:
    return [{"ipAddress": address} for address in ranges]
