"""Routes: how each is made, and how the one of a request is found among hundreds.

The framework tries one pattern after the other, and those of included routers twice, with work around each. For the
routes of this service that took more of a request than reading a secret does. So routes are added to the application
itself, and looked up by what is literal in their paths.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Annotated, ParamSpec, TypeAlias

from fastapi import APIRouter, Path
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["RouteIndex", "add_with_words", "new_router"]

_P = ParamSpec("_P")
_Key: TypeAlias = tuple[str, int, tuple[str, ...]]
_HEAD = 3
"""How many parts of a path tell routes apart, such as `api`, `v1`, `projects`."""


def new_router(tag: str, route_class: type[APIRoute] = APIRoute) -> APIRouter:
    """Return a router for operations of one chapter.

    Args:
        tag: the chapter's name in the documentation.
        route_class: how its operations are served.
    """
    # Callers authenticate with a header that no browser adds by itself, so a body needs no content-type.
    return APIRouter(tags=[tag], route_class=route_class, strict_content_type=False)


def add_with_words(
    router: APIRouter, routes: Iterable[BaseRoute], parameter: str, words: Sequence[str]
) -> None:
    """Add routes to a router, with a part of their paths described as one of these words.

    Which words there are is known only when a process has started; handlers, and their routes, are written before.
    """
    for route in routes:
        if not isinstance(route, APIRoute):
            raise TypeError(f"{route!r} has no description")
        router.add_api_route(
            route.path,
            _with_words(route.endpoint, parameter, words),
            methods=sorted(route.methods or ()),
            response_model=route.response_model,
            summary=route.summary,
            openapi_extra=route.openapi_extra,
        )


def _with_words(
    handler: Callable[_P, Awaitable[Response]], parameter: str, words: Sequence[str]
) -> Callable[_P, Awaitable[Response]]:
    @wraps(handler)
    async def described(*args: _P.args, **kwargs: _P.kwargs) -> Response:
        return await handler(*args, **kwargs)

    kind = Annotated[str, Path(json_schema_extra={"enum": list(words)})]
    signature = inspect.signature(handler, eval_str=True)
    parameters = [
        one.replace(annotation=kind) if one.name == parameter else one
        for one in signature.parameters.values()
    ]
    # The framework reads it; of the handler's own it would take the annotations as they are written.
    described.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return described


class RouteIndex:
    """Serves a request by the first route that matches it, in the order of the routes.

    Args:
        routes: all of them.
        otherwise: serves what none of them matches whole: other methods, unknown paths.

    Raises:
        TypeError: one of them is of another kind, such as an included router; it would lose its place in the order.
    """

    def __init__(self, routes: Sequence[BaseRoute], otherwise: ASGIApp) -> None:
        keys: list[tuple[Route, set[_Key] | None]] = []
        for route in routes:
            if not isinstance(route, Route) or not route.methods:
                raise TypeError(f"{route!r} can't be looked up: it is no route, or one without methods")
            keys.append((route, _keys(route)))
        self._anywhere: Sequence[Route] = [route for route, some in keys if some is None]
        self._by_key = _indexed(keys)
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # Nobody mounts us; the framework could tell what is left of a path below a mount.
        if scope["type"] == "http" and not scope.get("root_path"):
            for route in self._by_key.get(_key(scope["method"], scope["path"]), self._anywhere):
                match, found = route.matches(scope)
                if match is Match.FULL:
                    scope.update(found)
                    await route.handle(scope, receive, send)
                    return
        await self._otherwise(scope, receive, send)


def _indexed(keys: Sequence[tuple[Route, set[_Key] | None]]) -> Mapping[_Key, Sequence[Route]]:
    """Return for each key the routes that may match it; those that fit no key stand under each, in their place."""
    every = {key for _, some in keys if some is not None for key in some}
    return {key: [route for route, some in keys if some is None or key in some] for key in every}


def _keys(route: Route) -> set[_Key] | None:
    """Return None for a route whose paths have no number of parts, or a head that isn't literal."""
    if ":path}" in route.path or "{" in "".join(_head(route.path)):
        return None
    return {_key(method, route.path) for method in route.methods or ()}


def _key(method: str, path: str) -> _Key:
    return method, path.count("/"), _head(path)


def _head(path: str) -> tuple[str, ...]:
    return tuple(path.split("/", _HEAD + 1)[1 : _HEAD + 1])
