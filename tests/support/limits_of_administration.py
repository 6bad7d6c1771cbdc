"""The limits of who may do what, by hand from wire.md 1.2 to 1.4 and docs/interface.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support.limit_cases import Limit, World, items, number, text

__all__ = ["LIMITS_OF_ADMINISTRATION", "strong_password"]

_INT = 2**31 - 1
_TEN_YEARS = 315_360_000
_UNKNOWN = "11111111-2222-4333-8444-555555555555"
_UNIVERSAL = "/api/v1/auth/universal-auth/identities/{identity}"
_KUBERNETES = "/api/v1/auth/kubernetes-auth/identities/{bare_identity}"
_LDAP = "/api/v1/auth/ldap-auth/identities/{bare_identity}"
_LOGIN = "POST /api/v1/auth/{}-auth/login"
_KUBERNETES_TERMS = {"kubernetesHost": "https://kubernetes.example.com"}
_LDAP_TERMS = {
    "url": "ldaps://ldap.example.com",
    "bindDN": "cn=service",
    "bindPass": "cnry-bind",
    "searchBase": "dc=example",
}
_GRANTS = "/api/v1/projects/{project}/grants"


def _ascii(length: int) -> str:
    return "a" * length


def strong_password(length: int) -> str:
    """Return so many characters of four bytes, of which none follows from the one before."""
    return "".join(chr(0x1F000 + 3 * number) for number in range(length))


def _organization(world: World) -> Mapping[str, Any]:
    return {"organizationId": world.service.organization_id}


def _person(world: World) -> Mapping[str, Any]:
    return {"email": f"{world.fresh()}@example.com", "password": "cnry-long-enough"}


def _email(world: World, length: int) -> str:
    if length < 20:
        return "a@b"[-length:]
    return f"{world.fresh()}@".ljust(length, "b")


def _kubernetes(_: World) -> Mapping[str, Any]:
    return _KUBERNETES_TERMS


def _ldap(_: World) -> Mapping[str, Any]:
    return _LDAP_TERMS


def _filter(length: int) -> str:
    """Return a filter of that many characters, or the shortest there is."""
    return "(uid={{username}})" if length < 30 else f"(&(uid={{{{username}}}})(a={'b' * (length - 25)}))"


def _certificates(length: int) -> str:
    """Return a text without a certificate, which is as good as none: those of the system are then trusted."""
    return " " * length


def _grant(world: World) -> Mapping[str, Any]:
    return {"identityId": world.identity, "actions": ["read"], "environment": "dev"}


def _ends(length: int) -> Mapping[str, Any]:
    return {"accessTokenMaxTTL": _TEN_YEARS, "accessTokenTTL": length}


def _terms(operation: str, rest: Mapping[str, Any]) -> tuple[Limit, ...]:
    """The limits that the tokens of every method have."""
    with_rest = dict(rest)
    return (
        Limit(
            operation,
            "accessTokenTTL",
            0,
            _TEN_YEARS,
            lambda _, seconds: {**with_rest, **_ends(seconds)},
            ("TOKEN_TTL_MAX_SECONDS",),
            is_number=True,
        ),
        Limit(
            operation,
            "accessTokenMaxTTL",
            0,
            _TEN_YEARS,
            lambda _, seconds: {**with_rest, "accessTokenTTL": 0, "accessTokenMaxTTL": seconds},
            is_number=True,
        ),
        number(operation, "accessTokenNumUsesLimit", 0, _INT, rest=lambda _: with_rest),
        number(operation, "accessTokenPeriod", 0, _TEN_YEARS, rest=lambda _: with_rest),
        items(
            operation,
            "accessTokenTrustedIps",
            1,
            100,
            item=lambda _, i: {"ipAddress": f"10.0.0.{i}"},
            rest=lambda _: with_rest,
        ),
    )


def _lockout(operation: str, rest: Mapping[str, Any]) -> tuple[Limit, ...]:
    with_rest = dict(rest)
    return (
        number(operation, "lockoutThreshold", 1, 30, rest=lambda _: with_rest),
        number(operation, "lockoutDurationSeconds", 30, 86_400, rest=lambda _: with_rest),
        number(operation, "lockoutCounterResetSeconds", 5, 3600, rest=lambda _: with_rest),
    )


_BARE = "POST /api/v1/auth/universal-auth/identities/{bare_identity}"
_SECRET = f"POST {_UNIVERSAL}/client-secrets"
_METHODS = (
    *_terms(_BARE, {}),
    *_lockout(_BARE, {}),
    *_terms(f"PATCH {_UNIVERSAL}", {}),
    *_lockout(f"PATCH {_UNIVERSAL}", {}),
    items(
        f"PATCH {_UNIVERSAL}",
        "clientSecretTrustedIps",
        1,
        100,
        item=lambda _, i: {"ipAddress": f"10.0.0.{i}"},
    ),
    text(
        f"PATCH {_UNIVERSAL}",
        "ipAddress",
        1,
        64,
        make=_ascii,
        put=lambda it: {"accessTokenTrustedIps": [{"ipAddress": it}]},
        taken=400,
    ),
    text(_SECRET, "description", 0, 1024),
    number(_SECRET, "ttl", 0, _TEN_YEARS),
    number(_SECRET, "numUsesLimit", 0, _INT),
    *_terms(f"POST {_KUBERNETES}", _KUBERNETES_TERMS),
    *_terms(f"POST {_LDAP}", _LDAP_TERMS),
    *_lockout(f"POST {_LDAP}", _LDAP_TERMS),
    text(
        f"POST {_KUBERNETES}",
        "kubernetesHost",
        0,
        2048,
        make=lambda n: "https://a.example/".ljust(n, "p"),
    ),
    text(f"POST {_LDAP}", "url", 0, 2048, rest=_ldap, make=lambda n: "ldaps://a.example".ljust(n, "/")),
    text(f"POST {_LDAP}", "searchFilter", 0, 4096, rest=_ldap, make=_filter),
    text(f"POST {_KUBERNETES}", "caCert", 0, 65_536, rest=_kubernetes, make=_certificates),
    text(f"POST {_LDAP}", "ldapCaCertificate", 0, 65_536, rest=_ldap, make=_certificates),
    text(f"POST {_KUBERNETES}", "allowedNamespaces", 0, 4096, rest=_kubernetes, make=_ascii),
    text(f"POST {_KUBERNETES}", "allowedNames", 0, 4096, rest=_kubernetes, make=_ascii),
    text(f"POST {_KUBERNETES}", "allowedAudience", 0, 512, rest=_kubernetes),
    text(f"POST {_KUBERNETES}", "tokenReviewerJwt", 0, 16_384, rest=_kubernetes, make=_ascii),
    text(f"POST {_LDAP}", "bindDN", 1, 1024, rest=_ldap, make=lambda n: ("cn=" + "a" * n)[:n]),
    text(f"POST {_LDAP}", "bindPass", 1, 1024, rest=_ldap, make=lambda n: ("cnry-" + "p" * n)[:n]),
    text(f"POST {_LDAP}", "searchBase", 1, 1024, rest=_ldap, make=lambda n: ("dc=" + "a" * n)[:n]),
    items(
        f"POST {_LDAP}", "allowedFields", 0, 50, item=lambda _, i: {"key": f"k{i}", "value": "v"}, rest=_ldap
    ),
    text(
        f"POST {_LDAP}",
        "value",
        1,
        4096,
        rest=_ldap,
        put=lambda it: {"allowedFields": [{"key": "k", "value": it}]},
    ),
)

_LOGINS = (
    text(
        _LOGIN.format("universal"), "clientId", 1, 512, rest=lambda _: {"clientSecret": "cnry-s"}, taken=401
    ),
    text(
        _LOGIN.format("universal"), "clientSecret", 1, 512, rest=lambda w: {"clientId": w.fresh()}, taken=401
    ),
    text(
        _LOGIN.format("universal"),
        "organizationSlug",
        0,
        64,
        rest=lambda w: {"clientId": w.fresh(), "clientSecret": "cnry-s"},
        taken=401,
    ),
    text(_LOGIN.format("kubernetes"), "identityId", 1, 64, rest=lambda _: {"jwt": "cnry-j"}, taken=404),
    # One byte for each character: of four, the longest would not fit into the body of an open route.
    text(
        _LOGIN.format("kubernetes"),
        "jwt",
        1,
        16_384,
        rest=lambda _: {"identityId": _UNKNOWN},
        make=lambda length: "j" * length,
        taken=404,
    ),
    text(
        _LOGIN.format("ldap"),
        "username",
        1,
        512,
        rest=lambda _: {"identityId": _UNKNOWN, "password": "cnry-p"},
        taken=404,
    ),
    text(
        _LOGIN.format("ldap"),
        "password",
        1,
        1024,
        rest=lambda _: {"identityId": _UNKNOWN, "username": "u"},
        taken=404,
    ),
    text("POST /api/v1/auth/token/renew", "accessToken", 1, 8192, taken=401),
    text("POST /api/v1/auth/token/revoke", "accessToken", 1, 8192, taken=401),
    text("POST /api/v3/auth/login", "email", 1, 254, rest=lambda _: {"password": "cnry-p"}, taken=401),
    text(
        "POST /api/v3/auth/login",
        "password",
        1,
        1024,
        rest=lambda w: {"email": f"{w.fresh()}@example.com"},
        taken=401,
    ),
)

_ACTORS = (
    text("POST /api/v1/identities", "name", 1, 64, rest=_organization),
    text("PATCH /api/v1/identities/{bare_identity}", "name", 1, 64),
    text(
        "POST /api/v1/users",
        "password",
        12,
        256,
        "PASSWORD_MIN",
        "PASSWORD_MAX",
        rest=_person,
        make=strong_password,
    ),
    text("POST /api/v1/users", "firstName", 0, 64, rest=_person),
    text("POST /api/v1/users", "lastName", 0, 64, rest=_person),
    Limit(
        "POST /api/v1/users",
        "email",
        3,
        254,
        lambda world, length: {"password": "cnry-long-enough", "email": _email(world, length)},
    ),
    text("PATCH /api/v1/users/{user}", "password", 12, 256, make=strong_password),
    text("PATCH /api/v1/users/{user}", "firstName", 0, 64),
    Limit(
        "POST /api/v1/workspace/{project}/memberships/details",
        "username",
        3,
        254,
        lambda _, length: {"username": ("n@b" + "b" * length)[:length]},
        taken=404,
    ),
    *(
        Limit(
            "POST /api/v1/projects/{project}/memberships",
            name,
            3,
            254,
            lambda _, length, name=name: {name: [("n@b" + "b" * length)[:length]]},  # type: ignore[misc] # bound now
            taken=404,
        )
        for name in ("emails", "usernames")
    ),
    items(
        "POST /api/v1/projects/{project}/memberships",
        "emails",
        1,
        100,
        item=lambda _, i: f"nobody{i}@example.com",
        taken=404,
    ),
    items(
        "POST /api/v1/projects/{project}/memberships",
        "usernames",
        1,
        100,
        item=lambda _, i: f"nobody{i}@example.com",
        taken=404,
    ),
    items(
        "POST /api/v1/projects/{project}/memberships",
        "roleSlugs",
        1,
        10,
        item=lambda _, __: "viewer",
        rest=lambda _: {"emails": ["nobody@example.com"]},
        taken=404,
    ),
    items(
        "POST /api/v1/projects/{project}/memberships/identities/{identity}",
        "roles",
        1,
        10,
        item=lambda _, __: {"role": "viewer"},
    ),
    items(f"POST {_GRANTS}", "subjects", 1, 10, item=lambda _, __: "secrets", rest=_grant),
    items(f"POST {_GRANTS}", "actions", 1, 10, item=lambda _, __: "read", rest=_grant),
    text(f"POST {_GRANTS}", "environment", 1, 64, rest=_grant, make=_ascii, taken=404),
    text(f"POST {_GRANTS}", "identityId", 1, 36, rest=_grant, make=_ascii, taken=404),
    text(f"POST {_GRANTS}", "secretPath", 1, 1024, rest=_grant, make=lambda n: ("/" + "a" * n)[:n]),
    Limit(
        f"POST {_GRANTS}",
        "secretPath",
        0,
        64,
        lambda world, names: {**_grant(world), "secretPath": "/" + "/".join("a" * names)},
    ),
    Limit(
        f"POST {_GRANTS}",
        "secretPath",
        0,
        8,
        lambda world, times: {**_grant(world), "secretPath": "/a" + "/**/a" * times},
        ("PATTERN_ANY_DEPTH_MAX",),
        refused=400,
    ),
    Limit(
        f"POST {_GRANTS}",
        "secretPath",
        0,
        16,
        lambda world, times: {**_grant(world), "secretPath": "/a" + "/*" * times},
        ("PATTERN_STARS_MAX",),
        refused=400,
    ),
    number("GET /api/v1/organization/audit-logs", "limit", 1, 1000),
    number("GET /api/v1/organization/audit-logs", "offset", 0, 100_000),
    text("POST /api/v1/admin/keys/rotate-data", "projectId", 1, 64, make=_ascii, taken=404),
    text("POST /api/v3/auth/select-organization", "organizationId", 1, 64, make=_ascii, taken=403),
)

LIMITS_OF_ADMINISTRATION = (*_METHODS, *_LOGINS, *_ACTORS)
