"""Login, renew, revoke, check (wire.md sections 1.2 and 1.3)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, OpenRoute, address_of
from keybearer.server.context import context_of
from keybearer.server.rendering import token_json
from keybearer.server.routing import new_router
from keybearer.wire.auth import AccessToken, AccessTokenBody, Message, UniversalAuthLogin

__all__ = ["checking", "router"]

router = new_router("Authentication", OpenRoute)
checking = new_router("Authentication", AuthenticatedRoute)


@router.post(
    "/api/v1/auth/universal-auth/login", response_model=AccessToken, summary="Log in with Universal Auth"
)
async def login_universal(request: Request, body: UniversalAuthLogin) -> Response:
    issued = await context_of(request).authentication.login_universal(
        body.client_id, body.client_secret, body.organization_slug, address_of(request)
    )
    return json_response(token_json(issued))


@router.post("/api/v1/auth/token/renew", response_model=AccessToken, summary="Renew an access token")
async def renew(request: Request, body: AccessTokenBody) -> Response:
    issued = await context_of(request).authentication.renew(body.access_token, address_of(request))
    return json_response(token_json(issued))


@router.post("/api/v1/auth/token/revoke", response_model=Message, summary="Revoke an access token")
async def revoke(request: Request, body: AccessTokenBody) -> Response:
    await context_of(request).authentication.revoke(body.access_token)
    return json_response({"message": "Successfully revoked access token"})


@checking.post("/api/v1/auth/checkAuth", response_model=Message, summary="Whether the token is good")
async def check_auth() -> Response:
    return json_response({"message": "Authenticated"})
