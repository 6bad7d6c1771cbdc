"""Secret syncs on the wire (interface.md sections 2.1, 2.2, 4.1 and 4.2, wire.md section 3).

What every sync has is written down here; `syncOptions` and `destinationConfig` are of each destination's own model,
and `bodies_of` puts both together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, JsonValue, TypeAdapter, create_model

from keybearer.wire.base import Flag, QueryFlag, Slug, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.destination_forms import (
    DestinationConfig,
    ImportBehavior,
    InitialSyncBehavior,
    SyncOptions,
)
from keybearer.wire.limits import (
    ENVIRONMENT_SLUG_MAX,
    FOLDER_PATH_MAX,
    SYNC_DESCRIPTION_MAX,
    SYNC_NAME_MAX,
)
from keybearer.wire.strict import NonEmpty

__all__ = [
    "CheckDestination",
    "CheckedDestination",
    "CreateSecretSync",
    "DeleteSyncQuery",
    "ImportQuery",
    "PushSecretSync",
    "SecretSync",
    "SecretSyncAnswer",
    "SecretSyncList",
    "SecretSyncOption",
    "SecretSyncOptionList",
    "SyncBodies",
    "SyncConnection",
    "SyncEnvironment",
    "SyncFolder",
    "SyncJobState",
    "SyncedSecret",
    "SyncedSecretList",
    "SyncsQuery",
    "UpdateSecretSync",
    "bodies_of",
]

SyncJobState = Literal["pending", "running", "succeeded", "failed"]
"""How far one kind of job came (wire.md section 3.3)."""

_Name = Annotated[Slug, Field(min_length=1, max_length=SYNC_NAME_MAX)]
_Description = Annotated[str, Field(max_length=SYNC_DESCRIPTION_MAX)]
_Environment = Annotated[Slug, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
_Path = Annotated[str, Field(min_length=1, max_length=FOLDER_PATH_MAX)]


class SyncsQuery(WireModel):
    """Query of lists, and of a sync by its name."""

    project_id: NonEmpty


class OwnedSyncsQuery(WireModel):
    """Query of GET …/owned: whose syncs, and of which project; an addition to interface.md."""

    owner_id: UUID
    project_id: NonEmpty | None = None


class DeleteSyncQuery(WireModel):
    """Query of DELETE …/{syncId}: whether what was pushed goes as well."""

    remove_secrets: QueryFlag = False


class ImportQuery(WireModel):
    """Query of POST …/{syncId}/import-secrets."""

    import_behavior: ImportBehavior


class PushSecretSync(BodyModel):
    """POST …/{syncId}/sync-secrets; a body may be left out.

    Attributes:
        remove_foreign: whether names that the sync neither wrote nor imported, and that its key schema makes, are
            removed too, this once (wire.md section 3.4).
    """

    remove_foreign: Flag = False


class CreateSecretSync(BodyModel):
    """POST …/{destination}; each destination has a form of its own, see `bodies_of`."""

    name: _Name
    project_id: NonEmpty
    description: _Description | None = None
    connection_id: UUID
    environment: _Environment
    secret_path: _Path
    is_auto_sync_enabled: Flag = True
    sync_options: SyncOptions
    destination_config: DestinationConfig


class UpdateSecretSync(BodyModel):
    """PATCH …/{destination}/{syncId}: what is absent stays; a description that is null is taken away."""

    name: _Name | None = None
    description: Annotated[_Description, Zero.COUNTS] | None = None
    connection_id: UUID | None = None
    environment: _Environment | None = None
    secret_path: _Path | None = None
    is_auto_sync_enabled: Flag | None = None
    sync_options: SyncOptions | None = None
    destination_config: DestinationConfig | None = None


class CheckDestination(BodyModel):
    """POST …/{destination}/check-destination: whether another sync writes to that place."""

    destination_config: DestinationConfig
    project_id: NonEmpty
    exclude_sync_id: UUID | None = None
    connection_id: UUID | None = None


class CheckedDestination(WireModel):
    """Answer of check-destination; the project is told to who may see its syncs."""

    has_duplicate: bool
    duplicate_project_id: str | None = None


class SyncConnection(WireModel):
    """The connection of a sync."""

    app: str
    name: str
    id: str


class SyncEnvironment(WireModel):
    """The environment that a sync reads."""

    slug: str
    name: str
    id: str


class SyncFolder(WireModel):
    """The folder that a sync reads."""

    id: str
    path: str


class SecretSync(WireModel):
    """A secret sync (interface.md section 2.1), whatever its destination.

    `environment`, `folder` and `folderId` are null once the folder is gone. The fields of each kind of job are null
    before the first time.
    """

    id: str
    name: str
    description: str | None = None
    is_auto_sync_enabled: bool = True
    version: int = 1
    project_id: str
    folder_id: str | None = None
    connection_id: str
    created_at: WireInstant
    updated_at: WireInstant
    sync_status: SyncJobState | None = None
    last_sync_job_id: str | None = None
    last_sync_message: str | None = None
    last_synced_at: WireInstant | None = None
    import_status: SyncJobState | None = None
    last_import_job_id: str | None = None
    last_import_message: str | None = None
    last_imported_at: WireInstant | None = None
    remove_status: SyncJobState | None = None
    last_remove_job_id: str | None = None
    last_remove_message: str | None = None
    last_removed_at: WireInstant | None = None
    sync_options: dict[str, JsonValue]
    connection: SyncConnection
    environment: SyncEnvironment | None
    folder: SyncFolder | None
    destination: str
    destination_config: dict[str, JsonValue]


class SecretSyncAnswer(WireModel):
    """`{secretSync}`."""

    secret_sync: SecretSync


class SecretSyncList(WireModel):
    """`{secretSyncs}`, by name."""

    secret_syncs: list[SecretSync]


class ChangeSyncOwner(BodyModel):
    """Body of PATCH …/{syncId}/owner; an addition to interface.md."""

    owner_id: UUID


class SyncOwner(WireModel):
    """Whose rights a sync has; an addition to interface.md.

    Attributes:
        id: null where nobody knows the owner any more.
        name, kind: null where the owner is gone.
        message: what is missing if the owner may not read all of the source, or not use the connection.
    """

    id: UUID | None
    name: str | None
    kind: Literal["machine", "user"] | None
    can_read_source: bool
    message: str | None


class SyncOwnerAnswer(WireModel):
    """`{owner}`."""

    owner: SyncOwner


class SyncedSecret(WireModel):
    """How one name of a sync stands; an addition to interface.md.

    Attributes:
        secret_key: null for what is others', or was named by a former key schema.
    """

    name: str
    secret_key: str | None
    state: Literal["synced", "pending", "failed", "removing", "foreign"]
    message: str | None


class SyncedSecretList(WireModel):
    """`{secrets}`, by name, without values."""

    secrets: list[SyncedSecret]


class SecretSyncOption(WireModel):
    """A destination as it is offered (interface.md section 2.2)."""

    name: str
    connection: str
    destination: str
    can_import_secrets: bool
    can_remove_secrets_on_deletion: bool


class SecretSyncOptionList(WireModel):
    """`{secretSyncOptions}`, by name."""

    secret_sync_options: list[SecretSyncOption]


@dataclass(frozen=True, slots=True)
class SyncBodies:
    """The forms of one destination's requests."""

    create: type[CreateSecretSync]
    update: type[UpdateSecretSync]
    check: type[CheckDestination]


