"""How syncs are shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keybearer.cli.wire_fields import rows_of

if TYPE_CHECKING:
    from keybearer.client import SecretSync

__all__ = ["COLUMNS", "fields_of_sync", "row_of"]

COLUMNS = ("NAME", "FROM", "TO", "AUTO", "STATUS", "LAST SYNCED", "ID")


def row_of(sync: SecretSync) -> tuple[str, ...]:
    """Return the sync as one line of a list."""
    return (
        sync.name,
        _source(sync),
        f"{sync.destination} ({sync.connection.name})",
        "yes" if sync.is_auto_sync_enabled else "no",
        _standing(sync),
        sync.last_synced_at or "never",
        sync.id,
    )


def fields_of_sync(sync: SecretSync) -> list[tuple[str, str]]:
    """Return all that there is to tell of the sync: names and contents."""
    return [
        ("name", sync.name),
        ("from", _source(sync)),
        ("to", sync.destination),
        ("connection", sync.connection.name),
        *rows_of(sync.destination_config),
        *rows_of(sync.sync_options),
        ("auto sync", "yes" if sync.is_auto_sync_enabled else "no"),
        ("sync", _ended(sync.sync_status, sync.last_synced_at, sync.last_sync_message)),
        ("import", _ended(sync.import_status, sync.last_imported_at, sync.last_import_message)),
        ("remove", _ended(sync.remove_status, sync.last_removed_at, sync.last_remove_message)),
        ("description", sync.description),
        ("created", sync.created_at),
        ("updated", sync.updated_at),
        ("id", sync.id),
    ]


def _source(sync: SecretSync) -> str:
    if sync.environment is None or sync.folder is None:
        return "a folder that is gone"
    return f"{sync.environment.slug}:{sync.folder.path}"


def _standing(sync: SecretSync) -> str:
    if sync.remove_status is not None and sync.remove_status != "succeeded":
        return f"removal {sync.remove_status}"
    if sync.import_status in ("pending", "running"):
        return f"import {sync.import_status}"
    return sync.sync_status or "never run"


def _ended(status: str | None, at: str | None, message: str | None) -> str:
    parts = [status or "never", *([f"last at {at}"] if at else ()), *([message] if message else ())]
    return "; ".join(parts)
