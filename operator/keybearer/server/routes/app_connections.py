"""App connections (interface.md sections 4.3 and 4.4, wire.md section 4.1).

Making and changing one has a route for each app, so that the description tells its credentials; the others take the
app from the path. The published names of apps are taken as well, and answered in their words. So the routes are those
of one catalogue.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from keybearer.destinations.app import App
from keybearer.destinations.catalogue import Catalogue
from keybearer.domain.connections.lookup import AppConnectionView
from keybearer.domain.connections.requests import AllowedUseChange, AppConnectionChange, NewAppConnection
from keybearer.domain.connections.rotation_terms import Terms
from keybearer.domain.syncs.rules import undriven
from keybearer.domain.unchanged import UNCHANGED
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.connection_rendering import (
    allowed_use_json,
    available_connection_json,
    changed_use_json,
    connection_json,
    option_json,
    usage_json,
)
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import add_with_words, new_router
from keybearer.wire.app_connections import (
    AllowedUseAnswer,
    AppConnectionAnswer,
    AppConnectionList,
    AppConnectionOptionList,
    AppConnectionOptionsQuery,
    AppConnectionQuery,
    AppConnectionUsage,
    AvailableAppConnectionList,
    ChangeAllowedUse,
    ChangedAllowedUseAnswer,
    CreateAppConnection,
    RotationTerms,
    UpdateAppConnection,
    create_body,
    update_body,
)
from keybearer.wire.vocabulary import Vocabulary, canonical_app

__all__ = ["routes_of"]

_general = new_router("App connections", AuthenticatedRoute)
"""The same for every app."""
_ALL = "/api/v1/app-connections"
_APP = f"{_ALL}/{{app}}"
_ONE = f"{_APP}/{{connection_id}}"


@_general.get(
    _ALL,
    response_model=AppConnectionList,
    openapi_extra=parameters_of(AppConnectionQuery),
    summary="List app connections",
)
async def list_all(request: Request) -> Response:
    project_id = query_of(request, AppConnectionQuery).project_id
    views = await context_of(request).app_connections.list(principal_of(request), project_id)
    return json_response({"appConnections": [connection_json(view, Vocabulary.INTERFACE) for view in views]})


@_general.get(
    f"{_ALL}/options",
    response_model=AppConnectionOptionList,
    openapi_extra=parameters_of(AppConnectionOptionsQuery),
    summary="List the apps that connections can be made to",
)
async def list_options(request: Request) -> Response:
    query_of(request, AppConnectionOptionsQuery)
    options = context_of(request).app_connections.options()
    return json_response({"appConnectionOptions": [option_json(app) for app in options]})


@_general.get(
    _APP,
    response_model=AppConnectionList,
    openapi_extra=parameters_of(AppConnectionQuery),
    summary="List the connections to an app",
)
async def list_of_app(request: Request, app: str) -> Response:
    model, words = _known(request, app)
    project_id = query_of(request, AppConnectionQuery).project_id
    views = await context_of(request).app_connections.list(principal_of(request), project_id, model)
    return json_response({"appConnections": [connection_json(view, words) for view in views]})


@_general.get(
    f"{_APP}/available",
    response_model=AvailableAppConnectionList,
    openapi_extra=parameters_of(AppConnectionQuery),
    summary="List the connections to an app that may be used",
)
async def list_available(request: Request, app: str) -> Response:
    model, words = _known(request, app)
    project_id = query_of(request, AppConnectionQuery).project_id
    found = await context_of(request).app_connections.available(principal_of(request), model, project_id)
    return json_response({"appConnections": [available_connection_json(one, words) for one in found]})


@_general.get(
    f"{_APP}/connection-name/{{connection_name}}",
    response_model=AppConnectionAnswer,
    openapi_extra=parameters_of(AppConnectionQuery),
    summary="Get an app connection by name",
)
async def get_by_name(request: Request, app: str, connection_name: str) -> Response:
    model, words = _known(request, app)
    project_id = query_of(request, AppConnectionQuery).project_id
    view = await context_of(request).app_connections.by_name(
        principal_of(request), model, connection_name, project_id
    )
    return _answer(view, words)


@_general.get(_ONE, response_model=AppConnectionAnswer, summary="Get an app connection")
async def get(request: Request, app: str, connection_id: UUID) -> Response:
    model, words = _known(request, app)
    view = await context_of(request).app_connections.get(principal_of(request), model, str(connection_id))
    return _answer(view, words)


@_general.get(
    f"{_ONE}/usage", response_model=AppConnectionUsage, summary="List what uses an app connection (for users)"
)
async def get_usage(request: Request, app: str, connection_id: UUID) -> Response:
    model, _ = _known(request, app)
    uses = await context_of(request).app_connections.usage(principal_of(request), model, str(connection_id))
    return json_response(usage_json(uses))


@_general.get(
    f"{_ONE}/allowed-use",
    response_model=AllowedUseAnswer,
    summary="Get who may use an app connection, and where",
)
async def get_allowed_use(request: Request, app: str, connection_id: UUID) -> Response:
    model, _ = _known(request, app)
    found = await context_of(request).allowed_use.get(principal_of(request), model, str(connection_id))
    return json_response({"allowedUse": allowed_use_json(found)})


@_general.patch(
    f"{_ONE}/allowed-use",
    response_model=ChangedAllowedUseAnswer,
    summary="Change who may use an app connection, and where",
)
async def change_allowed_use(
    request: Request, app: str, connection_id: UUID, body: ChangeAllowedUse
) -> Response:
    model, _ = _known(request, app)
    given = body.model_fields_set
    change = AllowedUseChange(
        project_ids=_texts(body.project_ids) if "project_ids" in given else UNCHANGED,
        places=_texts(body.places) if "places" in given else UNCHANGED,
    )
    changed = await context_of(request).allowed_use.change(
        principal_of(request), model, str(connection_id), change
    )
    return json_response(changed_use_json(changed))


@_general.delete(_ONE, response_model=AppConnectionAnswer, summary="Delete an app connection")
async def delete(request: Request, app: str, connection_id: UUID) -> Response:
    model, words = _known(request, app)
    view = await context_of(request).app_connections.delete(principal_of(request), model, str(connection_id))
    return _answer(view, words)


@_general.post(
    f"{_ONE}/rotate-credentials",
    response_model=AppConnectionAnswer,
    summary="Make the credentials of an app connection anew",
)
async def rotate(request: Request, app: str, connection_id: UUID) -> Response:
    model, words = _known(request, app)
    view = await context_of(request).connection_rotation.rotate(
        principal_of(request), model, str(connection_id)
    )
    return _answer(view, words)


def _known(request: Request, word: str) -> tuple[App, Vocabulary]:
    """Return the app that a path names, and whose word for it that is."""
    name, words = canonical_app(word)
    model = context_of(request).catalogue.app(name)
    if model is None:
        raise HTTPException(404)
    return model, words


def _texts(given: Iterable[object] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(map(str, given))


def _answer(view: AppConnectionView, words: Vocabulary) -> Response:
    return json_response({"appConnection": connection_json(view, words)})


def _terms(rotation: RotationTerms, *, is_automatic: bool) -> Terms:
    at = rotation.rotate_at_utc
    return Terms(is_automatic, rotation.rotation_interval, at.hours, at.minutes)


_Create = Callable[[Request, CreateAppConnection], Awaitable[Response]]
_Update = Callable[[Request, UUID, UpdateAppConnection], Awaitable[Response]]


def _creating(model: App, words: Vocabulary) -> _Create:
    async def create(request: Request, body: CreateAppConnection) -> Response:
        is_automatic, rotation = body.is_auto_rotation_enabled, body.rotation
        new = NewAppConnection(
            app=model,
            method=body.method,
            name=body.name,
            description=body.description,
            project_id=body.project_id,
            credentials=body.credentials,
            rotation=Terms(is_automatic) if rotation is None else _terms(rotation, is_automatic=is_automatic),
        )
        return _answer(await context_of(request).app_connections.create(principal_of(request), new), words)

    return create


def _updating(model: App, words: Vocabulary) -> _Update:
    async def update(request: Request, connection_id: UUID, body: UpdateAppConnection) -> Response:
        change = AppConnectionChange(
            name=body.name,
            description=(body.description,) if "description" in body.model_fields_set else None,
            credentials=body.credentials,
            is_auto_rotation_enabled=body.is_auto_rotation_enabled,
            rotation=None if body.rotation is None else _terms(body.rotation, is_automatic=False),
        )
        view = await context_of(request).app_connections.update(
            principal_of(request), model, str(connection_id), change
        )
        return _answer(view, words)

    return update


def _add_routes_of(router: APIRouter, model: App) -> None:
    created, changed = create_body(model), update_body(model)
    for words in Vocabulary:
        word = words.app(model.name)
        if words is Vocabulary.PUBLISHED and word == model.name:
            continue
        create, update = _creating(model, words), _updating(model, words)
        # Made while it runs, so that no annotation of the source can name it.
        create.__annotations__["body"] = created
        update.__annotations__["body"] = changed
        is_described = words is Vocabulary.INTERFACE
        router.add_api_route(
            f"{_ALL}/{word}",
            create,
            methods=["POST"],
            response_model=AppConnectionAnswer,
            include_in_schema=is_described,
            name=f"create_{word}",
            summary=f"Connect to {model.title}",
        )
        router.add_api_route(
            f"{_ALL}/{word}/{{connection_id}}",
            update,
            methods=["PATCH"],
            response_model=AppConnectionAnswer,
            include_in_schema=is_described,
            name=f"update_{word}",
            summary=f"Change a connection to {model.title}",
        )


@cache  # models of bodies are made for it; a process has one catalogue, and tests have many applications of it
def routes_of(catalogue: Catalogue) -> APIRouter:
    """Return the routes for the apps of these destinations."""
    router = new_router("App connections", AuthenticatedRoute)
    add_with_words(router, _general.routes, "app", sorted(app.name for app in catalogue.apps))
    for model in catalogue.apps:
        _add_routes_of(router, model)
    # After those of apps that are built: the first route that matches answers.
    router.add_api_route(_APP, _refuse_new_connection, methods=["POST"], include_in_schema=False)
    return router


async def _refuse_new_connection(request: Request, app: str) -> Response:
    destination = context_of(request).catalogue.waiting_for_app(canonical_app(app)[0])
    raise HTTPException(404) if destination is None else undriven(destination)
