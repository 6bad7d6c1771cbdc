"""Domain to wire: imports of folders (wire.md section 2.7)."""

from __future__ import annotations

from keybearer.domain.secrets.folder_imports import ImportView, PlacedImport
from keybearer.store.records import Environment
from keybearer.wire.base import write_instant

__all__ = ["import_json", "placed_import_json"]

Json = dict[str, object]


def import_json(view: ImportView) -> Json:
    """Return an import."""
    item = view.item
    return {
        "id": item.id,
        "position": item.position,
        "folderId": item.folder_id,
        "importPath": item.path,
        "importEnv": _environment_json(view.source),
        "isReplication": item.is_replication,
        "version": item.version,
        "createdAt": write_instant(item.created_at),
        "updatedAt": write_instant(item.updated_at),
    }


def placed_import_json(placed: PlacedImport) -> Json:
    """Return an import with the folder that has it."""
    return {
        **import_json(placed.view),
        "projectId": placed.environment.project_id,
        "environment": _environment_json(placed.environment),
        "secretPath": placed.path,
    }


def _environment_json(environment: Environment) -> Json:
    return {"id": environment.id, "name": environment.name, "slug": environment.slug}
