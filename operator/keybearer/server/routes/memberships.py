"""Users in projects, named by email (wire.md sections 1.4 and 9.2)."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.access import ProjectRef
from keybearer.domain.memberships import UserMembership
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.routing import new_router
from keybearer.server.user_rendering import user_membership_json
from keybearer.wire.identities import MembershipRoles, PutMembership
from keybearer.wire.users import (
    AddUsersToProject,
    NamedUser,
    RemoveUsersFromProject,
    UserMembershipAnswer,
    UserMembershipList,
)

__all__ = ["router"]

router = new_router("Users", AuthenticatedRoute)
_MEMBERSHIPS = "/api/v1/projects/{project_id}/memberships"
_OLDER = "/api/v2/workspace/{project_id}/memberships"
_OLDEST = "/api/v1/workspace/{project_id}/memberships"


@router.post(_OLDER, response_model=UserMembershipList, summary="Give users roles in a project (older path)")
@router.post(_MEMBERSHIPS, response_model=UserMembershipList, summary="Give users roles in a project")
async def put_users(request: Request, project_id: str, body: AddUsersToProject) -> Response:
    members = await context_of(request).memberships.put(
        principal_of(request),
        ProjectRef(id=project_id),
        [*body.emails, *body.usernames],
        tuple(dict.fromkeys(body.role_slugs)),
    )
    return _many(members)


@router.get(
    _OLDEST,
    response_model=UserMembershipList,
    summary="List the users of a project (older path)",
)
@router.get(_MEMBERSHIPS, response_model=UserMembershipList, summary="List the users of a project")
async def list_users(request: Request, project_id: str) -> Response:
    members = await context_of(request).memberships.list(principal_of(request), ProjectRef(id=project_id))
    return _many(members)


@router.post(
    f"{_OLDEST}/details", response_model=UserMembershipAnswer, summary="Get a user's membership by username"
)
async def get_named_user(request: Request, project_id: str, body: NamedUser) -> Response:
    member = await context_of(request).memberships.named(
        principal_of(request), ProjectRef(id=project_id), body.username
    )
    return _one(member)


@router.get(
    "/api/v1/projects/{project_id}/user/{user_id}/membership",
    response_model=UserMembershipAnswer,
    summary="Get a user's membership by the user's id",
)
async def get_membership_of_user(request: Request, project_id: str, user_id: str) -> Response:
    member = await context_of(request).memberships.of_user(
        principal_of(request), ProjectRef(id=project_id), user_id
    )
    return _one(member)


@router.delete(_OLDER, response_model=UserMembershipList, summary="Take users out of a project (older path)")
@router.delete(_MEMBERSHIPS, response_model=UserMembershipList, summary="Take users out of a project")
async def remove_users(request: Request, project_id: str, body: RemoveUsersFromProject) -> Response:
    members = await context_of(request).memberships.remove_named(
        principal_of(request), ProjectRef(id=project_id), [*body.emails, *body.usernames]
    )
    return _many(members)


@router.get(
    f"{_MEMBERSHIPS}/{{membership_id}}",
    response_model=UserMembershipAnswer,
    summary="Get a user's membership",
)
async def get_user(request: Request, project_id: str, membership_id: str) -> Response:
    member = await context_of(request).memberships.get(
        principal_of(request), ProjectRef(id=project_id), membership_id
    )
    return _one(member)


@router.patch(
    f"{_MEMBERSHIPS}/{{membership_id}}", response_model=UserMembershipAnswer, summary="Change a user's roles"
)
async def update_user(request: Request, project_id: str, membership_id: str, body: PutMembership) -> Response:
    return _one(await _update(request, project_id, membership_id, body))


@router.patch(
    f"{_OLDEST}/{{membership_id}}",
    response_model=MembershipRoles,
    summary="Change a user's roles (older path)",
)
async def update_roles(
    request: Request, project_id: str, membership_id: str, body: PutMembership
) -> Response:
    member = await _update(request, project_id, membership_id, body)
    return json_response({"roles": user_membership_json(member)["roles"]})


@router.delete(
    f"{_MEMBERSHIPS}/{{membership_id}}",
    response_model=UserMembershipAnswer,
    summary="Take a user out of a project",
)
async def remove_user(request: Request, project_id: str, membership_id: str) -> Response:
    member = await context_of(request).memberships.remove(
        principal_of(request), ProjectRef(id=project_id), membership_id
    )
    return _one(member)


async def _update(
    request: Request, project_id: str, membership_id: str, body: PutMembership
) -> UserMembership:
    return await context_of(request).memberships.update(
        principal_of(request), ProjectRef(id=project_id), membership_id, body.role_slugs
    )


def _one(member: UserMembership) -> Response:
    return json_response({"membership": user_membership_json(member)})


def _many(members: Iterable[UserMembership]) -> Response:
    return json_response({"memberships": [user_membership_json(member) for member in members]})
