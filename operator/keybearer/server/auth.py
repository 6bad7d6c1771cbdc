"""From the `Authorization` header to a principal, before anything else of a request is looked at.

All routes are of these classes: what each needs, a bound of its time and another try after a race, is here too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from keybearer.domain.authorization import Principal
from keybearer.server.body_bounds import bounded_body, refuse_announced, timely_body
from keybearer.server.context import context_of
from keybearer.server.request_scope import PRINCIPAL_KEY
from keybearer.store.attempts import repeated
from keybearer.wire.limits import OPEN_BODY_MAX_BYTES

__all__ = [
    "OPEN_BODY_SECONDS",
    "REQUEST_SECONDS",
    "SECURED",
    "AuthenticatedRoute",
    "DirectRoute",
    "OpenRoute",
    "address_of",
    "authenticated",
    "bearer_of",
    "known_principal_of",
    "opened",
    "principal_of",
    "remember_principal",
]

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_SCHEME_LENGTH = len("Bearer ")
SECURED: Mapping[str, object] = {"security": [{"bearerAuth": []}]}
"""What the documentation says of a route that needs a token."""
REQUEST_SECONDS = 60
"""What a request may take, its body included; past it the database unit is undone and 504 answered."""


OPEN_BODY_SECONDS = 10
"""Of these, for the body of who showed no token, from its head on."""


def opened(handler: _Handler) -> _Handler:
    """Return the handler within the bounds of a request, and of a body that anybody may send."""

    async def handle(request: Request) -> Response:
        refuse_announced(request.scope, OPEN_BODY_MAX_BYTES)
        timely = timely_body(request.receive, OPEN_BODY_SECONDS)
        bounded = Request(request.scope, bounded_body(timely, OPEN_BODY_MAX_BYTES))
        async with asyncio.timeout(REQUEST_SECONDS):
            return await repeated(lambda: handler(bounded))

    return handle


def authenticated(handler: _Handler) -> _Handler:
    """Return the handler with the question in front who is there: 401 comes before a word about the body."""

    async def handle(request: Request) -> Response:
        async with asyncio.timeout(REQUEST_SECONDS):
            await repeated(lambda: _authenticate(request))
            response = await repeated(lambda: handler(request))
            await context_of(request).audit.settle()
            return response

    return handle


class OpenRoute(APIRoute):
    """A route that asks nobody who is there: logins, and what carries its token in its body."""

    def get_route_handler(self) -> _Handler:
        """Return the handler within its bounds."""
        return opened(super().get_route_handler())


class AuthenticatedRoute(APIRoute):
    """A route that first of all asks who is there."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:  # noqa: ANN401 - the framework's own signature
        super().__init__(*arguments, **keywords)
        self.openapi_extra = {**(self.openapi_extra or {}), **SECURED}

    def get_route_handler(self) -> _Handler:
        """Return the handler with the question in front."""
        return authenticated(super().get_route_handler())


class DirectRoute(AuthenticatedRoute):
    """A route that only reads: its function takes the request alone, reads its query itself and answers bytes.

    The framework's solving of parameters costs more than such an answer; see the measured lists.
    """

    def get_route_handler(self) -> _Handler:
        """Return the function with the question in front."""
        endpoint: _Handler = self.endpoint

        async def handle(request: Request) -> Response:
            async with asyncio.timeout(REQUEST_SECONDS):
                await repeated(lambda: _authenticate(request))
                # Not begun anew: what only reads meets no other change.
                response = await endpoint(request)
                await context_of(request).audit.settle()
                return response

        return handle


def principal_of(request: Request) -> Principal:
    """Return who asks; only in routes of the two classes above."""
    principal: Principal = request.scope[PRINCIPAL_KEY]
    return principal


def known_principal_of(request: Request) -> Principal | None:
    """Return who asks, if that was asked already."""
    return request.scope.get(PRINCIPAL_KEY)


def remember_principal(request: Request, principal: Principal) -> None:
    """Note who asks."""
    request.scope[PRINCIPAL_KEY] = principal


def address_of(request: Request) -> str | None:
    """Return the address of the other end of the connection."""
    client = request.scope.get("client")
    return None if client is None else client[0]


def bearer_of(request: Request) -> str | None:
    """Return the token that the request carries."""
    for name, value in request.scope["headers"]:
        if name == b"authorization":
            # The first seven characters are cut without a look, as the published service does.
            return str(value.decode("latin-1"))[_SCHEME_LENGTH:].strip()
    return None


async def _authenticate(request: Request) -> None:
    context = context_of(request)
    principal = await context.authentication.authenticate(bearer_of(request), address_of(request))
    remember_principal(request, principal)
