"""The status of a SecretSync: what a user, kubectl and GitOps tools are told. No values, ever."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import Condition, ResourceModel, StatusModel
from keybearer.controllers.resource_fields import Clipped, Instant
from keybearer.controllers.target.guard import REMOVALS_MAX
from keybearer.controllers.target.status import (
    PastRemoval,
    PlanStatus,
    TargetName,
    TargetStatus,
    WorkloadStatuses,
)

__all__ = [
    "FAILED_MAX",
    "FOREIGN_MAX",
    "KEYS_MAX",
    "FailedName",
    "KeyState",
    "KeyStatus",
    "PollingReason",
    "PushStatus",
    "RemoteSyncStatus",
    "SecretSyncStatus",
    "Updates",
]

KEYS_MAX = 100
"""Keys that `status.keys` lists; `keysTotal` counts all."""
FAILED_MAX = 50
"""Names that `status.push.failed` lists; `failedTotal` counts all."""
FOREIGN_MAX = 200
"""Names that `status.push.foreign` lists; `foreignTotal` counts all."""

_Name = Annotated[str, Field(max_length=512)]


class Updates(StrEnum):
    """How changes of the source become known."""

    EVENTS = "Events"
    POLLING = "Polling"


class PollingReason(StrEnum):
    """Why changes of the source become known by polling only."""

    DENIED = "EventsDenied"
    UNAVAILABLE = "EventsUnavailable"
    CROWDED = "TooManyStreams"
    FAILED = "EventsFailed"


class KeyState(StrEnum):
    """Where a key stands."""

    SYNCED = "Synced"
    PENDING = "Pending"
    FAILED = "Failed"
    OVERRIDDEN = "Overridden"


class KeyStatus(ResourceModel):
    """One key of the target, or one secret that could not become a key."""

    key: Annotated[
        str, Field(max_length=512, description="The key in the target, or the name in the source.")
    ]
    state: Annotated[
        KeyState,
        Field(
            strict=False,
            description=(
                "Synced; Pending, when it waits for a release, a mode or room in the target; Failed, see reason; "
                "Overridden, when another secret gives this key."
            ),
        ),
    ]
    reason: Annotated[str | None, Field(max_length=128, description="Why, in a word.")] = None
    message: Annotated[str | None, *Clipped(512), Field(description="Why, and what to do, for people.")] = (
        None
    )
    version: Annotated[int | None, Field(ge=0, description="The version of the secret in the service.")] = (
        None
    )
    last_changed: Annotated[Instant | None, Field(description="When the written value last changed.")] = None
    source: Annotated[
        str | None, *Clipped(512), Field(description="Where it comes from, as dev:/apps/web/NAME.")
    ] = None


_Status = Annotated[str | None, Field(max_length=32, description="pending, running, succeeded or failed.")]
_JobId = Annotated[str | None, Field(max_length=64, description="The job that ran last.")]
_Message = Annotated[
    str | None, *Clipped(2048), Field(description="Why it failed; absent after a run that succeeded.")
]
_LastTime = Annotated[Instant | None, Field(description="When it last succeeded.")]


class RemoteSyncStatus(ResourceModel):
    """The sync in the service, as interface.md section 2.1 tells of it."""

    id: Annotated[str | None, Field(max_length=64, description="Its id.")] = None
    destination: Annotated[str | None, Field(max_length=64, description="Where it pushes.")] = None
    sync_status: _Status = None
    last_sync_job_id: _JobId = None
    last_sync_message: _Message = None
    last_synced_at: _LastTime = None
    import_status: _Status = None
    last_import_job_id: _JobId = None
    last_import_message: _Message = None
    last_imported_at: _LastTime = None
    remove_status: _Status = None
    last_remove_job_id: _JobId = None
    last_remove_message: _Message = None
    last_removed_at: _LastTime = None


class FailedName(ResourceModel):
    """A name that could not be written to the destination, or removed from it."""

    name: Annotated[str, *Clipped(512), Field(description="The name, as the destination has it.")]
    key: Annotated[
        str | None,
        *Clipped(512),
        Field(description="The secret of the folder. Absent if it is no longer wanted."),
    ] = None
    message: Annotated[str | None, *Clipped(256), Field(description="Why, in the service's words.")] = None


class PushStatus(ResourceModel):
    """What the operator knows of the destination beyond the fields of a sync."""

    definition: Annotated[
        str | None,
        Field(max_length=128, description="Keyed HMAC of the last definition of the sync."),
    ] = None
    version: Annotated[int | None, Field(ge=0, description="The service's version of that definition.")] = (
        None
    )
    content: Annotated[
        str | None, Field(max_length=128, description="Keyed HMAC of the secrets that were pushed last.")
    ] = None
    keys: Annotated[int | None, Field(ge=0, description="How many secrets these were.")] = None
    failed: Annotated[
        tuple[FailedName, ...] | None,
        Field(
            strict=False,
            max_length=FAILED_MAX,
            description="Names that the last push could not write or remove.",
        ),
    ] = None
    failed_total: Annotated[int | None, Field(ge=0, description="How many these are in all.")] = None
    foreign: Annotated[
        tuple[_Name, ...] | None,
        Field(
            strict=False,
            max_length=FOREIGN_MAX,
            description=(
                "Names at the destination that match the sync's key schema, but were written by "
                "others. They stay, unless the annotation keybearer.dev/request: remove-foreign "
                "removes them once."
            ),
        ),
    ] = None
    foreign_total: Annotated[int | None, Field(ge=0, description="How many these are in all.")] = None
    removals: Annotated[
        tuple[PastRemoval, ...] | None,
        Field(
            strict=False,
            max_length=REMOVALS_MAX,
            description="Names that pushes removed within guard.window. A release sets it back.",
        ),
    ] = None


class SecretSyncStatus(StatusModel):
    """The operator's last actions and observations."""

    conditions: Annotated[
        tuple[Condition, ...],
        Field(
            strict=False,
            max_length=16,
            description="Ready, Reconciling, Stalled (kstatus), Guarded and BudgetUsed.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
    ] = ()
    source: Annotated[
        str | None,
        *Clipped(512),
        Field(description="The source, as dev:/apps/web, and the number of other sources."),
    ] = None
    last_refresh_time: Annotated[
        Instant | None,
        Field(
            description=(
                "Time of the last read of the source. It is only written together with another change."
            )
        ),
    ] = None
    updates: Annotated[
        Updates | None,
        Field(
            strict=False,
            description="How the operator learns of changes: Events (within a second) or Polling.",
        ),
    ] = None
    polling_reason: Annotated[
        PollingReason | None,
        Field(
            strict=False,
            description=(
                "Why the operator polls: the service denies events to the identity (EventsDenied), or has none for "
                "it (EventsUnavailable), there are too many streams of events (TooManyStreams), or opening one "
                "fails (EventsFailed)."
            ),
        ),
    ] = None
    target: Annotated[TargetStatus | None, Field(description="The last write.")] = None
    moving_to: Annotated[
        TargetName | None,
        Field(description="Another target that is replacing `target`, or was to replace it."),
    ] = None
    workloads: WorkloadStatuses = ()
    keys: Annotated[
        tuple[KeyStatus, ...],
        Field(strict=False, max_length=KEYS_MAX, description="Keys, those with a problem first."),
    ] = ()
    keys_total: Annotated[
        int | None, Field(ge=0, description="Number of all keys, without overridden ones.")
    ] = None
    plan: Annotated[
        PlanStatus | None, Field(description="The change that is held back; empty without one.")
    ] = None
    sync: Annotated[
        RemoteSyncStatus | None, Field(description="The service's state of the sync to the destination.")
    ] = None
    push: Annotated[
        PushStatus | None,
        Field(description="The last push to that sync, and other names at its destination."),
    ] = None
