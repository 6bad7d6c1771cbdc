"""Imports of folders, v1 and v2 (wire.md section 2.7): they differ in the project's name alone."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from keybearer.domain.secrets.folder_imports import ImportView, PlacedImport
from keybearer.interface import imports
from keybearer.server.table_routes import served
from keybearer.server.writing import View
from keybearer.store.records import Environment

__all__ = ["ROUTES"]


def _environment(environment: Environment) -> dict[str, str]:
    return {"id": environment.id, "name": environment.name, "slug": environment.slug}


def _done(what: str, to: str = "import") -> str:
    return f"Successfully {what} secret {to}"


_SEEN: dict[str, Callable[[Any], object]] = {
    "import_path": attrgetter("item.path"),
    "import_env": lambda view: _environment(view.source),
}
_IMPORT = View(imports.SecretImport, ImportView, _SEEN, within="item")
_PLACED = View(
    imports.PlacedImport,
    PlacedImport,
    _SEEN
    | {
        "project_id": attrgetter("environment.project_id"),
        "environment": lambda placed: _environment(placed.environment),
        "secret_path": attrgetter("path"),
    },
    within="item",
)


ROUTES = (
    *served(imports.LIST, _IMPORT, lambda context: context.imports.list, message=_done("fetched", "imports")),
    *served(imports.CREATE, _IMPORT, lambda context: context.imports.create, message=_done("created")),
    *served(imports.GET, _PLACED, lambda context: context.imports.get, message=_done("fetched")),
    *served(imports.UPDATE, _IMPORT, lambda context: context.imports.update, message=_done("updated")),
    *served(imports.DELETE, _IMPORT, lambda context: context.imports.delete, message=_done("deleted")),
)
