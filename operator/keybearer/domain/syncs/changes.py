"""New and changed records of syncs, and what a change invalidates. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import Enum, auto

from keybearer.base.ids import IdentityId, ProjectId, new_uuid
from keybearer.destinations.form import DestinationKind
from keybearer.domain.syncs.requests import NewSync, SyncChange, Unchanged
from keybearer.domain.syncs.rules import destination_digest
from keybearer.store.secret_syncs import SyncRecord

__all__ = ["Loss", "changed_record", "loss_of", "new_record"]


class Loss(Enum):
    """What a change invalidates."""

    NOTHING = auto()
    SOURCE = auto()
    """The digest of the source that the last run read."""
    REMOTE = auto()
    """That digest, and what is known of the destination."""


def new_record(
    project_id: ProjectId,
    folder_id: str,
    model: DestinationKind,
    new: NewSync,
    owner_id: IdentityId,
    now: datetime,
) -> SyncRecord:
    """Return a sync that never ran."""
    return SyncRecord(
        id=new_uuid(),
        project_id=project_id,
        folder_id=folder_id,
        connection_id=new.connection_id,
        name=new.name,
        description=new.description,
        is_auto_sync_enabled=new.is_auto_sync_enabled,
        version=1,
        destination=model.name,
        destination_config=new.config.written(),
        destination_digest=destination_digest(model, new.config),
        sync_options=new.options.written(),
        sync_status=None,
        last_sync_job_id=None,
        last_sync_message=None,
        last_synced_at=None,
        import_status=None,
        last_import_job_id=None,
        last_import_message=None,
        last_imported_at=None,
        remove_status=None,
        last_remove_job_id=None,
        last_remove_message=None,
        last_removed_at=None,
        source_digest=None,
        reached=None,
        is_settled=False,
        listed_at=None,
        owner_id=owner_id,
        created_at=now,
        updated_at=now,
    )


def changed_record(
    old: SyncRecord,
    model: DestinationKind,
    change: SyncChange,
    folder_id: str | None,
    owner_id: IdentityId | None,
    now: datetime,
) -> SyncRecord:
    """Return the changed sync, which reads the folder with this id, with the rights of this owner."""
    changed = replace(
        old,
        name=change.name or old.name,
        description=old.description if isinstance(change.description, Unchanged) else change.description,
        is_auto_sync_enabled=(
            old.is_auto_sync_enabled if change.is_auto_sync_enabled is None else change.is_auto_sync_enabled
        ),
        connection_id=change.connection_id or old.connection_id,
        folder_id=folder_id,
        owner_id=owner_id,
        version=old.version + 1,
        updated_at=now,
    )
    if change.options is not None:
        changed = replace(changed, sync_options=change.options.written())
    if change.config is not None:
        changed = replace(
            changed,
            destination_config=change.config.written(),
            destination_digest=destination_digest(model, change.config),
        )
    return changed


def loss_of(old: SyncRecord, new: SyncRecord, *, is_moved: bool) -> Loss:
    """Return what a change of a sync invalidates.

    Args:
        old: what it was.
        new: what it is.
        is_moved: whether it writes to another place. If only the names changed, the ledger stays valid.
    """
    if is_moved or (new.destination_config, new.sync_options) != (old.destination_config, old.sync_options):
        return Loss.REMOTE
    return Loss.NOTHING if new.folder_id == old.folder_id else Loss.SOURCE
