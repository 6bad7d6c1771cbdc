"""The FastAPI application: routes, errors, documentation, and the shell around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from keybearer.base.tracing import Tracer
from keybearer.destinations.catalogue import Catalogue
from keybearer.server.context import ServiceContext
from keybearer.server.errors import add_error_handlers
from keybearer.server.known_issuance import KnownIssuance
from keybearer.server.known_lists import KnownLists
from keybearer.server.openapi import add_documentation
from keybearer.server.rate_limits import RateLimits, RateLimitShell
from keybearer.server.request_scope import RequestShell
from keybearer.server.request_tallies import RequestTallies
from keybearer.server.routes import (
    acme_authorities,
    admin,
    app_connections,
    audit,
    auth,
    certificate_applications,
    certificate_approvals,
    certificate_authorities,
    certificate_policies,
    certificate_profiles,
    certificate_requests,
    certificate_revocation,
    certificates,
    environments,
    events,
    folders,
    grants,
    identities,
    identity_memberships,
    imports,
    keys,
    kubernetes_auth,
    ldap_auth,
    memberships,
    pki_subscribers,
    projects,
    secret_moves,
    secret_syncs,
    secret_writes,
    secrets,
    status,
    tags,
    users,
)
from keybearer.server.routing import RouteIndex
from keybearer.server.table_routes import TableRoute

__all__ = ["create_app"]

# In the order of looking: a literal part comes before a parameter in its place.
_ROUTES: tuple[Sequence[TableRoute] | APIRouter | Callable[[Catalogue], APIRouter], ...] = (
    status.router,
    secrets.lists,
    certificates.issuing,
    auth.router,
    auth.checking,
    secrets.router,
    secret_moves.router,
    secret_writes.router,
    folders.router,
    imports.ROUTES,
    environments.ROUTES,
    tags.ROUTES,
    projects.router,
    identity_memberships.router,
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
    app_connections.routes_of,
    events.router,
    grants.ROUTES,
    secret_syncs.routes_of,
    certificate_policies.router,
    certificate_profiles.router,
    certificate_applications.router,
    certificate_authorities.router,
    certificate_authorities.public,
    acme_authorities.router,
    acme_authorities.public,
    certificate_revocation.router,
    certificate_revocation.public,
    certificate_requests.router,
    certificates.router,
    certificate_approvals.router,
    pki_subscribers.router,
    secrets.slashed,
)


def create_app(
    context: ServiceContext,
    limits: RateLimits | None = None,
    tallies: RequestTallies | None = None,
    tracer: Tracer | None = None,
) -> ASGIApp:
    """Return the application on this context.

    Args:
        context: of all routes.
        limits: without, nobody is refused for asking often.
        tallies: where requests are counted, if they are.
        tracer: makes a span of each request, if there is one.
    """
    app = FastAPI(
        title="Keybearer",
        version="0.0.1",  # the interface's, not the program's (interface.md section 9)
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # the shell takes both forms without a redirect
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
    for given in _ROUTES:
        if isinstance(given, Sequence):
            app.router.routes.extend(given)
        else:
            router = given if isinstance(given, APIRouter) else given(context.catalogue)
            app.router.routes.extend(router.routes)
    add_documentation(app)
    app.router.middleware_stack = RouteIndex(app.router.routes, app.router.app)
    add_error_handlers(app)
    known = KnownIssuance(
        KnownLists(app, context, _by_path(secrets.lists)), app, context, _by_path(certificates.issuing)
    )
    return RequestShell(known if limits is None else RateLimitShell(known, limits), tallies, tracer)


def _by_path(router: APIRouter) -> dict[str, BaseRoute]:
    return {route.path: route for route in router.routes if isinstance(route, Route)}
