"""Secret syncs (interface.md sections 4.1 and 4.2, wire.md section 3.1).

Destinations that are built have their own routes for requests with a body, so that OpenAPI lists its fields. So the
routes are those of one catalogue.
A path may name a destination by its published word too: it is answered in that vocabulary, and not documented.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import NamedTuple
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from keybearer.base.ids import EnvironmentSlug
from keybearer.destinations.catalogue import Catalogue, OfferedDestination
from keybearer.destinations.form import DestinationKind
from keybearer.domain.paths import normalize_path
from keybearer.domain.syncs.requests import UNCHANGED, DestinationCheck, NewSync, SyncChange
from keybearer.domain.syncs.rules import undriven
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.rendering_syncs import owner_json, standing_json, sync_json, sync_option_json
from keybearer.server.routing import add_with_words, new_router
from keybearer.store.secret_syncs import SecretSync
from keybearer.wire.secret_syncs import (
    ChangeSyncOwner,
    CheckDestination,
    CheckedDestination,
    CreateSecretSync,
    DeleteSyncQuery,
    ImportQuery,
    OwnedSyncsQuery,
    PushSecretSync,
    SecretSyncAnswer,
    SecretSyncList,
    SecretSyncOptionList,
    SyncBodies,
    SyncedSecretList,
    SyncOwnerAnswer,
    SyncsQuery,
    UpdateSecretSync,
    bodies_of,
)
from keybearer.wire.vocabulary import Vocabulary, canonical_destination

__all__ = ["routes_of"]

_general = new_router("Secret syncs", AuthenticatedRoute)
"""The same for every destination."""
_refusing = new_router("Secret syncs", AuthenticatedRoute)
"""For those that nothing here can write to."""
_ROOT = "/api/v1/secret-syncs"
_ANY = f"{_ROOT}/{{destination}}"
_ONE = f"{_ANY}/{{sync_id}}"
_Handler = Callable[..., Awaitable[Response]]


class _Named(NamedTuple):
    """The destination of a path, and the words that its answer is to use."""

    destination: OfferedDestination
    words: Vocabulary


@_general.get(
    _ROOT, response_model=SecretSyncList, openapi_extra=parameters_of(SyncsQuery), summary="List secret syncs"
)
async def list_secret_syncs(request: Request) -> Response:
    query = query_of(request, SyncsQuery)
    syncs = await context_of(request).secret_syncs.list(principal_of(request), query.project_id)
    return json_response({"secretSyncs": [sync_json(sync) for sync in syncs]})


@_general.get(f"{_ROOT}/options", response_model=SecretSyncOptionList, summary="List destinations")
async def list_destinations(request: Request) -> Response:
    options = context_of(request).secret_syncs.options()
    return json_response({"secretSyncOptions": [sync_option_json(option) for option in options]})


@_general.get(
    f"{_ROOT}/owned",
    response_model=SecretSyncList,
    openapi_extra=parameters_of(OwnedSyncsQuery),
    summary="List the secret syncs that act for somebody",
)
async def list_owned_syncs(request: Request) -> Response:
    query = query_of(request, OwnedSyncsQuery)
    syncs = await context_of(request).sync_owners.owned(
        principal_of(request), str(query.owner_id), query.project_id
    )
    return json_response({"secretSyncs": [sync_json(sync) for sync in syncs]})


@_general.get(
    _ANY,
    response_model=SecretSyncList,
    openapi_extra=parameters_of(SyncsQuery),
    summary="List the secret syncs to a destination",
)
async def list_syncs_of_destination(request: Request, destination: str) -> Response:
    named, query = _named(request, destination), query_of(request, SyncsQuery)
    syncs = await context_of(request).secret_syncs.list(
        principal_of(request), query.project_id, named.destination.name
    )
    return json_response({"secretSyncs": [sync_json(sync, named.words) for sync in syncs]})


@_general.get(
    f"{_ANY}/sync-name/{{sync_name}}",
    response_model=SecretSyncAnswer,
    openapi_extra=parameters_of(SyncsQuery),
    summary="Get a secret sync by its name",
)
async def get_secret_sync_by_name(request: Request, destination: str, sync_name: str) -> Response:
    named, query = _named(request, destination), query_of(request, SyncsQuery)
    sync = await context_of(request).secret_syncs.named(
        principal_of(request), named.destination.name, query.project_id, sync_name
    )
    return _answer(sync, named)


@_general.get(_ONE, response_model=SecretSyncAnswer, summary="Get a secret sync")
async def get_secret_sync(request: Request, destination: str, sync_id: UUID) -> Response:
    named = _named(request, destination)
    syncs = context_of(request).secret_syncs
    return _answer(await syncs.get(principal_of(request), named.destination.name, str(sync_id)), named)


@_general.get(
    f"{_ONE}/secrets", response_model=SyncedSecretList, summary="List how each secret of a sync stands"
)
async def list_synced_secrets(request: Request, destination: str, sync_id: UUID) -> Response:
    named = _named(request, destination)
    found = await context_of(request).synced_secrets.list(
        principal_of(request), named.destination.name, str(sync_id)
    )
    return json_response({"secrets": [standing_json(one) for one in found]})


@_general.get(f"{_ONE}/owner", response_model=SyncOwnerAnswer, summary="Get whose rights a secret sync has")
async def get_sync_owner(request: Request, destination: str, sync_id: UUID) -> Response:
    named = _named(request, destination)
    owner = await context_of(request).sync_owners.get(
        principal_of(request), named.destination.name, str(sync_id)
    )
    return json_response({"owner": owner_json(owner)})


@_general.patch(
    f"{_ONE}/owner", response_model=SyncOwnerAnswer, summary="Change whose rights a secret sync has"
)
async def change_sync_owner(
    request: Request, destination: str, sync_id: UUID, body: ChangeSyncOwner
) -> Response:
    named = _named(request, destination)
    owner = await context_of(request).sync_owners.change(
        principal_of(request), named.destination.name, str(sync_id), str(body.owner_id)
    )
    return json_response({"owner": owner_json(owner)})


@_general.delete(
    _ONE,
    response_model=SecretSyncAnswer,
    openapi_extra=parameters_of(DeleteSyncQuery),
    summary="Delete a secret sync",
)
async def delete_secret_sync(request: Request, destination: str, sync_id: UUID) -> Response:
    named, query = _named(request, destination), query_of(request, DeleteSyncQuery)
    sync = await context_of(request).secret_syncs.delete(
        principal_of(request), named.destination.name, str(sync_id), remove_secrets=query.remove_secrets
    )
    return _answer(sync, named)


@_general.post(f"{_ONE}/sync-secrets", response_model=SecretSyncAnswer, summary="Push a sync's secrets")
async def sync_secrets(
    request: Request, destination: str, sync_id: UUID, body: PushSecretSync | None = None
) -> Response:
    named = _named(request, destination)
    sync = await context_of(request).sync_requests.sync(
        principal_of(request),
        named.destination.name,
        str(sync_id),
        removes_foreign=body is not None and body.remove_foreign,
    )
    return _answer(sync, named)


@_general.post(
    f"{_ONE}/import-secrets",
    response_model=SecretSyncAnswer,
    openapi_extra=parameters_of(ImportQuery),
    summary="Bring what the destination holds into the folder",
)
async def import_secrets(request: Request, destination: str, sync_id: UUID) -> Response:
    named, query = _named(request, destination), query_of(request, ImportQuery)
    sync = await context_of(request).sync_requests.bring_back(
        principal_of(request), named.destination.name, str(sync_id), query.import_behavior
    )
    return _answer(sync, named)


@_general.post(
    f"{_ONE}/remove-secrets",
    response_model=SecretSyncAnswer,
    summary="Remove a sync's secrets from the destination",
)
async def remove_secrets(request: Request, destination: str, sync_id: UUID) -> Response:
    named = _named(request, destination)
    asked = context_of(request).sync_requests
    return _answer(await asked.remove(principal_of(request), named.destination.name, str(sync_id)), named)


async def _create(request: Request, body: CreateSecretSync, named: _Named) -> Response:
    new = NewSync(
        name=body.name,
        description=body.description,
        project_id=body.project_id,
        connection_id=str(body.connection_id),
        environment=EnvironmentSlug(body.environment),
        path=normalize_path(body.secret_path, field="secretPath"),
        is_auto_sync_enabled=body.is_auto_sync_enabled,
        options=body.sync_options,
        config=body.destination_config,
    )
    syncs = context_of(request).secret_syncs
    return _answer(await syncs.create(principal_of(request), named.destination.name, new), named)


async def _update(request: Request, sync_id: UUID, body: UpdateSecretSync, named: _Named) -> Response:
    path, environment = body.secret_path, body.environment
    change = SyncChange(
        name=body.name,
        description=body.description if "description" in body.model_fields_set else UNCHANGED,
        connection_id=_text(body.connection_id),
        environment=None if environment is None else EnvironmentSlug(environment),
        path=None if path is None else normalize_path(path, field="secretPath"),
        is_auto_sync_enabled=body.is_auto_sync_enabled,
        options=body.sync_options,
        config=body.destination_config,
    )
    syncs = context_of(request).secret_syncs
    return _answer(
        await syncs.update(principal_of(request), named.destination.name, str(sync_id), change), named
    )


async def _check(request: Request, body: CheckDestination, named: _Named) -> Response:
    check = DestinationCheck(
        body.project_id, body.destination_config, _text(body.exclude_sync_id), _text(body.connection_id)
    )
    checked = await context_of(request).secret_syncs.check_destination(
        principal_of(request), named.destination.name, check
    )
    found = {} if checked.project_id is None else {"duplicateProjectId": checked.project_id}
    return json_response({"hasDuplicate": checked.has_duplicate, **found})


def _add_routes_of(router: APIRouter, kind: DestinationKind, bodies: SyncBodies, word: str) -> None:
    """Route what has a body of the destination's own, under a word that a path may use for it."""
    named = _Named(kind, canonical_destination(word)[1])

    async def create(request: Request, body: CreateSecretSync) -> Response:
        return await _create(request, body, named)

    async def update(request: Request, sync_id: UUID, body: UpdateSecretSync) -> Response:
        return await _update(request, sync_id, body, named)

    async def check(request: Request, body: CheckDestination) -> Response:
        return await _check(request, body, named)

    path, title = f"{_ROOT}/{word}", named.destination.title
    _add(
        router,
        "POST",
        path,
        _taking(create, bodies.create),
        SecretSyncAnswer,
        f"Create a secret sync to {title}",
        word,
    )
    _add(
        router,
        "PATCH",
        f"{path}/{{sync_id}}",
        _taking(update, bodies.update),
        SecretSyncAnswer,
        f"Change a secret sync to {title}",
        word,
    )
    _add(
        router,
        "POST",
        f"{path}/check-destination",
        _taking(check, bodies.check),
        CheckedDestination,
        f"Check who writes to a place of {title}",
        word,
    )


