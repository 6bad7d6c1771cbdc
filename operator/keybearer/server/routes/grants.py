"""Path-scoped grants of a project's members, an addition to the published interface (docs/interface.md)."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import Request
from starlette.responses import Response

from keybearer.base.ids import IdentityId
from keybearer.domain.access import ProjectRef
from keybearer.domain.authorization import Action, Subject
from keybearer.domain.grants import GrantChange, NewGrant
from keybearer.domain.permissions import Effect
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.store.grants import Grant
from keybearer.wire.base import write_instant
from keybearer.wire.grants import CreateGrant, GrantAnswer, GrantList, GrantQuery, UpdateGrant

__all__ = ["router"]

router = new_router("Grants", AuthenticatedRoute)
_GRANTS = "/api/v1/projects/{project_id}/grants"
_GRANT = "/api/v1/projects/{project_id}/grants/{grant_id}"


@router.post(_GRANTS, response_model=GrantAnswer, summary="Give a member a grant for a part of a project")
async def create_grant(request: Request, project_id: str, body: CreateGrant) -> Response:
    new = NewGrant(
        IdentityId(body.identity_id),
        Effect(body.effect),
        _subjects(body.subjects),
        _actions(body.actions),
        body.environment,
        body.secret_path,
    )
    grant = await context_of(request).grants.create(principal_of(request), ProjectRef(id=project_id), new)
    return _answer(grant)


@router.get(
    _GRANTS,
    response_model=GrantList,
    openapi_extra=parameters_of(GrantQuery),
    summary="List the grants of a project",
)
async def list_grants(request: Request, project_id: str) -> Response:
    named = query_of(request, GrantQuery).identity_id
    grants = await context_of(request).grants.list(
        principal_of(request), ProjectRef(id=project_id), None if named is None else IdentityId(named)
    )
    return json_response({"grants": [_grant_json(grant) for grant in grants], "totalCount": len(grants)})


@router.get(_GRANT, response_model=GrantAnswer, summary="Get a grant")
async def get_grant(request: Request, project_id: str, grant_id: str) -> Response:
    grant = await context_of(request).grants.get(principal_of(request), ProjectRef(id=project_id), grant_id)
    return _answer(grant)


@router.patch(_GRANT, response_model=GrantAnswer, summary="Change a grant")
async def update_grant(request: Request, project_id: str, grant_id: str, body: UpdateGrant) -> Response:
    change = GrantChange(
        None if body.effect is None else Effect(body.effect),
        None if body.subjects is None else _subjects(body.subjects),
        None if body.actions is None else _actions(body.actions),
        body.environment,
        body.secret_path,
    )
    grant = await context_of(request).grants.update(
        principal_of(request), ProjectRef(id=project_id), grant_id, change
    )
    return _answer(grant)


@router.delete(_GRANT, response_model=GrantAnswer, summary="Remove a grant")
async def delete_grant(request: Request, project_id: str, grant_id: str) -> Response:
    grant = await context_of(request).grants.delete(
        principal_of(request), ProjectRef(id=project_id), grant_id
    )
    return _answer(grant)


def _subjects(words: Iterable[str]) -> tuple[Subject, ...]:
    return tuple(map(Subject, words))


def _actions(words: Iterable[str]) -> tuple[Action, ...]:
    return tuple(map(Action, words))


def _answer(grant: Grant) -> Response:
    return json_response({"grant": _grant_json(grant)})


def _grant_json(grant: Grant) -> dict[str, object]:
    return {
        "id": grant.id,
        "projectId": grant.project_id,
        "identityId": grant.identity_id,
        "effect": grant.effect,
        "subjects": grant.subjects,
        "actions": grant.actions,
        "environment": grant.environment,
        "secretPath": grant.secret_path,
        "createdAt": write_instant(grant.created_at),
        "updatedAt": write_instant(grant.updated_at),
    }
