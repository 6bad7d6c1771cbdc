"""Who may do what, as the documents tell it: tokens, users, identities, auth methods, roles, grants, audit, keys.

From wire.md 1.2 to 1.4 where it names fields, and from docs/interface.md ("What additions answer") where it doesn't.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from support.strict_kinds import Count, Id, Instant, Path, Slug, Uuid, Version, listed, only, shape

__all__ = [
    "AUDIT_LOGS",
    "BOOTSTRAPPED",
    "CLEARED",
    "CLIENT_SECRETS",
    "FOUND_IDENTITY",
    "FOUND_IDENTITY_MEMBERSHIP",
    "GRANTS",
    "IDENTITIES",
    "IDENTITY_MEMBERSHIPS",
    "KEYS",
    "KUBERNETES_AUTH",
    "LDAP_AUTH",
    "MESSAGE",
    "NEW_CLIENT_SECRET",
    "ONE_CLIENT_SECRET",
    "ONE_GRANT",
    "ONE_IDENTITY",
    "ONE_IDENTITY_MEMBERSHIP",
    "ONE_ORGANIZATION",
    "ONE_USER",
    "ONE_USER_MEMBERSHIP",
    "ORGANIZATIONS",
    "OWN_DETAILS",
    "ROLES_OF_MEMBERSHIP",
    "ROTATED_DATA",
    "ROTATED_ROOT",
    "SELECTED",
    "SUB_ORGANIZATIONS",
    "TOKEN",
    "UNIVERSAL_AUTH",
    "USERS",
    "USER_MEMBERSHIPS",
    "USER_TOKEN",
]

_TOKEN_TEXT = Annotated[str, Field(min_length=20)]
_ORGANIZATION_ROLE = Literal["admin", "member", "no-access"]
_ROLES = listed(shape("role", {"role": Literal["admin", "member", "viewer", "no-access"]}))
_TIMES = {"createdAt": Instant, "updatedAt": Instant}

# --- wire.md 1.2 and 1.3
TOKEN = shape(
    "token",
    {
        "accessToken": _TOKEN_TEXT,
        "expiresIn": Version,
        "accessTokenMaxTTL": Count,
        "tokenType": Literal["Bearer"],
    },
)
MESSAGE = only("message", Id)

# --- users and organizations
USER_TOKEN = only("accessToken", _TOKEN_TEXT)
SELECTED = only("token", _TOKEN_TEXT)
_EMAIL = Annotated[str, Field(pattern=r"^[^@]+@[^@]+$")]
_PERSON = {
    "id": Uuid,
    "email": _EMAIL,
    "username": _EMAIL,
    "firstName": str | None,
    "lastName": str | None,
}
_USER = shape("user", {**_PERSON, "orgId": Uuid, "role": _ORGANIZATION_ROLE, **_TIMES})
ONE_USER = only("user", _USER)
USERS = shape("users", {"users": listed(_USER), "totalCount": Count})
_ORGANIZATION = shape("organization", {"id": Uuid, "name": Id, "slug": Slug, "createdAt": Instant})
ONE_ORGANIZATION = only("organization", _ORGANIZATION)
ORGANIZATIONS = only("organizations", listed(_ORGANIZATION))
SUB_ORGANIZATIONS = shape(
    "organizations below",
    {"organizations": Annotated[list[str], Field(max_length=0)], "totalCount": Literal[0]},
)
_FIRST_IDENTITY = shape("first identity", {"id": Uuid, "name": Id, "credentials": only("token", _TOKEN_TEXT)})
BOOTSTRAPPED = shape(
    "set up", {"message": Id, "organization": _ORGANIZATION, "user": _USER, "identity": _FIRST_IDENTITY}
)

# --- machine identities and their roles
_LISTED_IDENTITY = {"id": Uuid, "name": Id, "orgId": Uuid, "role": _ORGANIZATION_ROLE, **_TIMES}
_PROTECTION_AND_METHODS = {
    "hasDeleteProtection": Literal[False],
    "authMethods": list[Literal["kubernetes-auth", "ldap-auth", "universal-auth"]],
}
_IDENTITY = {
    **_LISTED_IDENTITY,
    **_PROTECTION_AND_METHODS,
    "metadata": Annotated[list[str], Field(max_length=0)],
}
_IDENTITY_ITSELF = shape("identity itself", {"id": Uuid, "name": Id, **_PROTECTION_AND_METHODS})
ONE_IDENTITY = only("identity", shape("identity", _IDENTITY))
FOUND_IDENTITY = only("identity", shape("found identity", {**_IDENTITY, "identity": _IDENTITY_ITSELF}))
IDENTITIES = shape(
    "identities", {"identities": listed(shape("listed identity", _LISTED_IDENTITY)), "totalCount": Count}
)
OWN_DETAILS = only(
    "identityDetails",
    only("organization", shape("own organization", {"id": Uuid, "name": Id, "slug": Slug})),
)
_IDENTITY_MEMBERSHIP = shape(
    "membership of an identity",
    {"id": Uuid, "projectId": Uuid, "identityId": Uuid, "roles": _ROLES, **_TIMES},
)
ONE_IDENTITY_MEMBERSHIP = only("identityMembership", _IDENTITY_MEMBERSHIP)
FOUND_IDENTITY_MEMBERSHIP = only(
    "identityMembership",
    shape(
        "found membership of an identity",
        {
            "id": Uuid,
            "projectId": Uuid,
            "identityId": Uuid,
            "roles": _ROLES,
            "identity": _IDENTITY_ITSELF,
            "project": shape("project of a membership", {"id": Uuid, "name": str}),
            **_TIMES,
        },
    ),
)
ROLES_OF_MEMBERSHIP = only("roles", _ROLES)
IDENTITY_MEMBERSHIPS = shape(
    "memberships of identities", {"identityMemberships": listed(_IDENTITY_MEMBERSHIP), "totalCount": Count}
)
_USER_MEMBERSHIP = shape(
    "membership of a user",
    {
        "id": Uuid,
        "userId": Uuid,
        "projectId": Uuid,
        "roles": _ROLES,
        "user": shape("member", _PERSON),
        **_TIMES,
    },
)
ONE_USER_MEMBERSHIP = only("membership", _USER_MEMBERSHIP)
USER_MEMBERSHIPS = only("memberships", listed(_USER_MEMBERSHIP))

# --- auth methods of an identity
_SECONDS = Annotated[int, Field(ge=0, le=315_360_000)]
_RANGES = listed(shape("range", {"ipAddress": Id}), at_least=1, at_most=100)
_TERMS = {
    "id": Uuid,
    "identityId": Uuid,
    "accessTokenTTL": _SECONDS,
    "accessTokenMaxTTL": _SECONDS,
    "accessTokenNumUsesLimit": Count,
    "accessTokenPeriod": _SECONDS,
    "accessTokenTrustedIps": _RANGES,
    **_TIMES,
}
_LOCKOUT = {
    "lockoutEnabled": bool,
    "lockoutThreshold": Annotated[int, Field(ge=1, le=30)],
    "lockoutDurationSeconds": Annotated[int, Field(ge=30, le=86_400)],
    "lockoutCounterResetSeconds": Annotated[int, Field(ge=5, le=3600)],
}
UNIVERSAL_AUTH = only(
    "identityUniversalAuth",
    shape("universal auth", {**_TERMS, **_LOCKOUT, "clientId": Id, "clientSecretTrustedIps": _RANGES}),
)
KUBERNETES_AUTH = only(
    "identityKubernetesAuth",
    shape(
        "kubernetes auth",
        {
            **_TERMS,
            "kubernetesHost": Id,
            "caCert": str,
            "tokenReviewMode": Literal["api"],
            "tokenReviewer": Literal["stored-token", "service-account", "login-token"],
            "allowedNamespaces": str,
            "allowedNames": str,
            "allowedAudience": str,
        },
    ),
)
LDAP_AUTH = only(
    "identityLdapAuth",
    shape(
        "ldap auth",
        {
            **_TERMS,
            **_LOCKOUT,
            "url": Id,
            "bindDN": Id,
            "searchBase": Id,
            "searchFilter": Id,
            "ldapCaCertificate": str,
            "allowedFields": listed(shape("required attribute", {"key": Id, "value": Id})),
        },
    ),
)
CLEARED = only("deleted", Count)
_CLIENT_SECRET = shape(
    "client secret",
    {
        "id": Uuid,
        "description": str,
        "clientSecretPrefix": Annotated[str, Field(min_length=4, max_length=4)],
        "clientSecretNumUses": Count,
        "clientSecretNumUsesLimit": Count,
        "clientSecretTTL": _SECONDS,
        "isClientSecretRevoked": bool,
        "identityUAId": Uuid,
        "clientSecretLastUsedAt": Instant | None,
        **_TIMES,
    },
)
NEW_CLIENT_SECRET = shape(
    "new client secret", {"clientSecret": _TOKEN_TEXT, "clientSecretData": _CLIENT_SECRET}
)
ONE_CLIENT_SECRET = only("clientSecretData", _CLIENT_SECRET)
CLIENT_SECRETS = only("clientSecretData", listed(_CLIENT_SECRET))

# --- grants
_SUBJECT = Literal[
    "secrets",
    "secret-folders",
    "secret-imports",
    "environments",
    "tags",
    "workspace",
    "app-connections",
    "secret-syncs",
]
_GRANT = shape(
    "grant",
    {
        "id": Uuid,
        "projectId": Uuid,
        "identityId": Uuid,
        "effect": Literal["allow", "deny"],
        "subjects": Annotated[list[_SUBJECT], Field(min_length=1)],
        "actions": Annotated[
            list[Literal["read", "read-value", "create", "edit", "delete", "connect"]], Field(min_length=1)
        ],
        "environment": Annotated[str, Field(pattern=r"^(\*|[a-z0-9]+(-[a-z0-9]+)*)$")],
        "secretPath": Path,
        **_TIMES,
    },
)
ONE_GRANT = only("grant", _GRANT)
GRANTS = shape("grants", {"grants": listed(_GRANT), "totalCount": Count})

# --- the audit log
_ACTOR = (
    shape(
        "identity that acted",
        {
            "type": Literal["identity"],
            "metadata": shape("identity", {"identityId": Uuid, "name": str | None}),
        },
    )
    | shape(
        "user that acted",
        {"type": Literal["user"], "metadata": shape("user", {"userId": Uuid, "username": str | None})},
    )
    | shape("the service itself", {"type": Literal["platform"], "metadata": shape("its part", {"name": str})})
    | shape("nobody known", {"type": Literal["unknown"], "metadata": shape("nothing", {})})
)
_AUDIT_EVENT = shape("event", {"type": Slug, "metadata": dict[str, str | int | bool | list[str] | None]})
_AUDIT_LOG = shape(
    "line of the audit log",
    {
        "id": Id,
        "orgId": Uuid | None,
        "projectId": Uuid | None,
        "event": _AUDIT_EVENT,
        "actor": _ACTOR,
        "ipAddress": str | None,
        "userAgent": str,
        "userAgentType": Literal["cli", "k8-operator", "terraform", "other"],
        "requestId": str,
        **_TIMES,
    },
)
AUDIT_LOGS = only("auditLogs", listed(_AUDIT_LOG, at_most=1000))

# --- keys
_ROOT_KEY = shape(
    "root key",
    {
        "id": Id,
        "state": Literal["active", "retiring", "retired"],
        "activatedAt": Instant,
        "retiredAt": Instant | None,
        "wraps": Count,
    },
)
_ROTATION = shape("rotation", {"projectId": Uuid, "startedAt": Instant, "resealed": Count})
_CREDENTIAL_ROTATION = shape("credential rotation", {"startedAt": Instant, "remaining": Count})
KEYS = shape(
    "how keys stand",
    {
        "firstRootKeyId": Id,
        "heldRootKeyIds": Annotated[list[Id], Field(min_length=1)],
        "rootKeys": listed(_ROOT_KEY),
        "processes": Count,
        "lackingProcesses": Count,
        "dataKeys": Count,
        "rotations": listed(_ROTATION),
        "credentialRotation": _CREDENTIAL_ROTATION | None,
    },
)
ROTATED_ROOT = only("rootKeyId", Id)
ROTATED_DATA = only("projectIds", list[Uuid])
