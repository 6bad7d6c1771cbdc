"""Secret syncs (interface.md sections 4.1 and 4.2, wire.md section 3).

What configuration and options a destination takes, the service knows: they are given in the wire's spelling, and sent
as they are. So a client of today can write to a destination that a service offers tomorrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, JsonValue

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.client.syncs import DestinationCheck, SecretSync, SecretSyncOption, SyncedSecret
from keybearer.wire.base import WireModel
from keybearer.wire.limits import FOLDER_PATH_MAX, SYNC_DESCRIPTION_MAX, SYNC_NAME_MAX

__all__ = [
    "CheckDestination",
    "CreateSecretSync",
    "DeleteSecretSync",
    "GetSecretSync",
    "GetSecretSyncByName",
    "ImportBehavior",
    "ImportIntoFolder",
    "ListSecretSyncOptions",
    "ListSecretSyncs",
    "ListSyncedSecrets",
    "RemoveFromDestination",
    "SyncSecrets",
    "UpdateSecretSync",
]

_ALL = "/api/v1/secret-syncs"
_OF_DESTINATION = f"{_ALL}/{{}}"
_ONE = f"{_ALL}/{{}}/{{}}"

ImportBehavior = Literal["prioritize-source", "prioritize-destination"]
"""Whose value stays where both sides have a key: the folder's, or the destination's."""


def _overwriting() -> Mapping[str, JsonValue]:
    return {"initialSyncBehavior": "overwrite-destination"}  # which every destination takes


@from_wire
@dataclass(frozen=True, slots=True)
class _SyncAnswer:
    """`{secretSync}`."""

    secret_sync: SecretSync


@from_wire
@dataclass(frozen=True, slots=True)
class _SyncsAnswer:
    """`{secretSyncs}`."""

    secret_syncs: tuple[SecretSync, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _OptionsAnswer:
    """`{secretSyncOptions}`."""

    secret_sync_options: tuple[SecretSyncOption, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _SecretsAnswer:
    """`{secrets}`."""

    secrets: tuple[SyncedSecret, ...]


class _Written(WireModel):
    """Both bodies; what isn't given isn't sent."""

    name: Annotated[str, Field(min_length=1, max_length=SYNC_NAME_MAX)] | None = None
    project_id: str | None = None
    description: Annotated[str, Field(max_length=SYNC_DESCRIPTION_MAX)] | None = None
    connection_id: str | None = None
    environment: str | None = None
    secret_path: Annotated[str, Field(min_length=1, max_length=FOLDER_PATH_MAX)] | None = None
    is_auto_sync_enabled: bool | None = None
    sync_options: dict[str, JsonValue] | None = None
    destination_config: dict[str, JsonValue] | None = None


class _Pushed(WireModel):
    remove_foreign: bool


class _Checked(WireModel):
    destination_config: dict[str, JsonValue]
    project_id: str
    exclude_sync_id: str | None = None
    connection_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSecretSyncs(Operation[list[SecretSync]]):
    """List the syncs of a project.

    Attributes:
        destination: only those to this one.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str
    destination: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        path = _ALL if self.destination is None else fill(_OF_DESTINATION, self.destination)
        return Request("GET", path, query=query_of({"projectId": self.project_id}))

    def read(self, response: Response) -> list[SecretSync]:
        """Return the syncs in the service's order."""
        return list(decode(response, _SyncsAnswer).secret_syncs)


@dataclass(frozen=True, slots=True)
class ListSecretSyncOptions(Operation[list[SecretSyncOption]]):
    """List the destinations that are offered."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", f"{_ALL}/options")

    def read(self, response: Response) -> list[SecretSyncOption]:
        """Return them in the service's order."""
        return list(decode(response, _OptionsAnswer).secret_sync_options)


class _One(Operation[SecretSync]):
    __slots__ = ()

    def read(self, response: Response) -> SecretSync:
        """Return the sync."""
        return decode(response, _SyncAnswer).secret_sync


@dataclass(frozen=True, slots=True)
class _Existing(_One):
    sync_id: str
    destination: str = field(kw_only=True)

    def path(self, action: str = "") -> str:
        """Return the path of the sync, or of something to be done with it."""
        return fill(f"{_ONE}{action}", self.destination, self.sync_id)


@dataclass(frozen=True, slots=True)
class GetSecretSync(_Existing):
    """Return a sync by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path())


@dataclass(frozen=True, slots=True)
class GetSecretSyncByName(_One):
    """Return a sync of a project by its name; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    name: str
    destination: str = field(kw_only=True)
    project_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        path = fill(f"{_OF_DESTINATION}/sync-name/{{}}", self.destination, self.name)
        return Request("GET", path, query=query_of({"projectId": self.project_id}))


