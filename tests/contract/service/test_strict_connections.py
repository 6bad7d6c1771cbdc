"""The shapes that every answer about app connections passes through must be able to fail (interface.md 2.3)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from support.rows import each_row
from support.strict_connections import (
    AVAILABLE_CONNECTIONS,
    CONNECTION_OPTIONS,
    CONNECTION_USAGE,
    ONE_CONNECTION,
    ONE_IDP_CONNECTION,
    PUBLISHED_ONE_IDP_CONNECTION,
)

ID = "0b6f3c3e-7a55-4d2b-9a3f-0d6a5d1f0c11"
AT = "2026-01-02T03:04:05.678Z"
PROJECT = {"id": ID, "name": "p", "type": "secret-manager", "slug": "p-1"}
ROTATION = {
    "rotationInterval": 30,
    "rotationStatus": "failed",
    "rotateAtUtc": {"hours": 23, "minutes": 59},
    "lastRotationMessage": "because",
    "nextRotationAt": AT,
}
REQUIRED: dict[str, Any] = {
    "id": ID,
    "name": "a-connection",
    "orgId": ID,
    "app": "idp",
    "method": "client-credentials",
    "credentials": {"domain": "tenant.example.com", "clientId": "c", "audience": "https://a/"},
    "version": 1,
    "createdAt": AT,
    "updatedAt": AT,
    "isPlatformManagedCredentials": False,
    "isAutoRotationEnabled": False,
    "credentialsHash": "0" * 64,
}
OPTIONAL = {"description": "", "projectId": ID, "project": PROJECT, "rotation": ROTATION}
OTHER_KINDS: dict[str, object] = {
    **dict.fromkeys(("id", "orgId", "name", "method", "app", "credentialsHash"), "No such"),
    "projectId": 5,
    "version": "1",
    "createdAt": "2026-01-02",
    "updatedAt": 5,
    "isPlatformManagedCredentials": True,
    "isAutoRotationEnabled": "false",
    "credentials": {**REQUIRED["credentials"], "clientSecret": "cnry-secret"},
    "description": "d" * 257,
    "project": {key: value for key, value in PROJECT.items() if key != "slug"},
    "rotation": {**ROTATION, "rotateAtUtc": {"hours": 24, "minutes": 0}},
}


def test_a_right_answer_passes_with_and_without_what_may_be_absent() -> None:
    ONE_IDP_CONNECTION.model_validate({"appConnection": REQUIRED})
    ONE_IDP_CONNECTION.model_validate({"appConnection": {**REQUIRED, **OPTIONAL}})
    PUBLISHED_ONE_IDP_CONNECTION.model_validate({"appConnection": {**REQUIRED, "app": "auth0"}})
    ONE_CONNECTION.model_validate({"appConnection": {**REQUIRED, "app": "cloud", "credentials": {}}})


@each_row("name", REQUIRED)
def test_a_field_that_is_missing_fails(name: str) -> None:
    rest = {key: value for key, value in REQUIRED.items() if key != name}
    with pytest.raises(ValidationError):
        ONE_IDP_CONNECTION.model_validate({"appConnection": rest})


@each_row("name", OTHER_KINDS)
def test_a_field_of_another_kind_fails(name: str) -> None:
    with pytest.raises(ValidationError):
        ONE_IDP_CONNECTION.model_validate({"appConnection": {**REQUIRED, name: OTHER_KINDS[name]}})


def test_every_field_is_tried_with_another_kind() -> None:
    assert OTHER_KINDS.keys() == REQUIRED.keys() | OPTIONAL.keys()


@pytest.mark.parametrize("name", ["gatewayId", "gatewayPoolId", "extra", "encryptedCredentials"])
def test_a_field_that_no_answer_has_fails(name: str) -> None:
    with pytest.raises(ValidationError):
        ONE_CONNECTION.model_validate({"appConnection": {**REQUIRED, name: ID}})


@pytest.mark.parametrize(
    "place", [("rotation",), ("rotation", "rotateAtUtc"), ("project",), ("credentials",)]
)
def test_a_further_field_within_fails(place: tuple[str, ...]) -> None:
    answer = copy.deepcopy({**REQUIRED, **OPTIONAL})
    inner = answer
    for name in place:
        inner = inner[name]
    inner["extra"] = 1
    with pytest.raises(ValidationError):
        ONE_IDP_CONNECTION.model_validate({"appConnection": answer})


def test_the_other_shapes_can_fail() -> None:
    for shape, wrong in (
        (AVAILABLE_CONNECTIONS, {"appConnections": [{"app": "idp", "name": "n"}]}),
        (CONNECTION_OPTIONS, {"appConnectionOptions": [{"name": "n", "app": "idp", "methods": []}]}),
        (CONNECTION_USAGE, {"projects": [PROJECT]}),
    ):
        with pytest.raises(ValidationError):
            shape.model_validate(wrong)
