"""App connections as interface.md 2.3 and wire.md 4 tell them.

Fields of 2.3 that this service never has, `gatewayId` and `gatewayPoolId`, are left out, as are those that a
connection doesn't have: "which response fields are required or nullable" is not shown, and null has no type there.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from support.strict_kinds import Id, Instant, Shape, Slug, Uuid, Version, listed, only, shape

__all__ = [
    "ALLOWED_USE",
    "AVAILABLE_CONNECTIONS",
    "CHANGED_ALLOWED_USE",
    "CONNECTIONS",
    "CONNECTION_OPTIONS",
    "CONNECTION_USAGE",
    "IDP_CONNECTIONS",
    "ONE_CONNECTION",
    "ONE_IDP_CONNECTION",
    "PUBLISHED_IDP_CONNECTIONS",
    "PUBLISHED_ONE_IDP_CONNECTION",
]

_PROJECT = {"id": Id, "name": Id, "type": Id, "slug": Slug}
_ROTATION = shape(
    "rotation",
    {},
    {
        "rotationInterval": Annotated[int, Field(ge=1)],
        "rotationStatus": Literal["success", "failed"],
        "rotateAtUtc": shape(
            "time of the day",
            {"hours": Annotated[int, Field(ge=0, le=23)], "minutes": Annotated[int, Field(ge=0, le=59)]},
        ),
        "lastRotationMessage": Id,
        "nextRotationAt": Instant,
    },
)


def _connection(name: str, app: object, method: object, credentials: object) -> Shape:
    return shape(
        name,
        {
            "id": Uuid,
            "name": Annotated[Slug, Field(min_length=1, max_length=64)],
            "orgId": Uuid,
            "app": app,
            "method": method,
            "credentials": credentials,
            "version": Version,
            "createdAt": Instant,
            "updatedAt": Instant,
            "isPlatformManagedCredentials": Literal[False],
            "isAutoRotationEnabled": bool,
            "credentialsHash": Annotated[str, Field(pattern="^[0-9a-f]{64}$")],
        },
        {
            "description": Annotated[str, Field(max_length=256)],
            "projectId": Id,
            "project": shape("project of a connection", _PROJECT),
            "rotation": _ROTATION,
        },
    )


_IDP_CREDENTIALS = shape("shown credentials", {"domain": Id, "clientId": Id, "audience": Id})
_IDP = _connection(
    "identity provider connection", Literal["idp"], Literal["client-credentials"], _IDP_CREDENTIALS
)
_PUBLISHED_IDP = _connection("the same by its published name", Literal["auth0"], Id, _IDP_CREDENTIALS)
_ANY = _connection("connection", Id, Id, dict[str, Any])

ONE_IDP_CONNECTION, IDP_CONNECTIONS = only("appConnection", _IDP), only("appConnections", listed(_IDP))
PUBLISHED_ONE_IDP_CONNECTION = only("appConnection", _PUBLISHED_IDP)
PUBLISHED_IDP_CONNECTIONS = only("appConnections", listed(_PUBLISHED_IDP))
ONE_CONNECTION, CONNECTIONS = only("appConnection", _ANY), only("appConnections", listed(_ANY))
AVAILABLE_CONNECTIONS = only(
    "appConnections", listed(shape("available connection", {"app": Id, "name": Slug, "id": Uuid}))
)
CONNECTION_OPTIONS = only(
    "appConnectionOptions",
    listed(
        shape(
            "app",
            {"name": Id, "app": Id, "methods": Annotated[list[Id], Field(min_length=1)]},
            {"supportsPlatformManagement": bool},
        ),
        at_least=1,
    ),
)
_USING_SYNC = shape("sync that uses it", {"id": Uuid, "name": Id})
CONNECTION_USAGE = only(
    "projects",
    listed(
        shape(
            "project that uses it",
            {**_PROJECT, "resources": only("secretSyncs", listed(_USING_SYNC))},
        )
    ),
)
_ALLOWED_USE = shape("allowed use", {"projectIds": list[Uuid] | None, "places": list[Id] | None})
ALLOWED_USE = only("allowedUse", _ALLOWED_USE)
CHANGED_ALLOWED_USE = shape(
    "changed allowed use",
    {
        "allowedUse": _ALLOWED_USE,
        "stoppingSyncs": listed(shape("stopping sync", {"id": Uuid, "name": Id, "projectId": Uuid})),
    },
)
