"""The limits of app connections, by hand from interface.md 4.3 and 8, and of what their apps add.

Those of an app that isn't written here stand with the copy of the destination that takes it.

Each request is for a project that isn't there: what is within its limits is answered so before a remote is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keybearer.destinations.catalogue import CATALOGUE
from support.limit_cases import Limit, World, text
from support.remotes.example import example_of

__all__ = ["LIMITS_OF_CONNECTIONS"]

_UNKNOWN = "11111111-2222-4333-8444-555555555555"
_ALL = "POST /api/v1/app-connections"
_URL = "https://127.0.0.1/"
_WRITTEN: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("idp", "client-credentials"): {
        "domain": "127.0.0.1",
        "clientId": "client",
        "clientSecret": "cnry-secret",
        "audience": "https://tenant.example.com/",
    },
    ("cloud", "access-key"): {"accessKeyId": "key", "secretAccessKey": "cnry-key"},
    ("cloud", "assume-role"): {"roleArn": "arn:aws:iam::123456789012:role/r"},
    ("codehost", "pat"): {"personalAccessToken": "cnry-token"},
    ("codehost", "oauth"): {"code": "cnry-code"},
    ("codehost", "github-app"): {"installationId": "1", "gitHubAppId": "2"},
    ("gcp", "service-account-impersonation"): {"serviceAccountEmail": "a@b"},
    ("azure-key-vault", "client-secret"): {
        "tenantId": _UNKNOWN,
        "clientId": _UNKNOWN,
        "clientSecret": "cnry-secret",
    },
    ("gitlab", "access-token"): {"accessToken": "cnry-token", "accessTokenType": "personal"},
    ("hashicorp-vault", "access-token"): {"instanceUrl": _URL, "accessToken": "cnry-token"},
    ("hashicorp-vault", "app-role"): {"instanceUrl": _URL, "roleId": "role", "secretId": "cnry-secret"},
    ("external-infisical", "machine-identity"): {
        "instanceUrl": _URL,
        "machineIdentityClientId": _UNKNOWN,
        "machineIdentityClientSecret": "cnry-secret",
    },
}
_WRITTEN_APPS = {app for app, _ in _WRITTEN}
_EXAMPLES = {
    kind.connection: example_of(kind.name) for kind in CATALOGUE.kinds if kind.connection not in _WRITTEN_APPS
}
_CREDENTIALS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    **_WRITTEN,
    **{
        (app, method): given
        for app, example in _EXAMPLES.items()
        for method, given in example.credentials.items()
    },
}
_IDP, _KEY, _ROLE = ("idp", "client-credentials"), ("cloud", "access-key"), ("cloud", "assume-role")
_PAT, _LOGIN, _INSTALLATION = ("codehost", "pat"), ("codehost", "oauth"), ("codehost", "github-app")
_TOKEN, _VAULT, _VAULT_ROLE = (
    ("gitlab", "access-token"),
    ("hashicorp-vault", "access-token"),
    ("hashicorp-vault", "app-role"),
)
_IMPERSONATION, _CLIENT = ("gcp", "service-account-impersonation"), ("azure-key-vault", "client-secret")
_OTHER = ("external-infisical", "machine-identity")


def _ascii(length: int) -> str:
    return "a" * length


def _email(length: int) -> str:
    return "a@b".rjust(length, "a")[:length]


def _url(length: int) -> str:
    return _URL.ljust(length, "a")[:length]


def _body(kind: tuple[str, str]) -> Callable[[World], Mapping[str, Any]]:
    def body(world: World) -> Mapping[str, Any]:
        return {
            "name": world.fresh(),
            "method": kind[1],
            "projectId": _UNKNOWN,
            "credentials": _CREDENTIALS[kind],
        }

    return body


def _credential(
    kind: tuple[str, str],
    field: str,
    low: int,
    high: int | None,
    make: Callable[[int], str] = _ascii,
) -> Limit:
    """Return the limit of a field of the credentials of an app and method."""

    def fields(world: World, length: int) -> Mapping[str, Any]:
        given = {**_CREDENTIALS[kind], field: make(length)}
        return {**_body(kind)(world), "credentials": given}

    return Limit(f"{_ALL}/{kind[0]}", field, low, high, fields, taken=404)


def _rotation(field: str, low: int, high: int, *constants: str) -> Limit:
    def fields(world: World, measure: int) -> Mapping[str, Any]:
        at = {"hours": 3, "minutes": 15}
        terms: dict[str, Any] = {"rotationInterval": 30, "rotateAtUtc": at}
        (at if field in at else terms)[field] = measure
        return {**_body(_KEY)(world), "isAutoRotationEnabled": True, "rotation": terms}

    return Limit(f"{_ALL}/cloud", field, low, high, fields, constants, taken=404, is_number=True)


LIMITS_OF_CONNECTIONS = (
    *(
        limit
        for kind in _CREDENTIALS
        for limit in (
            text(
                f"{_ALL}/{kind[0]}",
                "name",
                1,
                64,
                "APP_CONNECTION_NAME_MAX",
                rest=_body(kind),
                make=_ascii,
                taken=404,
            ),
            text(
                f"{_ALL}/{kind[0]}",
                "description",
                0,
                256,
                "APP_CONNECTION_DESCRIPTION_MAX",
                rest=_body(kind),
                taken=404,
            ),
        )
    ),
    _rotation("rotationInterval", 1, 365, "ROTATION_INTERVAL_MAX_DAYS"),
    _rotation("hours", 0, 23),
    _rotation("minutes", 0, 59),
    _credential(_IDP, "clientId", 1, None),
    _credential(_IDP, "clientSecret", 1, None),
    _credential(_KEY, "accessKeyId", 1, 256),
    _credential(_KEY, "secretAccessKey", 1, 256),
    _credential(_ROLE, "stsEndpoint", 0, 512, _url),
    _credential(_PAT, "personalAccessToken", 1, 1024),
    _credential(_PAT, "host", 0, 300),
    _credential(_LOGIN, "code", 1, 1024),
    _credential(_INSTALLATION, "installationId", 1, 64),
    _credential(_INSTALLATION, "gitHubAppId", 1, 64),
    _credential(_INSTALLATION, "privateKey", 1, 16_384),
    _credential(_IMPERSONATION, "serviceAccountEmail", 3, 254, _email),
    _credential(_CLIENT, "clientSecret", 1, 256),
    _credential(_TOKEN, "accessToken", 1, 1024),
    _credential(_TOKEN, "instanceUrl", 0, 512, _url),
    _credential(_VAULT, "accessToken", 1, 4096),
    _credential(_VAULT, "namespace", 0, 512),
    _credential(_VAULT_ROLE, "roleId", 1, 4096),
    _credential(_VAULT_ROLE, "secretId", 1, 4096),
    _credential(_OTHER, "machineIdentityClientSecret", 1, 512),
    *(
        _credential((app, method), field, low, high)
        for app, example in _EXAMPLES.items()
        for method, field, low, high in example.credential_limits
    ),
)
