"""Imports of folders, v1 and v2 (wire.md section 2.7): they differ in the project's name alone."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.base.ids import EnvironmentSlug
from keybearer.domain.authorization import Where
from keybearer.domain.paths import normalize_path
from keybearer.domain.secrets.folder_imports import ImportChange, ImportView
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.rendering_imports import import_json, placed_import_json
from keybearer.server.routes.bodies import folders_at
from keybearer.server.routing import new_router
from keybearer.wire.imports import (
    CreateImport,
    DeleteImport,
    ImportAnswer,
    ImportList,
    ImportQuery,
    PlacedImportAnswer,
    UpdateImport,
)

__all__ = ["router"]

router = new_router("Secret imports", AuthenticatedRoute)
_V1 = "/api/v1/secret-imports"
_V2 = "/api/v2/secret-imports"


@router.get(
    _V1, response_model=ImportList, openapi_extra=parameters_of(ImportQuery), summary="List imports (v1)"
)
@router.get(_V2, response_model=ImportList, openapi_extra=parameters_of(ImportQuery), summary="List imports")
async def list_imports(request: Request) -> Response:
    at = _at(query_of(request, ImportQuery))
    views = await context_of(request).imports.list(principal_of(request), at)
    return json_response(
        {
            "message": "Successfully fetched secret imports",
            "secretImports": [import_json(view) for view in views],
        }
    )


@router.post(_V1, response_model=ImportAnswer, summary="Create an import (v1)")
@router.post(_V2, response_model=ImportAnswer, summary="Create an import")
async def create_import(request: Request, body: CreateImport) -> Response:
    source = Where(body.source.environment, normalize_path(body.source.path))
    view = await context_of(request).imports.create(
        principal_of(request), _at(body), source, replication=body.is_replication
    )
    return _answer("Successfully created secret import", view)


@router.get(f"{_V1}/{{import_id}}", response_model=PlacedImportAnswer, summary="Get an import (v1)")
@router.get(f"{_V2}/{{import_id}}", response_model=PlacedImportAnswer, summary="Get an import")
async def get_import(request: Request, import_id: str) -> Response:
    placed = await context_of(request).imports.get(principal_of(request), import_id)
    return json_response(
        {"message": "Successfully fetched secret import", "secretImport": placed_import_json(placed)}
    )


@router.patch(f"{_V1}/{{import_id}}", response_model=ImportAnswer, summary="Change an import (v1)")
@router.patch(f"{_V2}/{{import_id}}", response_model=ImportAnswer, summary="Change an import")
async def update_import(request: Request, import_id: str, body: UpdateImport) -> Response:
    given = body.source
    change = ImportChange(
        environment=None if given.environment is None else EnvironmentSlug(given.environment),
        path=None if given.path is None else normalize_path(given.path),
        position=given.position,
    )
    view = await context_of(request).imports.update(principal_of(request), _at(body), import_id, change)
    return _answer("Successfully updated secret import", view)


@router.delete(f"{_V1}/{{import_id}}", response_model=ImportAnswer, summary="Delete an import (v1)")
@router.delete(f"{_V2}/{{import_id}}", response_model=ImportAnswer, summary="Delete an import")
async def delete_import(request: Request, import_id: str, body: DeleteImport) -> Response:
    view = await context_of(request).imports.delete(principal_of(request), _at(body), import_id)
    return _answer("Successfully deleted secret import", view)


def _at(named: ImportQuery | CreateImport | UpdateImport | DeleteImport) -> SecretsAt:
    at = folders_at(named)
    return SecretsAt(at.project, at.environment, at.path)


def _answer(message: str, view: ImportView) -> Response:
    return json_response({"message": message, "secretImport": import_json(view)})