@dataclass(frozen=True, slots=True)
class ListSyncedSecrets(Operation[list[SyncedSecret]]):
    """List how each name of a sync stands, without values; a service that isn't Keybearer answers 404."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    sync_id: str
    destination: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(f"{_ONE}/secrets", self.destination, self.sync_id))

    def read(self, response: Response) -> list[SyncedSecret]:
        """Return them by name."""
        return list(decode(response, _SecretsAnswer).secrets)


@dataclass(frozen=True, slots=True)
class CreateSecretSync(_One):
    """Make a sync, and return it; with `is_auto_sync_enabled` its first run begins by itself.

    Attributes:
        name: lower-case letters, digits and single hyphens.
        connection_id: a connection to the app that the destination needs; `options` tells which.
        environment: a slug.
        secret_path: the folder whose secrets are pushed.
        destination_config: where within the remote they go, in the wire's spelling.
        sync_options: `initialSyncBehavior`, and what else the destination takes, in the wire's spelling.
        is_auto_sync_enabled: every change of a secret is pushed.
    """

    name: str
    destination: str = field(kw_only=True)
    project_id: str = field(kw_only=True)
    connection_id: str = field(kw_only=True)
    environment: str = field(kw_only=True)
    secret_path: str = field(default="/", kw_only=True)
    destination_config: Mapping[str, JsonValue] = field(repr=False, kw_only=True)
    sync_options: Mapping[str, JsonValue] = field(default_factory=_overwriting, repr=False, kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    is_auto_sync_enabled: bool = field(default=True, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: _Written(
                name=self.name,
                project_id=self.project_id,
                description=self.description,
                connection_id=self.connection_id,
                environment=self.environment,
                secret_path=self.secret_path,
                is_auto_sync_enabled=self.is_auto_sync_enabled,
                sync_options=dict(self.sync_options),
                destination_config=dict(self.destination_config),
            )
        )
        return Request("POST", fill(_OF_DESTINATION, self.destination), body=body)


@dataclass(frozen=True, slots=True)
class UpdateSecretSync(_Existing):
    """Change a sync, and return it; what isn't given stays. An empty description takes it away.

    Attributes:
        sync_options, destination_config: the whole of them.
    """

    name: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    connection_id: str | None = field(default=None, kw_only=True)
    environment: str | None = field(default=None, kw_only=True)
    secret_path: str | None = field(default=None, kw_only=True)
    is_auto_sync_enabled: bool | None = field(default=None, kw_only=True)
    sync_options: Mapping[str, JsonValue] | None = field(default=None, repr=False, kw_only=True)
    destination_config: Mapping[str, JsonValue] | None = field(default=None, repr=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        given: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "connection_id": self.connection_id,
            "environment": self.environment,
            "secret_path": self.secret_path,
            "is_auto_sync_enabled": self.is_auto_sync_enabled,
            "sync_options": None if self.sync_options is None else dict(self.sync_options),
            "destination_config": None if self.destination_config is None else dict(self.destination_config),
        }
        changes = {name: value for name, value in given.items() if value is not None}
        if self.description == "":
            changes["description"] = None
        return Request("PATCH", self.path(), body=json_body(lambda: _Written(**changes), nulls=True))


@dataclass(frozen=True, slots=True)
class DeleteSecretSync(_Existing):
    """Delete a sync, and return what it was.

    Attributes:
        remove_secrets: also from the destination; the sync then stays until that is done, with `remove_status`.
    """

    remove_secrets: bool = field(default=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", self.path(), query=query_of({"removeSecrets": self.remove_secrets}))


@dataclass(frozen=True, slots=True)
class SyncSecrets(_Existing):
    """Have a sync push its secrets, and return it: `sync_status` tells how far that is.

    Attributes:
        remove_foreign: also remove, this once, what this sync neither wrote nor imported and its key schema makes.
    """

    remove_foreign: bool = field(default=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _Pushed(remove_foreign=True)) if self.remove_foreign else None
        return Request("POST", self.path("/sync-secrets"), body=body)


@dataclass(frozen=True, slots=True)
class ImportIntoFolder(_Existing):
    """Have a sync bring what its destination holds into the folder, and return it: see `import_status`.

    Attributes:
        behavior: whose value stays where both sides have a key.
    """

    behavior: ImportBehavior = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"importBehavior": self.behavior})
        return Request("POST", self.path("/import-secrets"), query=query)


@dataclass(frozen=True, slots=True)
class RemoveFromDestination(_Existing):
    """Have a sync remove its secrets from the destination, and return it: see `remove_status`."""

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", self.path("/remove-secrets"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDestination(Operation[DestinationCheck]):
    """Return whether another sync writes to a place: the two would undo each other's work.

    Attributes:
        exclude_sync_id: a sync that doesn't count, since it is the one to be changed.
        connection_id: with it, places of other accounts are told apart.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    destination: str
    destination_config: Mapping[str, JsonValue] = field(repr=False)
    project_id: str
    exclude_sync_id: str | None = None
    connection_id: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: _Checked(
                destination_config=dict(self.destination_config),
                project_id=self.project_id,
                exclude_sync_id=self.exclude_sync_id,
                connection_id=self.connection_id,
            )
        )
        return Request("POST", fill(f"{_OF_DESTINATION}/check-destination", self.destination), body=body)

    def read(self, response: Response) -> DestinationCheck:
        """Return what was found."""
        return decode(response, DestinationCheck)
