"""Making and changing app connections (interface.md section 4.3, wire.md section 4).

What credentials an app takes, the service knows: they are given in the wire's spelling, and sent as they are. So a
client of today can make a connection to an app that a service offers tomorrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, JsonValue

from keybearer.client.connections import RotationTerms
from keybearer.client.messages import Request, fill, json_body
from keybearer.client.operations.app_connection_place import (
    CONNECTIONS_OF_APP,
    ONE_CONNECTION,
    OneConnection,
)
from keybearer.wire.base import WireModel
from keybearer.wire.limits import APP_CONNECTION_DESCRIPTION_MAX, APP_CONNECTION_NAME_MAX

__all__ = ["CreateAppConnection", "UpdateAppConnection"]

_KNOWN_TO_ALL = frozenset(
    {
        *("accessKeyId", "accessTokenType", "audience", "clientId", "domain", "gitHubAppId", "host"),
        *("installationId", "instanceType", "instanceUrl", "machineIdentityClientId", "namespace", "roleArn"),
        *("roleId", "stsEndpoint"),
    }
)
"""Fields of credentials that are no secrets: an error may repeat these, and no others."""


class _RotateAtUtc(WireModel):
    hours: Annotated[int, Field(ge=0, le=23)]
    minutes: Annotated[int, Field(ge=0, le=59)]


class _Rotation(WireModel):
    rotation_interval: Annotated[int, Field(ge=1)]
    rotate_at_utc: _RotateAtUtc


class _Written(WireModel):
    """Both bodies; what isn't given isn't sent."""

    name: Annotated[str, Field(min_length=1, max_length=APP_CONNECTION_NAME_MAX)] | None = None
    description: Annotated[str, Field(max_length=APP_CONNECTION_DESCRIPTION_MAX)] | None = None
    project_id: str | None = None
    method: str | None = None
    credentials: Annotated[dict[str, JsonValue] | None, Field(repr=False)] = None
    is_auto_rotation_enabled: bool | None = None
    rotation: _Rotation | None = None


@dataclass(frozen=True, slots=True)
class _Writing(OneConnection):
    app: str = field(kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    is_auto_rotation_enabled: bool | None = field(default=None, kw_only=True)
    rotation: RotationTerms | None = field(default=None, kw_only=True)

    def terms(self) -> dict[str, Any]:
        """Return what both bodies share."""
        at = self.rotation
        return {
            "description": self.description,
            "is_auto_rotation_enabled": self.is_auto_rotation_enabled,
            "rotation": None
            if at is None
            else {
                "rotation_interval": at.interval_days,
                "rotate_at_utc": {"hours": at.hours, "minutes": at.minutes},
            },
        }


@dataclass(frozen=True, slots=True)
class CreateAppConnection(_Writing):
    """Make a connection, and return it. The service tries the credentials, and refuses those that don't work.

    Attributes:
        name: lower-case letters, digits and single hyphens.
        method: how the app takes the credentials; `options` lists what there is.
        credentials: in the wire's spelling, such as `{"domain": ..., "clientId": ..., ...}`.
        project_id: whose it is; without one, the organization's.
        rotation: when credentials are made anew, with `is_auto_rotation_enabled`, where the app can do that.
    """

    name: str
    method: str = field(kw_only=True)
    credentials: Mapping[str, JsonValue] = field(repr=False, kw_only=True)
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: _Written(
                name=self.name,
                method=self.method,
                credentials=dict(self.credentials),
                project_id=self.project_id,
                **self.terms(),
            )
        )
        return Request("POST", fill(CONNECTIONS_OF_APP, self.app), body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return what of the credentials is, or may be, secret."""
        return tuple(_secrets_of(self.credentials))


@dataclass(frozen=True, slots=True)
class UpdateAppConnection(_Writing):
    """Change a connection, and return it; what isn't given stays. An empty description takes it away.

    Attributes:
        credentials: all of them, of the connection's own method.
    """

    connection_id: str
    name: str | None = field(default=None, kw_only=True)
    credentials: Mapping[str, JsonValue] | None = field(default=None, repr=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        given = {"name": self.name, **self.terms()}
        if self.credentials is not None:
            given["credentials"] = dict(self.credentials)
        changes = {name: value for name, value in given.items() if value is not None}
        if self.description == "":
            changes["description"] = None
        body = json_body(lambda: _Written(**changes), nulls=True)
        return Request("PATCH", fill(ONE_CONNECTION, self.app, self.connection_id), body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return what of the credentials is, or may be, secret."""
        return tuple(_secrets_of(self.credentials or {}))


def _secrets_of(credentials: Mapping[str, JsonValue]) -> Iterator[str]:
    for name, value in credentials.items():
        if name not in _KNOWN_TO_ALL:
            yield from _texts_of(value)


def _texts_of(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        # A service may repeat it trimmed.
        yield from dict.fromkeys((value, value.strip()))
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts_of(part)
