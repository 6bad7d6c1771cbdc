"""Machine identities in projects (wire.md section 1.4), and the older paths that Terraform's provider uses."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.base.ids import IdentityId
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.rendering import identity_membership_json, membership_json
from keybearer.server.routing import new_router
from keybearer.store.records import Membership
from keybearer.wire.identities import (
    MembershipAnswer,
    MembershipDetailAnswer,
    MembershipList,
    MembershipRoles,
    PutMembership,
)

__all__ = ["router"]

router = new_router("Projects", AuthenticatedRoute)
_ALL = "/api/v1/projects/{project_id}/memberships/identities"
_ONE = f"{_ALL}/{{identity_id}}"
_OLDER = "/api/v2/workspace/{project_id}/identity-memberships/{identity_id}"


@router.get(_ALL, response_model=MembershipList, summary="List the identities of a project")
async def list_members(request: Request, project_id: str) -> Response:
    memberships = context_of(request).identity_memberships
    members = await memberships.list(principal_of(request), project_id)
    return json_response(
        {
            "identityMemberships": [membership_json(member) for member in members],
            "totalCount": len(members),
        }
    )


@router.get(
    _OLDER, response_model=MembershipDetailAnswer, summary="Get an identity's membership (older path)"
)
async def get_member(request: Request, project_id: str, identity_id: str) -> Response:
    found = await context_of(request).identity_memberships.get(
        principal_of(request), project_id, IdentityId(identity_id)
    )
    return json_response({"identityMembership": identity_membership_json(found)})


@router.get(
    "/api/v2/workspace/identity-memberships/{membership_id}",
    response_model=MembershipDetailAnswer,
    summary="Get an identity's membership by its id alone (older path)",
)
async def get_member_anywhere(request: Request, membership_id: str) -> Response:
    memberships = context_of(request).identity_memberships
    found = await memberships.get_anywhere(principal_of(request), membership_id)
    return json_response({"identityMembership": identity_membership_json(found)})


@router.post(
    _OLDER, response_model=MembershipAnswer, summary="Give an identity roles in a project (older path)"
)
@router.post(_ONE, response_model=MembershipAnswer, summary="Give an identity roles in a project")
@router.patch(_ONE, response_model=MembershipAnswer, summary="Change an identity's roles in a project")
async def put_member(request: Request, project_id: str, identity_id: str, body: PutMembership) -> Response:
    return _one(await _put(request, project_id, identity_id, body))


@router.patch(
    _OLDER, response_model=MembershipRoles, summary="Change an identity's roles in a project (older path)"
)
async def change_roles(request: Request, project_id: str, identity_id: str, body: PutMembership) -> Response:
    membership = await _put(request, project_id, identity_id, body)
    return json_response({"roles": membership_json(membership)["roles"]})


@router.delete(
    _OLDER, response_model=MembershipAnswer, summary="Take an identity out of a project (older path)"
)
@router.delete(_ONE, response_model=MembershipAnswer, summary="Take an identity out of a project")
async def remove_member(request: Request, project_id: str, identity_id: str) -> Response:
    membership = await context_of(request).identity_memberships.remove(
        principal_of(request), project_id, IdentityId(identity_id)
    )
    return _one(membership)


async def _put(request: Request, project_id: str, identity_id: str, body: PutMembership) -> Membership:
    return await context_of(request).identity_memberships.put(
        principal_of(request), project_id, IdentityId(identity_id), body.role_slugs
    )


def _one(membership: Membership) -> Response:
    return json_response({"identityMembership": membership_json(membership)})
