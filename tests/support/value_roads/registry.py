"""The routes that the application has, and by which of them something was asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastapi import FastAPI
from starlette.routing import Match, Route
from starlette.types import ASGIApp

from keybearer.server.known_issuance import KnownIssuance
from keybearer.server.request_scope import RequestShell
from keybearer.wire.vocabulary import canonical_app, canonical_destination
from support.value_roads.world import Answer

__all__ = ["asked_routes", "routes_of"]


def routes_of(app: ASGIApp) -> Sequence[str]:
    """Return method and path of each route, those that no documentation names included."""
    return [
        f"{method} {_canonical(route.path)}"
        for route in _routes(app)
        for method in sorted(route.methods or ())
        if method != "HEAD"
    ]


def asked_routes(app: ASGIApp, answers: Iterable[Answer]) -> list[tuple[str, Answer]]:
    """Return with each answer the route that gave it."""
    routes, found = _routes(app), []
    for answer in answers:
        method, path = answer.asked.split(" ", 1)
        scope = {"type": "http", "method": method, "path": path, "root_path": "", "path_params": {}}
        (route, *_) = (one for one in routes if one.matches(scope)[0] is Match.FULL)
        found.append((f"{method} {_canonical(route.path)}", answer))
    return found


def _canonical(path: str) -> str:
    """Return the path with interface.md's own word where it has a published one: both lead to the same handler."""
    parts = path.split("/")
    if path.startswith("/api/v1/app-connections/"):
        parts[4] = canonical_app(parts[4])[0]
    elif path.startswith("/api/v1/secret-syncs/"):
        parts[4] = canonical_destination(parts[4])[0]
    return "/".join(parts)


def _routes(app: ASGIApp) -> list[Route]:
    """Return the routes of the application within its shells."""
    assert isinstance(app, RequestShell)
    shell = app._app
    assert isinstance(shell, KnownIssuance)
    application = shell._application
    assert isinstance(application, FastAPI)
    return [route for route in application.router.routes if isinstance(route, Route)]
