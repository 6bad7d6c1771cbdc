"""Writing secrets, alone and in batches, v3 raw and v4 (wire.md sections 2.4 and 2.5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fastapi import Request
from starlette.responses import Response

from keybearer.domain.paths import normalize_path
from keybearer.domain.secrets.changes import ChangedSecret, NewSecret, OnMissing
from keybearer.domain.secrets.questions import SecretsAt, ShownSecret
from keybearer.domain.secrets.text import checked_name
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.errors import BadRequestError
from keybearer.server.rendering import secret_json
from keybearer.server.routes.bodies import is_personal, secrets_at
from keybearer.server.routing import new_router
from keybearer.store.records import Metadata
from keybearer.wire.secrets import (
    BatchCreateSecrets,
    BatchDeleteSecrets,
    BatchUpdateSecrets,
    ChangedSecretItem,
    CreateSecret,
    CreateSecretV4,
    DeleteSecret,
    DeleteSecretV4,
    NewSecretName,
    SecretAnswer,
    SecretMetadata,
    SecretName,
    SecretsAnswer,
    UpdateSecret,
    UpdateSecretV4,
)

__all__ = ["router"]

router = new_router("Secrets", AuthenticatedRoute)


@router.post("/api/v3/secrets/batch/raw", response_model=SecretsAnswer, summary="Create secrets (v3)")
@router.post("/api/v4/secrets/batch", response_model=SecretsAnswer, summary="Create secrets")
async def create_secrets(request: Request, body: BatchCreateSecrets) -> Response:
    new = [
        NewSecret(
            item.secret_key,
            item.secret_value,
            item.secret_comment,
            item.skip_multiline_encoding,
            tuple(item.tag_ids),
            _metadata(item.secret_metadata),
        )
        for item in body.secrets
    ]
    shown = await context_of(request).writing.create(
        principal_of(request), secrets_at(body), new, personal=is_personal(body.type)
    )
    return _many(shown)


@router.patch("/api/v3/secrets/batch/raw", response_model=SecretsAnswer, summary="Update secrets (v3)")
@router.patch("/api/v4/secrets/batch", response_model=SecretsAnswer, summary="Update secrets")
async def update_secrets(request: Request, body: BatchUpdateSecrets) -> Response:
    at = secrets_at(body)
    changes = [_changed(item, at) for item in body.secrets]
    shown = await context_of(request).writing.update(
        principal_of(request),
        at,
        changes,
        personal=is_personal(body.type),
        on_missing=OnMissing(body.mode),
    )
    return _many(shown)


@router.delete("/api/v3/secrets/batch/raw", response_model=SecretsAnswer, summary="Delete secrets (v3)")
@router.delete("/api/v4/secrets/batch", response_model=SecretsAnswer, summary="Delete secrets")
async def delete_secrets(request: Request, body: BatchDeleteSecrets) -> Response:
    kinds = {is_personal(item.type) for item in body.secrets}
    if len(kinds) > 1:
        raise BadRequestError("One request deletes either shared or personal secrets; send two")
    personal = kinds == {True}
    keys = [_existing(item.secret_key) for item in body.secrets]
    shown = await context_of(request).writing.delete(
        principal_of(request), secrets_at(body), keys, personal=personal
    )
    return _many(shown)


@router.post("/api/v3/secrets/raw/{secret_name}", response_model=SecretAnswer, summary="Create a secret (v3)")
async def create_secret_v3(request: Request, secret_name: NewSecretName, body: CreateSecret) -> Response:
    return await _create(request, secret_name, body)


@router.post("/api/v4/secrets/{secret_name}", response_model=SecretAnswer, summary="Create a secret")
async def create_secret(request: Request, secret_name: NewSecretName, body: CreateSecretV4) -> Response:
    return await _create(request, secret_name, body)


@router.patch(
    "/api/v3/secrets/raw/{secret_name}", response_model=SecretAnswer, summary="Update a secret (v3)"
)
async def update_secret_v3(request: Request, secret_name: SecretName, body: UpdateSecret) -> Response:
    return await _update(request, secret_name, body)


@router.patch("/api/v4/secrets/{secret_name}", response_model=SecretAnswer, summary="Update a secret")
async def update_secret(request: Request, secret_name: SecretName, body: UpdateSecretV4) -> Response:
    return await _update(request, secret_name, body)


@router.delete(
    "/api/v3/secrets/raw/{secret_name}", response_model=SecretAnswer, summary="Delete a secret (v3)"
)
async def delete_secret_v3(request: Request, secret_name: SecretName, body: DeleteSecret) -> Response:
    return await _delete(request, secret_name, body)


@router.delete("/api/v4/secrets/{secret_name}", response_model=SecretAnswer, summary="Delete a secret")
async def delete_secret(request: Request, secret_name: SecretName, body: DeleteSecretV4) -> Response:
    return await _delete(request, secret_name, body)


async def _create(request: Request, secret_name: SecretName, body: CreateSecret) -> Response:
    new = NewSecret(
        secret_name,
        body.secret_value,
        body.secret_comment,
        body.skip_multiline_encoding,
        tuple(body.tag_ids),
        _metadata(body.secret_metadata),
        body.secret_reminder_note,
        body.secret_reminder_repeat_days,
    )
    shown = await context_of(request).writing.create(
        principal_of(request), secrets_at(body), [new], personal=is_personal(body.type)
    )
    return _one(shown[0])


async def _update(request: Request, secret_name: SecretName, body: UpdateSecret) -> Response:
    change = ChangedSecret(
        _existing(secret_name),
        body.secret_value,
        body.new_secret_name,
        body.secret_comment,
        body.skip_multiline_encoding,
        None if body.tag_ids is None else tuple(body.tag_ids),
        None if body.secret_metadata is None else _metadata(body.secret_metadata),
        *_reminder(body),
    )
    shown = await context_of(request).writing.update(
        principal_of(request), secrets_at(body), [change], personal=is_personal(body.type)
    )
    return _one(shown[0])


async def _delete(request: Request, secret_name: SecretName, body: DeleteSecret) -> Response:
    shown = await context_of(request).writing.delete(
        principal_of(request), secrets_at(body), [_existing(secret_name)], personal=is_personal(body.type)
    )
    return _one(shown[0])


def _changed(item: ChangedSecretItem, at: SecretsAt) -> ChangedSecret:
    elsewhere = None
    if item.secret_path is not None:
        elsewhere = replace(at, path=normalize_path(item.secret_path, field="secretPath"))
    return ChangedSecret(
        _existing(item.secret_key),
        item.secret_value,
        item.new_secret_name,
        item.secret_comment,
        item.skip_multiline_encoding,
        None if item.tag_ids is None else tuple(item.tag_ids),
        None if item.secret_metadata is None else _metadata(item.secret_metadata),
        *_reminder(item),
        at=elsewhere,
    )


def _reminder(
    given: UpdateSecret | ChangedSecretItem,
) -> tuple[str | None, int | None, tuple[str, ...] | None]:
    """Return note, interval and recipients: None for what is absent, empty for a null that takes it away."""
    note, days, recipients = (
        given.secret_reminder_note,
        given.secret_reminder_repeat_days,
        given.secret_reminder_recipients,
    )
    if note is None and "secret_reminder_note" in given.model_fields_set:
        note = ""
    if days is None and "secret_reminder_repeat_days" in given.model_fields_set:
        days = 0
    return note, days, None if recipients is None else tuple(recipients)


def _existing(name: str) -> str:
    return checked_name(name, field="secretName")


def _metadata(items: Iterable[SecretMetadata]) -> tuple[Metadata, ...]:
    return tuple(Metadata(item.key, item.value, item.is_encrypted) for item in items)


def _one(shown: ShownSecret) -> Response:
    return json_response({"secret": secret_json(shown)})


def _many(shown: Iterable[ShownSecret]) -> Response:
    return json_response({"secrets": [secret_json(one) for one in shown]})
