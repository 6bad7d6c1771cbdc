"""Imports of folders on the wire (wire.md section 2.7)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.wire.base import WHOLE, Flag, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX, FOLDER_PATH_MAX
from keybearer.wire.projects import EnvironmentSummary

__all__ = [
    "CreateImport",
    "DeleteImport",
    "ImportAnswer",
    "ImportList",
    "ImportQuery",
    "ImportSource",
    "PlacedImport",
    "PlacedImportAnswer",
    "RedirectedImport",
    "SecretImport",
    "UpdateImport",
]

_Environment = Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
_Path = Annotated[str, Field(max_length=FOLDER_PATH_MAX)]


class SecretImport(WireModel):
    """An import; `position` counts from 1 within its folder, and the last one wins."""

    id: str
    position: int
    folder_id: str
    import_path: str
    import_env: EnvironmentSummary
    is_replication: bool
    version: int
    created_at: WireInstant
    updated_at: WireInstant


class PlacedImport(SecretImport):
    """An import that was asked for by its id, with the folder that has it."""

    project_id: str
    environment: EnvironmentSummary
    secret_path: str


class ImportAnswer(WireModel):
    """`{message, secretImport}`."""

    message: str
    secret_import: SecretImport


class PlacedImportAnswer(WireModel):
    """`{message, secretImport}` of GET secret-imports/{id}."""

    message: str
    secret_import: PlacedImport


class ImportList(WireModel):
    """`{message, secretImports}`, by position."""

    message: str
    secret_imports: list[SecretImport]


class _FolderOfImports(BodyModel):
    project_id: str | None = None
    workspace_id: str | None = None
    environment: _Environment
    path: _Path = "/"


class ImportQuery(_FolderOfImports):
    """Query of GET secret-imports."""


class ImportSource(BodyModel):
    """The place that is imported, of the same project."""

    environment: _Environment
    path: _Path


class CreateImport(_FolderOfImports):
    """POST secret-imports: the import goes last. One that replicates is kept, and not shown by lists."""

    source: Annotated[ImportSource, Field(alias="import")]
    is_replication: Flag = False


class RedirectedImport(BodyModel):
    """What changes of an import: what is absent stays."""

    environment: _Environment | None = None
    path: _Path | None = None
    position: Annotated[int, Field(ge=1), WHOLE] | None = None


class UpdateImport(_FolderOfImports):
    """PATCH secret-imports/{id}."""

    source: Annotated[RedirectedImport, Field(alias="import")]


class DeleteImport(_FolderOfImports):
    """DELETE secret-imports/{id}, with a JSON body."""
