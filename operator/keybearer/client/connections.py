"""What the client returns of app connections (interface.md section 2.3, wire.md section 4.3).

Of credentials, the service tells what is no secret; no repr shows even that, for it is another's to say what is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.client.lenient import Flag, Several, Text, from_wire

__all__ = [
    "AllowedUse",
    "AppConnection",
    "AppConnectionOption",
    "AppConnectionUse",
    "AvailableAppConnection",
    "ConnectionProject",
    "ConnectionRotation",
    "RotationTerms",
    "RotationTime",
    "StoppingSync",
    "UsedBy",
    "UsingSync",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationTerms:
    """When credentials are to be made anew: every so many days, at a time of the day in UTC."""

    interval_days: int
    hours: int = 0
    minutes: int = 0


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class RotationTime:
    """A time of the day in UTC."""

    hours: int
    minutes: int


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionRotation:
    """How credentials are made anew, and how that went.

    Attributes:
        rotation_interval: days.
        rotation_status: `success` or `failed`; None before the first time.
    """

    rotation_interval: float | None = None
    rotate_at_utc: RotationTime | None = None
    rotation_status: str | None = None
    last_rotation_message: str | None = None
    next_rotation_at: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionProject:
    """The project that a connection belongs to."""

    id: str
    name: Text = ""
    type: Text = ""
    slug: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AppConnection:
    """A connection to an app: credentials for a remote, of which secret ones are never told.

    Attributes:
        app: such as `idp`, `cloud`, `codehost`.
        credentials: what of them is no secret, in the wire's spelling.
        credentials_hash: differs after each write of the credentials.
        project_id: None for a connection of the organization.
        version: counts from 1.
    """

    id: str
    name: str
    app: str
    method: str
    org_id: Text = ""
    description: Text = ""
    version: int = 1
    credentials: dict[str, JsonValue] = field(default_factory=dict, repr=False)
    credentials_hash: Text = field(default="", repr=False)
    project_id: str | None = None
    project: ConnectionProject | None = None
    gateway_id: str | None = None
    gateway_pool_id: str | None = None
    is_platform_managed_credentials: Flag = False
    is_auto_rotation_enabled: Flag = False
    rotation: ConnectionRotation | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableAppConnection:
    """A connection that may be used, by name alone."""

    id: str
    name: str
    app: str


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AppConnectionOption:
    """An app that connections can be made to; `name` is for people."""

    app: str
    name: Text = ""
    methods: Several[str] = ()
    supports_platform_management: Flag = False


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class UsingSync:
    """A secret sync that uses a connection."""

    id: str
    name: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class UsedBy:
    """What of a project uses a connection."""

    secret_syncs: Several[UsingSync] = ()


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AppConnectionUse:
    """A project in which a connection is used, and by what."""

    id: str
    name: Text = ""
    type: Text = ""
    slug: Text = ""
    resources: UsedBy = UsedBy()


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingSync:
    """A sync that its connection no longer lets run."""

    id: str
    name: Text = ""
    project_id: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedUse:
    """Which projects may use a connection, and for which places.

    Attributes:
        project_ids: None: every project, but only by admins of the organization; or the connection is of a project.
        places: patterns; None: every place.
        stopping_syncs: after a change, the syncs that stop by it, as far as whoever asked may see them.
    """

    project_ids: tuple[str, ...] | None = None
    places: tuple[str, ...] | None = None
    stopping_syncs: tuple[StoppingSync, ...] = ()
