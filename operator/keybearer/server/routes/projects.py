"""Projects under both of their names (wire.md section 2.10)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.access import ProjectRef
from keybearer.domain.projects import NewProject, ProjectChange
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.rendering import project_json
from keybearer.server.routing import new_router
from keybearer.wire.projects import (
    CreateProject,
    Project,
    ProjectAnswer,
    ProjectList,
    ProjectQuery,
    UpdateProject,
    WorkspaceAnswer,
    WorkspaceList,
)

__all__ = ["router"]

router = new_router("Projects", AuthenticatedRoute)


@router.post("/api/v2/workspace", response_model=ProjectAnswer, summary="Create a project (older path)")
@router.post("/api/v1/projects", response_model=ProjectAnswer, summary="Create a project")
async def create_project(request: Request, body: CreateProject) -> Response:
    new = NewProject(
        name=body.project_name,
        slug=body.slug,
        description=body.project_description,
        type=body.type,
        default_environments=body.should_create_default_envs,
        delete_protection=body.has_delete_protection,
    )
    view = await context_of(request).projects.create(principal_of(request), new)
    return json_response({"project": project_json(view)})


@router.get(
    "/api/v1/projects",
    response_model=ProjectList,
    openapi_extra=parameters_of(ProjectQuery),
    summary="List projects",
)
async def list_projects(request: Request) -> Response:
    kind = query_of(request, ProjectQuery).type
    views = await context_of(request).projects.list(principal_of(request), kind)
    return json_response({"projects": [project_json(view) for view in views]})


@router.get("/api/v1/workspace", response_model=WorkspaceList, summary="List projects (older path)")
async def list_workspaces(request: Request) -> Response:
    views = await context_of(request).projects.list(principal_of(request), None)
    return json_response({"workspaces": [project_json(view) for view in views]})


@router.get("/api/v1/projects/slug/{slug}", response_model=Project, summary="Get a project by slug")
@router.get("/api/v1/workspace/slug/{slug}", response_model=Project, summary="Get a project by slug (older)")
@router.get("/api/v2/workspace/{slug}", response_model=Project, summary="Get a project by slug (older path)")
async def get_project_by_slug(request: Request, slug: str) -> Response:
    view = await context_of(request).projects.get(principal_of(request), ProjectRef(slug=slug))
    return json_response(project_json(view))


@router.get("/api/v1/projects/{project_id}", response_model=ProjectAnswer, summary="Get a project")
async def get_project(request: Request, project_id: str) -> Response:
    view = await context_of(request).projects.get(principal_of(request), ProjectRef(id=project_id))
    return json_response({"project": project_json(view)})


@router.get("/api/v1/workspace/{project_id}", response_model=WorkspaceAnswer, summary="Get a project (older)")
async def get_workspace(request: Request, project_id: str) -> Response:
    view = await context_of(request).projects.get(principal_of(request), ProjectRef(id=project_id))
    return json_response({"workspace": project_json(view)})


@router.patch("/api/v1/projects/{project_id}", response_model=ProjectAnswer, summary="Change a project")
async def update_project(request: Request, project_id: str, body: UpdateProject) -> Response:
    return json_response({"project": await _update(request, ProjectRef(id=project_id), body)})


@router.patch(
    "/api/v1/workspace/{project_id}", response_model=WorkspaceAnswer, summary="Change a project (older)"
)
async def update_workspace(request: Request, project_id: str, body: UpdateProject) -> Response:
    return json_response({"workspace": await _update(request, ProjectRef(id=project_id), body)})


@router.patch(
    "/api/v2/workspace/{slug}", response_model=Project, summary="Change a project by slug (older path)"
)
async def update_project_by_slug(request: Request, slug: str, body: UpdateProject) -> Response:
    return json_response(await _update(request, ProjectRef(slug=slug), body))


@router.delete("/api/v1/projects/{project_id}", response_model=ProjectAnswer, summary="Delete a project")
async def delete_project(request: Request, project_id: str) -> Response:
    return json_response({"project": await _delete(request, ProjectRef(id=project_id))})


@router.delete(
    "/api/v1/workspace/{project_id}", response_model=WorkspaceAnswer, summary="Delete a project (older)"
)
async def delete_workspace(request: Request, project_id: str) -> Response:
    return json_response({"workspace": await _delete(request, ProjectRef(id=project_id))})


@router.delete(
    "/api/v2/workspace/{slug}", response_model=Project, summary="Delete a project by slug (older path)"
)
async def delete_project_by_slug(request: Request, slug: str) -> Response:
    return json_response(await _delete(request, ProjectRef(slug=slug)))


async def _update(request: Request, ref: ProjectRef, body: UpdateProject) -> dict[str, object]:
    change = ProjectChange(
        name=body.name,
        slug=body.slug,
        description=body.description,
        auto_capitalization=body.auto_capitalization,
        delete_protection=body.has_delete_protection,
    )
    return project_json(await context_of(request).projects.update(principal_of(request), ref, change))


async def _delete(request: Request, ref: ProjectRef) -> dict[str, object]:
    return project_json(await context_of(request).projects.delete(principal_of(request), ref))