def bodies_of(
    name: str,
    config: TypeAdapter[DestinationConfig],
    options: type[SyncOptions],
    *,
    can_import: bool,
) -> SyncBodies:
    """Return the forms of a destination.

    Args:
        name: interface.md's word.
        config: validates its `destinationConfig`.
        options: validates its `syncOptions`.
        can_import: whether its secrets can be read back: where not, there is nothing to begin from but our side.
    """
    title = "".join(part.capitalize() for part in name.split("-"))
    made: Any = options if can_import else _overwriting(options, title)
    adapted: Any = config._type  # noqa: SLF001 - an adapter has no other way back to what it adapts
    return SyncBodies(
        create_model(
            f"Create{title}Sync",
            __base__=CreateSecretSync,
            __module__=__name__,
            sync_options=(made, ...),
            destination_config=(adapted, ...),
        ),
        create_model(
            f"Update{title}Sync",
            __base__=UpdateSecretSync,
            __module__=__name__,
            sync_options=(made | None, None),
            destination_config=(adapted | None, None),
        ),
        create_model(
            f"Check{title}Destination",
            __base__=CheckDestination,
            __module__=__name__,
            destination_config=(adapted, ...),
        ),
    )


def _overwriting(options: type[SyncOptions], title: str) -> type[SyncOptions]:
    only: Any = Annotated[Literal["overwrite-destination"], AfterValidator(InitialSyncBehavior)]
    return create_model(
        f"{title}SyncOptions",
        __base__=options,
        __module__=__name__,
        initial_sync_behavior=(only, ...),
    )
