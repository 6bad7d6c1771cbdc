"""Users: their login and organization (wire.md section 1.4), and how an admin manages them."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.authorization import OrganizationRole
from keybearer.domain.users import NewUser, UserChange
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, OpenRoute, address_of, principal_of
from keybearer.server.context import context_of
from keybearer.server.routing import new_router
from keybearer.server.user_rendering import organization_json, user_json
from keybearer.wire.auth import Message, SelectedOrganization, SelectOrganization, UserLogin, UserToken
from keybearer.wire.users import (
    ChangePassword,
    CreateUser,
    OrganizationAnswer,
    OrganizationList,
    SubOrganizationList,
    UpdateUser,
    UserAnswer,
    UserList,
)

__all__ = ["login", "router"]

login = new_router("Users", OpenRoute)
router = new_router("Users", AuthenticatedRoute)


@login.post("/api/v3/auth/login", response_model=UserToken, summary="Log in as a user")
async def log_in(request: Request, body: UserLogin) -> Response:
    issued = await context_of(request).user_logins.login(body.email, body.password, address_of(request))
    return json_response({"accessToken": issued.text})


@router.post(
    "/api/v3/auth/select-organization",
    response_model=SelectedOrganization,
    summary="Get a token for an organization",
)
async def select_organization(request: Request, body: SelectOrganization) -> Response:
    issued = await context_of(request).user_logins.select_organization(
        principal_of(request), body.organization_id
    )
    return json_response({"token": issued.text})


@router.get(
    "/api/v1/organization", response_model=OrganizationList, summary="List the caller's organizations"
)
async def list_organizations(request: Request) -> Response:
    organization = await context_of(request).users.organization(principal_of(request))
    return json_response({"organizations": [organization_json(organization)]})


@router.get(
    "/api/v1/sub-organizations",
    response_model=SubOrganizationList,
    summary="List the organizations below the caller's: there are none",
)
async def list_sub_organizations() -> Response:
    return json_response({"organizations": [], "totalCount": 0})


@router.get(
    "/api/v1/organization/{organization_id}", response_model=OrganizationAnswer, summary="Get an organization"
)
async def get_organization(request: Request, organization_id: str) -> Response:
    organization = await context_of(request).users.organization(principal_of(request), organization_id)
    return json_response({"organization": organization_json(organization)})


@router.get("/api/v2/users/me", response_model=UserAnswer, summary="Get the user who asks (newer path)")
@router.get("/api/v1/user", response_model=UserAnswer, summary="Get the user who asks")
async def get_me(request: Request) -> Response:
    return json_response({"user": user_json(await context_of(request).users.me(principal_of(request)))})


@router.post("/api/v1/user/password", response_model=Message, summary="Change the password of who asks")
async def change_password(request: Request, body: ChangePassword) -> Response:
    await context_of(request).users.change_password(
        principal_of(request), body.current_password, body.new_password, address_of(request)
    )
    return json_response({"message": "Successfully changed the password; log in again"})


@router.post("/api/v1/users", response_model=UserAnswer, summary="Create a user")
async def create_user(request: Request, body: CreateUser) -> Response:
    new = NewUser(body.email, body.password, OrganizationRole(body.role), body.first_name, body.last_name)
    view = await context_of(request).users.create(principal_of(request), new)
    return json_response({"user": user_json(view)})


@router.get("/api/v1/users", response_model=UserList, summary="List users")
async def list_users(request: Request) -> Response:
    views = await context_of(request).users.list(principal_of(request))
    return json_response({"users": [user_json(view) for view in views], "totalCount": len(views)})


@router.get("/api/v1/users/{user_id}", response_model=UserAnswer, summary="Get a user")
async def get_user(request: Request, user_id: str) -> Response:
    view = await context_of(request).users.get(principal_of(request), user_id)
    return json_response({"user": user_json(view)})


@router.patch("/api/v1/users/{user_id}", response_model=UserAnswer, summary="Change a user")
async def update_user(request: Request, user_id: str, body: UpdateUser) -> Response:
    change = UserChange(
        None if body.role is None else OrganizationRole(body.role),
        body.first_name,
        body.last_name,
        body.password,
    )
    view = await context_of(request).users.update(principal_of(request), user_id, change)
    return json_response({"user": user_json(view)})


@router.delete("/api/v1/users/{user_id}", response_model=UserAnswer, summary="Delete a user")
async def delete_user(request: Request, user_id: str) -> Response:
    view = await context_of(request).users.delete(principal_of(request), user_id)
    return json_response({"user": user_json(view)})
