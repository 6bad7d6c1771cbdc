"""Imports of folders (wire.md section 2.7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from keybearer.interface.environments import Environment
from keybearer.interface.route import EnvironmentName, FolderPath, InFolder, Older, Route
from keybearer.interface.shapes import Envelope, Instant, Number, Sent, Shape, Text, Within
from keybearer.wire.base import WHOLE, Flag
from keybearer.wire.projects import EnvironmentSummary

__all__ = [
    "CREATE",
    "DELETE",
    "GET",
    "LIST",
    "ROUTES",
    "UPDATE",
    "CreateImport",
    "DeleteImport",
    "GetImport",
    "ImportAnswer",
    "ImportList",
    "ListImports",
    "PlacedImport",
    "PlacedImportAnswer",
    "SecretImport",
    "UpdateImport",
]

_Environment = Annotated[Environment, Sent(EnvironmentSummary)]
_Position = Annotated[int, Field(ge=1), WHOLE]
_SOURCE = Within("import", "ImportSource", "The place that is imported, of the same project.")
_CHANGE = Within("import", "RedirectedImport", "What changes of an import: what is absent stays.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretImport(Shape):
    """An import; `position` counts from 1 within its folder, and the last one wins."""

    id: str
    position: int
    folder_id: Annotated[str | None, Sent(str)] = None
    import_path: str
    import_env: _Environment
    is_replication: Annotated[bool | None, Sent(bool)] = None
    version: Number = None
    created_at: Instant = ""
    updated_at: Instant = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedImport(SecretImport):
    """An import that was asked for by its id, with the folder that has it."""

    project_id: str
    environment: _Environment
    secret_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportAnswer(Envelope[SecretImport]):
    """`{message, secretImport}`."""

    message: Text = ""
    secret_import: SecretImport


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedImportAnswer(Envelope[SecretImport]):
    """`{message, secretImport}` of GET secret-imports/{id}."""

    message: Text = ""
    secret_import: Annotated[SecretImport, Sent(PlacedImport)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportList(Envelope[list[SecretImport]]):
    """`{message, secretImports}`, by position."""

    message: Text = ""
    secret_imports: list[SecretImport]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListImports(InFolder):
    """List the imports of a folder, by position."""


@dataclass(frozen=True, slots=True)
class GetImport:
    """Return an import by its id; `NotFound` where there is none."""

    import_id: str


@dataclass(frozen=True, slots=True)
class CreateImport(InFolder):
    """Have a folder import another one of its project, in the last place, and return the import.

    Attributes:
        from_environment: a slug.
        from_path: the folder that is imported.
        is_replication: it is kept, and not shown by lists.
    """

    from_environment: Annotated[EnvironmentName, Field(alias="environment"), _SOURCE]
    from_path: Annotated[FolderPath, Field(alias="path"), _SOURCE]
    is_replication: Flag = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class UpdateImport(InFolder):
    """Change what an import brings, or its place among the others, and return it; what isn't given stays.

    Attributes:
        position: counts from 1.
    """

    import_id: str
    from_environment: Annotated[EnvironmentName | None, Field(alias="environment"), _CHANGE] = field(
        default=None, kw_only=True
    )
    from_path: Annotated[FolderPath | None, Field(alias="path"), _CHANGE] = field(default=None, kw_only=True)
    position: Annotated[_Position | None, _CHANGE] = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class DeleteImport(InFolder):
    """Delete an import, and return what it was."""

    import_id: str


def _paths(path: str) -> tuple[str | Older, ...]:
    return f"/api/v2{path}", Older(f"/api/v1{path}", is_what="v1")


_ALL, _ONE = _paths("/secret-imports"), _paths("/secret-imports/{import_id}")
_TAG = "Secret imports"

LIST = Route("GET", _ALL, ListImports, ImportList, _TAG, "List imports")
CREATE = Route("POST", _ALL, CreateImport, ImportAnswer, _TAG, "Create an import")
GET = Route("GET", _ONE, GetImport, PlacedImportAnswer, _TAG, "Get an import")
UPDATE = Route("PATCH", _ONE, UpdateImport, ImportAnswer, _TAG, "Change an import")
DELETE = Route("DELETE", _ONE, DeleteImport, ImportAnswer, _TAG, "Delete an import")

ROUTES = (LIST, CREATE, GET, UPDATE, DELETE)