def _add(
    router: APIRouter,
    method: str,
    path: str,
    handler: _Handler,
    answer: type[BaseModel],
    summary: str,
    word: str,
) -> None:
    router.add_api_route(
        path,
        handler,
        methods=[method],
        response_model=answer,
        summary=summary,
        include_in_schema=canonical_destination(word)[1] is Vocabulary.INTERFACE,
    )


def _taking(handler: _Handler, body: type[BaseModel]) -> _Handler:
    """Have the framework read the body as this model: the function is made before the model is chosen."""
    handler.__annotations__["body"] = body
    return handler


def _named(request: Request, word: str) -> _Named:
    """Return the destination of a path.

    Raises:
        HTTPException: no destination is called so, and so there is no such route.
    """
    name, words = canonical_destination(word)
    destination = context_of(request).catalogue.offered(name)
    if destination is None:
        raise HTTPException(404)
    return _Named(destination, words)


def _text(given: UUID | None) -> str | None:
    return None if given is None else str(given)


def _answer(sync: SecretSync, named: _Named) -> Response:
    return json_response({"secretSync": sync_json(sync, named.words)})


@_refusing.post(_ANY, response_model=SecretSyncAnswer, summary="Create a secret sync")
@_refusing.post(
    f"{_ANY}/check-destination", response_model=CheckedDestination, summary="Check who writes to a place"
)
async def refuse_new_sync(request: Request, destination: str) -> Response:
    raise undriven(_named(request, destination).destination)


@_refusing.patch(_ONE, response_model=SecretSyncAnswer, summary="Change a secret sync")
async def refuse_change(
    request: Request,
    destination: str,
    sync_id: UUID,  # noqa: ARG001 - part of the path
) -> Response:
    raise undriven(_named(request, destination).destination)


@cache  # models of bodies are made for it; a process has one catalogue, and tests have many applications of it
def routes_of(catalogue: Catalogue) -> APIRouter:
    """Return the routes for these destinations."""
    router = new_router("Secret syncs", AuthenticatedRoute)
    add_with_words(router, _general.routes, "destination", [one.name for one in catalogue.destinations])
    for kind in catalogue.kinds:
        bodies = bodies_of(kind.name, kind.config, kind.options, can_import=kind.can_import)
        for word in dict.fromkeys(vocabulary.destination(kind.name) for vocabulary in Vocabulary):
            _add_routes_of(router, kind, bodies, word)
    # After those of destinations that are built: the first route that matches answers.
    refused = [one.name for one in catalogue.destinations if catalogue.kind(one.name) is None]
    if refused:
        add_with_words(router, _refusing.routes, "destination", refused)
    return router
