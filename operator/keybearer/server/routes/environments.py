"""Environments and tags of a project, under both names of the project (wire.md section 2.10)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.base.ids import EnvironmentSlug
from keybearer.domain.access import ProjectRef
from keybearer.domain.environments import EnvironmentChange
from keybearer.domain.tags import TagChange
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.rendering import environment_json, tag_json
from keybearer.server.routing import new_router
from keybearer.store.records import Environment
from keybearer.wire.projects import (
    CreateEnvironment,
    CreateTag,
    EnvironmentAnswer,
    SingleEnvironment,
    TagAnswer,
    TagList,
    UpdateEnvironment,
    UpdateTag,
    WorkspaceEnvironmentAnswer,
    WorkspaceTagList,
)

__all__ = ["router"]

router = new_router("Environments", AuthenticatedRoute)
_PROJECT = "/api/v1/projects/{project_id}"
_WORKSPACE = "/api/v1/workspace/{project_id}"


@router.post(f"{_PROJECT}/environments", response_model=EnvironmentAnswer, summary="Create an environment")
async def create_environment(request: Request, project_id: str, body: CreateEnvironment) -> Response:
    return _answer("Successfully created new environment", await _create(request, project_id, body))


@router.post(
    f"{_WORKSPACE}/environments",
    response_model=WorkspaceEnvironmentAnswer,
    summary="Create an environment (older path)",
)
async def create_workspace_environment(
    request: Request, project_id: str, body: CreateEnvironment
) -> Response:
    return _workspace_answer("Successfully created new environment", await _create(request, project_id, body))


@router.get(
    "/api/v1/workspace/environments/{environment_id}",
    response_model=SingleEnvironment,
    summary="Get an environment by its id alone",
)
async def get_environment_anywhere(request: Request, environment_id: str) -> Response:
    environment = await context_of(request).environments.get_anywhere(principal_of(request), environment_id)
    return json_response({"environment": environment_json(environment)})


@router.get(
    f"{_PROJECT}/environments/slug/{{slug}}",
    response_model=SingleEnvironment,
    summary="Get an environment by slug",
)
async def get_environment_by_slug(request: Request, project_id: str, slug: str) -> Response:
    environment = await context_of(request).environments.get(
        principal_of(request), ProjectRef(id=project_id), slug=slug
    )
    return json_response({"environment": environment_json(environment)})


@router.get(
    f"{_PROJECT}/environments/{{environment_id}}",
    response_model=SingleEnvironment,
    summary="Get an environment",
)
async def get_environment(request: Request, project_id: str, environment_id: str) -> Response:
    environment = await context_of(request).environments.get(
        principal_of(request), ProjectRef(id=project_id), environment_id=environment_id
    )
    return json_response({"environment": environment_json(environment)})


@router.patch(
    f"{_PROJECT}/environments/{{environment_id}}",
    response_model=EnvironmentAnswer,
    summary="Change an environment",
)
async def update_environment(
    request: Request, project_id: str, environment_id: str, body: UpdateEnvironment
) -> Response:
    return _answer(
        "Successfully updated environment", await _update(request, project_id, environment_id, body)
    )


@router.patch(
    f"{_WORKSPACE}/environments/{{environment_id}}",
    response_model=WorkspaceEnvironmentAnswer,
    summary="Change an environment (older path)",
)
async def update_workspace_environment(
    request: Request, project_id: str, environment_id: str, body: UpdateEnvironment
) -> Response:
    return _workspace_answer(
        "Successfully updated environment", await _update(request, project_id, environment_id, body)
    )


@router.delete(
    f"{_PROJECT}/environments/{{environment_id}}",
    response_model=EnvironmentAnswer,
    summary="Delete an environment",
)
async def delete_environment(request: Request, project_id: str, environment_id: str) -> Response:
    return _answer("Successfully deleted environment", await _delete(request, project_id, environment_id))


@router.delete(
    f"{_WORKSPACE}/environments/{{environment_id}}",
    response_model=WorkspaceEnvironmentAnswer,
    summary="Delete an environment (older path)",
)
async def delete_workspace_environment(request: Request, project_id: str, environment_id: str) -> Response:
    return _workspace_answer(
        "Successfully deleted environment", await _delete(request, project_id, environment_id)
    )


@router.post(f"{_PROJECT}/tags", response_model=TagAnswer, summary="Create a tag")
@router.post(f"{_WORKSPACE}/tags", response_model=TagAnswer, summary="Create a tag (older path)")
async def create_tag(request: Request, project_id: str, body: CreateTag) -> Response:
    tag = await context_of(request).tags.create(
        principal_of(request), ProjectRef(id=project_id), body.slug, body.name, body.color
    )
    return json_response({"tag": tag_json(tag)})


@router.get(f"{_PROJECT}/tags", response_model=TagList, summary="List tags")
async def list_tags(request: Request, project_id: str) -> Response:
    tags = await context_of(request).tags.list(principal_of(request), ProjectRef(id=project_id))
    return json_response({"tags": [tag_json(tag) for tag in tags]})


@router.get(f"{_WORKSPACE}/tags", response_model=WorkspaceTagList, summary="List tags (older path)")
async def list_workspace_tags(request: Request, project_id: str) -> Response:
    tags = await context_of(request).tags.list(principal_of(request), ProjectRef(id=project_id))
    return json_response({"workspaceTags": [tag_json(tag) for tag in tags]})


@router.get(f"{_PROJECT}/tags/slug/{{slug}}", response_model=TagAnswer, summary="Get a tag by slug")
@router.get(f"{_WORKSPACE}/tags/slug/{{slug}}", response_model=TagAnswer, summary="Get a tag by slug (older)")
async def get_tag_by_slug(request: Request, project_id: str, slug: str) -> Response:
    tag = await context_of(request).tags.get(principal_of(request), ProjectRef(id=project_id), slug=slug)
    return json_response({"tag": tag_json(tag)})


@router.get(f"{_PROJECT}/tags/{{tag_id}}", response_model=TagAnswer, summary="Get a tag")
@router.get(f"{_WORKSPACE}/tags/{{tag_id}}", response_model=TagAnswer, summary="Get a tag (older path)")
async def get_tag(request: Request, project_id: str, tag_id: str) -> Response:
    tag = await context_of(request).tags.get(principal_of(request), ProjectRef(id=project_id), tag_id=tag_id)
    return json_response({"tag": tag_json(tag)})


@router.patch(f"{_PROJECT}/tags/{{tag_id}}", response_model=TagAnswer, summary="Change a tag")
@router.patch(f"{_WORKSPACE}/tags/{{tag_id}}", response_model=TagAnswer, summary="Change a tag (older path)")
async def update_tag(request: Request, project_id: str, tag_id: str, body: UpdateTag) -> Response:
    tag = await context_of(request).tags.update(
        principal_of(request),
        ProjectRef(id=project_id),
        tag_id,
        TagChange(body.slug, body.name, body.color),
    )
    return json_response({"tag": tag_json(tag)})


@router.delete(f"{_PROJECT}/tags/{{tag_id}}", response_model=TagAnswer, summary="Delete a tag")
@router.delete(f"{_WORKSPACE}/tags/{{tag_id}}", response_model=TagAnswer, summary="Delete a tag (older path)")
async def delete_tag(request: Request, project_id: str, tag_id: str) -> Response:
    tag = await context_of(request).tags.delete(principal_of(request), ProjectRef(id=project_id), tag_id)
    return json_response({"tag": tag_json(tag)})


async def _create(request: Request, project_id: str, body: CreateEnvironment) -> Environment:
    return await context_of(request).environments.create(
        principal_of(request),
        ProjectRef(id=project_id),
        body.name,
        EnvironmentSlug(body.slug),
        body.position,
    )


async def _update(
    request: Request, project_id: str, environment_id: str, body: UpdateEnvironment
) -> Environment:
    slug = None if body.slug is None else EnvironmentSlug(body.slug)
    return await context_of(request).environments.update(
        principal_of(request),
        ProjectRef(id=project_id),
        environment_id,
        EnvironmentChange(body.name, slug, body.position),
    )


async def _delete(request: Request, project_id: str, environment_id: str) -> Environment:
    return await context_of(request).environments.delete(
        principal_of(request), ProjectRef(id=project_id), environment_id
    )


def _workspace_answer(message: str, environment: Environment) -> Response:
    return json_response(
        {
            "message": message,
            "workspace": environment.project_id,
            "environment": environment_json(environment),
        }
    )


def _answer(message: str, environment: Environment) -> Response:
    return json_response(
        {
            "message": message,
            "projectId": environment.project_id,
            "environment": environment_json(environment),
        }
    )
