"""What the client returns of secret syncs (interface.md sections 2.1 and 2.2, wire.md section 3).

No repr shows configuration and options: what they hold, each destination says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.client.lenient import Text, from_wire

__all__ = [
    "DestinationCheck",
    "SecretSync",
    "SecretSyncOption",
    "SyncConnection",
    "SyncEnvironment",
    "SyncFolder",
    "SyncOwner",
    "SyncedSecret",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SyncConnection:
    """The connection of a sync."""

    id: str
    name: Text = ""
    app: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SyncEnvironment:
    """The environment that a sync reads."""

    id: str
    slug: str
    name: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SyncFolder:
    """The folder that a sync reads."""

    id: str
    path: str


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSync:
    """A secret sync, whatever its destination.

    Attributes:
        sync_status, import_status, remove_status: `pending`, `running`, `succeeded`, `failed`; None before the first
            time.
        last_sync_message: why the last time failed; None after one that succeeded. So with the other two.
        last_synced_at: when it last succeeded, in ISO 8601.
        sync_options, destination_config: in the wire's spelling.
        environment, folder: None once the folder is gone.
    """

    id: str
    name: str
    project_id: str
    connection_id: str
    destination: str
    connection: SyncConnection
    description: Text = ""
    is_auto_sync_enabled: bool = True
    version: int = 1
    folder_id: str | None = None
    environment: SyncEnvironment | None = None
    folder: SyncFolder | None = None
    sync_options: dict[str, JsonValue] = field(default_factory=dict, repr=False)
    destination_config: dict[str, JsonValue] = field(default_factory=dict, repr=False)
    sync_status: str | None = None
    last_sync_job_id: str | None = None
    last_sync_message: str | None = None
    last_synced_at: str | None = None
    import_status: str | None = None
    last_import_job_id: str | None = None
    last_import_message: str | None = None
    last_imported_at: str | None = None
    remove_status: str | None = None
    last_remove_job_id: str | None = None
    last_remove_message: str | None = None
    last_removed_at: str | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSyncOption:
    """A destination as it is offered; `name` is for people, `connection` the app of the connections it takes."""

    destination: str
    name: Text = ""
    connection: Text = ""
    can_import_secrets: bool = False
    can_remove_secrets_on_deletion: bool = True


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationCheck:
    """Whether another sync writes to a place; the project is told to who may see its syncs."""

    has_duplicate: bool
    duplicate_project_id: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOwner:
    """Whose rights a sync has.

    Attributes:
        id: None where nobody knows the owner any more.
        name, kind: `kind` is `machine` or `user`; both are None where the owner is gone.
        message: what is missing if the owner may not read all that the sync pushes.
    """

    id: str | None = None
    name: str | None = None
    kind: str | None = None
    can_read_source: bool
    message: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedSecret:
    """How one name of a sync stands at its destination.

    Attributes:
        secret_key: None for what is others', or was named by a former key schema.
        state: `synced`, `pending`, `failed`, `removing` or `foreign`.
        message: why it isn't in place.
    """

    name: str
    secret_key: str | None = None
    state: str
    message: str | None = None
