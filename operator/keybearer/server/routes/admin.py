"""Setting up an empty instance (wire.md section 1.4): once, and only where the service was started for it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from starlette.responses import Response

from keybearer.server.answers import json_response
from keybearer.server.auth import OpenRoute, bearer_of
from keybearer.server.context import context_of
from keybearer.server.routing import new_router
from keybearer.server.user_rendering import set_up_json
from keybearer.wire.users import BootstrapInstance, BootstrappedInstance

__all__ = ["router"]


class _SetupRoute(OpenRoute):
    """A route that asks for the token of the start before a word about the body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with the question in front."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            context_of(request).setup.admit(bearer_of(request))
            return await handler(request)

        return handle


router = new_router("Users", _SetupRoute)


@router.post(
    "/api/v1/admin/bootstrap",
    response_model=BootstrappedInstance,
    openapi_extra={"security": [{"bearerAuth": []}, {}]},
    summary="Set up an empty instance",
)
async def bootstrap(request: Request, body: BootstrapInstance) -> Response:
    instance = await context_of(request).setup.set_up(body.email, body.password, body.organization)
    return json_response(set_up_json(instance))
