"""Domain to wire: secret syncs (interface.md sections 2.1 and 2.2), in the vocabulary of the request."""

from __future__ import annotations

from datetime import datetime

from keybearer.destinations.catalogue import OfferedDestination
from keybearer.domain.syncs.key_states import KeyStanding
from keybearer.domain.syncs.owners import SyncOwner
from keybearer.store.secret_syncs import JobKind, SecretSync, progress_of
from keybearer.wire.base import write_instant
from keybearer.wire.vocabulary import Vocabulary

__all__ = ["owner_json", "standing_json", "sync_json", "sync_option_json"]

Json = dict[str, object]


def sync_json(sync: SecretSync, words: Vocabulary = Vocabulary.INTERFACE) -> Json:
    """Return a sync."""
    record = sync.record
    return {
        "id": record.id,
        "name": record.name,
        "description": record.description,
        "isAutoSyncEnabled": record.is_auto_sync_enabled,
        "version": record.version,
        "projectId": record.project_id,
        "folderId": record.folder_id,
        "connectionId": record.connection_id,
        "createdAt": write_instant(record.created_at),
        "updatedAt": write_instant(record.updated_at),
        **_progress_json(sync, JobKind.SYNC, "sync", "Synced"),
        **_progress_json(sync, JobKind.IMPORT, "import", "Imported"),
        **_progress_json(sync, JobKind.REMOVE, "remove", "Removed"),
        "syncOptions": dict(record.sync_options),
        "connection": {
            "app": words.app(sync.app),
            "name": sync.connection_name,
            "id": record.connection_id,
        },
        "environment": _environment_json(sync),
        "folder": None if sync.folder_path is None else {"id": record.folder_id, "path": sync.folder_path},
        "destination": words.destination(record.destination),
        "destinationConfig": dict(record.destination_config),
    }


def standing_json(standing: KeyStanding) -> Json:
    """Return how one name of a sync stands."""
    return {
        "name": standing.name,
        "secretKey": standing.key,
        "state": standing.state.value,
        "message": standing.message,
    }


def owner_json(owner: SyncOwner) -> Json:
    """Return whose rights a sync has."""
    return {
        "id": owner.id,
        "name": owner.name,
        "kind": owner.kind,
        "canReadSource": owner.can_read,
        "message": owner.message,
    }


def sync_option_json(destination: OfferedDestination) -> Json:
    """Return a destination as it is offered."""
    return {
        "name": destination.title,
        "connection": destination.connection,
        "destination": destination.name,
        "canImportSecrets": destination.can_import,
        "canRemoveSecretsOnDeletion": destination.can_remove,
    }


def _progress_json(sync: SecretSync, kind: JobKind, verb: str, done: str) -> Json:
    progress = progress_of(sync.record, kind)
    return {
        f"{verb}Status": progress.status,
        f"last{verb.capitalize()}JobId": progress.job_id,
        f"last{verb.capitalize()}Message": progress.message,
        f"last{done}At": _instant(progress.at),
    }


def _instant(at: datetime | None) -> str | None:
    return None if at is None else write_instant(at)


def _environment_json(sync: SecretSync) -> Json | None:
    if sync.environment_id is None:
        return None
    return {"slug": sync.environment_slug, "name": sync.environment_name, "id": sync.environment_id}
