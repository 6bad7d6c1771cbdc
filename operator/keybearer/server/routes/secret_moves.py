"""Secrets moved and copied, their versions and references (wire.md section 2.5)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.base.ids import EnvironmentSlug
from keybearer.domain.access import ProjectRef
from keybearer.domain.authorization import Where
from keybearer.domain.paths import normalize_path
from keybearer.domain.secrets.moving import Transfer
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.domain.secrets.reference_tree import ReferenceNode
from keybearer.domain.secrets.text import checked_name
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.rendering import secret_json
from keybearer.server.routes.bodies import project_ref
from keybearer.server.routing import new_router
from keybearer.wire.limits import VERSIONS_MAX_ITEMS
from keybearer.wire.secret_moves import (
    MovedSecrets,
    ReferenceTreeAnswer,
    ReferenceTreeQuery,
    SecretVersions,
    SecretVersionsQuery,
    TransferSecrets,
)
from keybearer.wire.secrets import SecretName, SecretsAnswer

__all__ = ["router"]

router = new_router("Secrets", AuthenticatedRoute)


@router.post("/api/v3/secrets/move", response_model=MovedSecrets, summary="Move secrets (v3)")
@router.post("/api/v4/secrets/move", response_model=MovedSecrets, summary="Move secrets to another folder")
async def move_secrets(request: Request, body: TransferSecrets) -> Response:
    await context_of(request).moving.move(principal_of(request), _transfer(body))
    return json_response({"isSourceUpdated": True, "isDestinationUpdated": True})


@router.post(
    "/api/v4/secrets/duplicate", response_model=SecretsAnswer, summary="Copy secrets to another folder"
)
async def duplicate_secrets(request: Request, body: TransferSecrets) -> Response:
    shown = await context_of(request).moving.duplicate(principal_of(request), _transfer(body))
    return json_response({"secrets": [secret_json(one) for one in shown]})


@router.get(
    "/api/v4/secrets/{secret_name}/secret-reference-tree",
    response_model=ReferenceTreeAnswer,
    openapi_extra=parameters_of(ReferenceTreeQuery),
    summary="Show what a secret's value is made of",
)
async def get_reference_tree(request: Request, secret_name: SecretName) -> Response:
    query = query_of(request, ReferenceTreeQuery)
    at = SecretsAt(
        ProjectRef(id=query.project_id),
        EnvironmentSlug(query.environment),
        normalize_path(query.secret_path, field="secretPath"),
    )
    tree, shown = await context_of(request).reading.reference_tree(
        principal_of(request), at, checked_name(secret_name, field="secretName")
    )
    return json_response({"tree": _tree_json(tree), "value": shown.value})


@router.get(
    "/api/v1/secret/{secret_id}/secret-versions",
    response_model=SecretVersions,
    openapi_extra=parameters_of(SecretVersionsQuery),
    summary="List the versions of a secret",
)
async def list_versions(request: Request, secret_id: str) -> Response:
    query = query_of(request, SecretVersionsQuery)
    shown = await context_of(request).history.versions(
        principal_of(request), secret_id, offset=query.offset, limit=min(query.limit, VERSIONS_MAX_ITEMS)
    )
    return json_response({"secretVersions": [secret_json(one) for one in shown]})


def _transfer(body: TransferSecrets) -> Transfer:
    return Transfer(
        project_ref(body, body.project_slug),
        Where(body.source_environment, normalize_path(body.source_secret_path, field="sourceSecretPath")),
        Where(
            body.destination_environment,
            normalize_path(body.destination_secret_path, field="destinationSecretPath"),
        ),
        tuple(body.secret_ids),
        body.should_overwrite,
    )


def _tree_json(node: ReferenceNode) -> dict[str, object]:
    place = node.target.location
    answer: dict[str, object] = {
        "key": place.key,
        "environment": place.environment,
        "secretPath": place.path,
        "children": [_tree_json(child) for child in node.children],
    }
    if node.target.project_slug:
        answer["projectSlug"] = node.target.project_slug
    if node.value is not None:
        answer["value"] = node.value
    return answer
