"""Folders, v1 and v2 (wire.md section 2.9): they differ in the project's name and in forced deletion."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.base.ids import EnvironmentSlug
from keybearer.domain.access import ProjectRef
from keybearer.domain.folders import FolderChange, FoldersAt
from keybearer.domain.paths import normalize_path
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.rendering import folder_json, folder_with_environment_json
from keybearer.server.routes.bodies import folders_at, project_ref
from keybearer.server.routing import new_router
from keybearer.wire.projects import (
    BatchUpdateFolders,
    CreateFolder,
    DeleteFolder,
    FolderAnswer,
    FolderList,
    FolderQuery,
    FolderWithEnvironmentAnswer,
    UpdateFolder,
)

__all__ = ["router"]

router = new_router("Folders", AuthenticatedRoute)


@router.post("/api/v1/folders", response_model=FolderAnswer, summary="Create a folder (v1)")
@router.post("/api/v2/folders", response_model=FolderAnswer, summary="Create a folder")
async def create_folder(request: Request, body: CreateFolder) -> Response:
    view = await context_of(request).folders.create(
        principal_of(request), folders_at(body), body.name, body.description
    )
    return json_response({"folder": folder_json(view)})


@router.get(
    "/api/v1/folders",
    response_model=FolderList,
    openapi_extra=parameters_of(FolderQuery),
    summary="List folders (v1)",
)
@router.get(
    "/api/v2/folders",
    response_model=FolderList,
    openapi_extra=parameters_of(FolderQuery),
    summary="List folders",
)
async def list_folders(request: Request) -> Response:
    query = query_of(request, FolderQuery)
    at = folders_at(query)
    views = await context_of(request).folders.list(
        principal_of(request), at, recursive=query.recursive, modified_since=query.last_secret_modified
    )
    relative_to = at.path if query.recursive else None
    return json_response({"folders": [folder_json(view, relative_to=relative_to) for view in views]})


@router.patch("/api/v1/folders/batch", response_model=FolderList, summary="Change folders (v1)")
@router.patch("/api/v2/folders/batch", response_model=FolderList, summary="Change folders")
async def update_folders(request: Request, body: BatchUpdateFolders) -> Response:
    changes = [
        FolderChange(
            item.id,
            EnvironmentSlug(item.environment),
            normalize_path(item.path),
            item.name,
            item.description,
        )
        for item in body.folders
    ]
    ref = project_ref(body, body.project_slug)
    views = await context_of(request).folders.update(principal_of(request), ref, changes)
    return json_response({"folders": [folder_json(view) for view in views]})


@router.get(
    "/api/v1/folders/{project_id}/{environment}/{path:path}",
    response_model=FolderAnswer,
    summary="Get the folder at a path (v1)",
)
async def get_folder_at(request: Request, project_id: str, environment: str, path: str) -> Response:
    at = FoldersAt(ProjectRef(id=project_id), EnvironmentSlug(environment), normalize_path(path))
    view = await context_of(request).folders.get_at(principal_of(request), at)
    return json_response({"folder": folder_json(view)})


@router.get(
    "/api/v1/folders/{folder_id}", response_model=FolderWithEnvironmentAnswer, summary="Get a folder (v1)"
)
@router.get("/api/v2/folders/{folder_id}", response_model=FolderWithEnvironmentAnswer, summary="Get a folder")
async def get_folder(request: Request, folder_id: str) -> Response:
    view = await context_of(request).folders.get(principal_of(request), folder_id)
    return json_response({"folder": folder_with_environment_json(view)})


@router.patch("/api/v1/folders/{folder_id}", response_model=FolderAnswer, summary="Change a folder (v1)")
@router.patch("/api/v2/folders/{folder_id}", response_model=FolderAnswer, summary="Change a folder")
async def update_folder(request: Request, folder_id: str, body: UpdateFolder) -> Response:
    at = folders_at(body)
    change = FolderChange(folder_id, at.environment, at.path, body.name, body.description)
    views = await context_of(request).folders.update(principal_of(request), at.project, [change])
    return json_response({"folder": folder_json(views[0])})


@router.delete("/api/v1/folders/{id_or_name}", response_model=FolderAnswer, summary="Delete a folder (v1)")
async def delete_folder_v1(request: Request, id_or_name: str, body: DeleteFolder) -> Response:
    return await _delete(request, id_or_name, body, force=True)


@router.delete("/api/v2/folders/{id_or_name}", response_model=FolderAnswer, summary="Delete a folder")
async def delete_folder(request: Request, id_or_name: str, body: DeleteFolder) -> Response:
    return await _delete(request, id_or_name, body, force=body.force_delete)


async def _delete(request: Request, id_or_name: str, body: DeleteFolder, *, force: bool) -> Response:
    view = await context_of(request).folders.delete(
        principal_of(request), folders_at(body), id_or_name, force=force
    )
    return json_response({"folder": folder_json(view)})
