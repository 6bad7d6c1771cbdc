"""The FastAPI application: routes, errors, documentation, and the shell around them."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp

from keybearer.server.context import ServiceContext
from keybearer.server.errors import add_error_handlers
from keybearer.server.known_lists import KnownLists
from keybearer.server.openapi import add_documentation
from keybearer.server.rate_limits import RateLimits, RateLimitShell
from keybearer.server.request_scope import RequestShell
from keybearer.server.routes import (
    admin,
    app_connections,
    audit,
    auth,
    environments,
    events,
    folders,
    grants,
    identities,
    imports,
    keys,
    kubernetes_auth,
    ldap_auth,
    memberships,
    projects,
    secret_moves,
    secret_syncs,
    secret_writes,
    secrets,
    status,
    users,
)

__all__ = ["create_app"]

# In the order of looking: a literal part comes before a parameter in its place.
_ROUTERS: tuple[APIRouter, ...] = (
    status.router,
    auth.router,
    auth.checking,
    secrets.router,
    secret_moves.router,
    secret_writes.router,
    folders.router,
    imports.router,
    environments.router,
    projects.router,
    memberships.router,
    identities.router,
    kubernetes_auth.login,
    kubernetes_auth.router,
    ldap_auth.login,
    ldap_auth.router,
    audit.router,
    users.login,
    users.router,
    admin.router,
    keys.router,
    app_connections.router,
    events.router,
    grants.router,
    secret_syncs.router,
)


def create_app(context: ServiceContext, limits: RateLimits | None = None) -> ASGIApp:
    """Return the application on this context; without limits nobody is refused for asking often."""
    app = FastAPI(
        title="Keybearer",
        version="0.0.1",  # the interface's, not the program's (interface.md section 9)
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # the shell takes both forms without a redirect
        strict_content_type=False,  # callers authenticate with a header that no browser adds by itself
        # Its log signal would carry the text of exceptions.
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )
    app.state.context = context
    # Included routers are matched anew at each level; lists are the one place where that weighs. v4, the last
    # of them, is what the operator asks.
    app.router.routes.extend(reversed(secrets.lists.routes))
    for router in _ROUTERS:
        app.include_router(router)
    add_documentation(app)
    add_error_handlers(app)
    known = KnownLists(
        app, context, {route.path: route for route in secrets.lists.routes if isinstance(route, Route)}
    )
    return RequestShell(known if limits is None else RateLimitShell(known, limits))
