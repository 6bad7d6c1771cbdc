"""Secrets: v3 raw and v4 side by side (wire.md sections 2.2 to 2.5)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.errors import SchemaViolationError
from keybearer.domain.secrets.questions import GetSecret, ListSecrets, NotModified, SecretListing
from keybearer.domain.secrets.text import NO_SEPARATORS, checked_name
from keybearer.server.answers import json_response, not_modified, raw_json_response
from keybearer.server.auth import AuthenticatedRoute, DirectRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.known_lists import kept_answer
from keybearer.server.list_cache import ListedAnswer
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.rendering import listing_body, secret_json
from keybearer.server.routes.bodies import is_personal, metadata_pairs, secrets_at, tag_slugs
from keybearer.server.routing import new_router
from keybearer.wire.secrets import (
    GetSecretByIdQuery,
    GetSecretQuery,
    GetSecretV4Query,
    ListSecretsQuery,
    ListSecretsV4Query,
    SecretAnswer,
    SecretList,
    SecretName,
)

__all__ = ["lists", "router", "slashed"]

lists = new_router("Secrets", DirectRoute)
router = new_router("Secrets", AuthenticatedRoute)
slashed = new_router("Secrets", AuthenticatedRoute)
"""Names with slashes; looked at last, for it takes all that has the beginning of a secret's path."""

_OF_ONE = ["GET", "POST", "PATCH", "DELETE"]

_ETAG = {"etag": {"required": True, "schema": {"type": "string"}}}
_TAGGED: dict[int | str, dict[str, object]] = {
    200: {"headers": _ETAG},
    304: {"description": "The list has one of the tags of `If-None-Match`", "headers": _ETAG},
}


@lists.get(
    "/api/v3/secrets/raw",
    response_model=SecretList,
    responses=_TAGGED,
    openapi_extra=parameters_of(ListSecretsQuery),
    summary="List secrets (v3)",
)
async def list_secrets_v3(request: Request) -> Response:
    return await _list(request, ListSecretsQuery)


@lists.get(
    "/api/v4/secrets",
    response_model=SecretList,
    responses=_TAGGED,
    openapi_extra=parameters_of(ListSecretsV4Query),
    summary="List secrets",
)
async def list_secrets(request: Request) -> Response:
    return await _list(request, ListSecretsV4Query)


@router.get(
    "/api/v3/secrets/raw/id/{secret_id}",
    response_model=SecretAnswer,
    openapi_extra=parameters_of(GetSecretByIdQuery),
    summary="Get a secret by id (v3)",
)
@router.get(
    "/api/v4/secrets/id/{secret_id}",
    response_model=SecretAnswer,
    openapi_extra=parameters_of(GetSecretByIdQuery),
    summary="Get a secret by id",
)
async def get_secret_by_id(request: Request, secret_id: str) -> Response:
    query = query_of(request, GetSecretByIdQuery)
    shown = await context_of(request).reading.get_by_id(
        principal_of(request),
        secret_id,
        expand=query.expand_secret_references,
        view_value=query.view_secret_value,
    )
    return json_response({"secret": secret_json(shown)})


@router.get(
    "/api/v3/secrets/raw/{secret_name}",
    response_model=SecretAnswer,
    openapi_extra=parameters_of(GetSecretQuery),
    summary="Get a secret (v3)",
)
async def get_secret_v3(request: Request, secret_name: SecretName) -> Response:
    return await _get(request, secret_name, query_of(request, GetSecretQuery))


@router.get(
    "/api/v4/secrets/{secret_name}",
    response_model=SecretAnswer,
    openapi_extra=parameters_of(GetSecretV4Query),
    summary="Get a secret",
)
async def get_secret(request: Request, secret_name: SecretName) -> Response:
    return await _get(request, secret_name, query_of(request, GetSecretV4Query))


@slashed.api_route("/api/v3/secrets/raw/{secret_name:path}", methods=_OF_ONE, include_in_schema=False)
@slashed.api_route("/api/v4/secrets/{secret_name:path}", methods=_OF_ONE, include_in_schema=False)
async def refuse_slash() -> Response:
    # Published operators take a 404 for a secret that isn't there yet.
    raise SchemaViolationError(NO_SEPARATORS, field="secretName")


async def _list(request: Request, model: type[ListSecretsQuery]) -> Response:
    context, principal = context_of(request), principal_of(request)
    if_none_match = request.headers.get("if-none-match")
    key = context.lists.key(principal, request.scope["path"], request.scope["query_string"])
    kept = await kept_answer(context, key, if_none_match)
    if kept is not None:
        return kept
    answer = await context.reading.list(principal, _asked(query_of(request, model)), if_none_match)
    match answer:
        case NotModified():
            context.lists.keep(key, ListedAnswer(answer.tag, answer.reached, None))
            return not_modified(answer.tag)
        case SecretListing():
            body = await listing_body(answer)
            context.lists.keep(key, ListedAnswer(answer.tag, answer.reached, body, answer.read))
            return raw_json_response(body, {"etag": answer.tag})


def _asked(query: ListSecretsQuery) -> ListSecrets:
    return ListSecrets(
        at=secrets_at(query),
        recursive=query.recursive,
        expand=query.expand_secret_references,
        view_value=query.view_secret_value,
        include_imports=query.include_imports,
        tag_slugs=tag_slugs(query.tag_slugs),
        metadata=metadata_pairs(query.metadata_filter),
        personal_overrides=query.include_personal_overrides,
    )


async def _get(request: Request, secret_name: str, query: GetSecretQuery) -> Response:
    asked = GetSecret(
        at=secrets_at(query),
        key=checked_name(secret_name, field="secretName"),
        personal=is_personal(query.type),
        version=query.version,
        expand=query.expand_secret_references,
        view_value=query.view_secret_value,
        include_imports=query.include_imports,
    )
    shown = await context_of(request).reading.get(principal_of(request), asked)
    return json_response({"secret": secret_json(shown)})
