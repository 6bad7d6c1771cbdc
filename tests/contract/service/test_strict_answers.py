"""The check that every answer of these tests passes through: it must be able to fail."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from support.rows import each_row
from support.service_fixtures import Service
from support.strict_answers import check_answer
from support.strict_shapes import shape_of

SECRET: dict[str, Any] = {
    "id": "s",
    "_id": "s",
    "workspace": "p",
    "environment": "dev",
    "version": 1,
    "type": "shared",
    "secretKey": "KEY",
    "secretValue": "cnry-1",
    "secretComment": "",
    "createdAt": "2026-01-02T03:04:05.678Z",
    "updatedAt": "2026-01-02T03:04:05.678Z",
    "secretValueHidden": False,
    "secretPath": "/",
}
ERROR = {"reqId": "req-1", "statusCode": 404, "message": "no", "error": "NotFound"}


ID = "0b6f3c3e-7a55-4d2b-9a3f-0d6a5d1f0c11"
TIMES = {"createdAt": "2026-01-02T03:04:05.678Z", "updatedAt": "2026-01-02T03:04:05.678Z"}
IDENTITY: dict[str, Any] = {"id": ID, "name": "i", "orgId": ID, "role": "member", **TIMES}
PERSON: dict[str, Any] = {
    "id": ID,
    "email": "a@example.com",
    "username": "a@example.com",
    "firstName": None,
    "lastName": None,
}
GRANT: dict[str, Any] = {
    "id": ID,
    "projectId": ID,
    "identityId": ID,
    "effect": "deny",
    "subjects": ["secrets"],
    "actions": ["read"],
    "environment": "*",
    "secretPath": "/**",
    **TIMES,
}
LINE: dict[str, Any] = {
    "id": ID,
    "orgId": ID,
    "projectId": None,
    "event": {"type": "get-secret", "metadata": {"secretKeys": ["A"], "count": 1}},
    "actor": {"type": "identity", "metadata": {"identityId": ID, "name": "i"}},
    "ipAddress": None,
    "userAgent": "",
    "userAgentType": "other",
    "requestId": "req-1",
    **TIMES,
}
TERMS: dict[str, Any] = {
    "id": ID,
    "identityId": ID,
    "clientId": ID,
    "accessTokenTTL": 0,
    "accessTokenMaxTTL": 0,
    "accessTokenNumUsesLimit": 0,
    "accessTokenPeriod": 0,
    "accessTokenTrustedIps": [{"ipAddress": "::/0"}],
    "clientSecretTrustedIps": [{"ipAddress": "::/0"}],
    "lockoutEnabled": True,
    "lockoutThreshold": 3,
    "lockoutDurationSeconds": 300,
    "lockoutCounterResetSeconds": 30,
    **TIMES,
}
KEYS: dict[str, Any] = {
    "firstRootKeyId": "k",
    "heldRootKeyIds": ["k"],
    "rootKeys": [
        {"id": "k", "state": "active", "activatedAt": TIMES["createdAt"], "retiredAt": None, "wraps": 1}
    ],
    "processes": 1,
    "lackingProcesses": 0,
    "dataKeys": 1,
    "rotations": [],
    "credentialRotation": None,
}
UNIVERSAL = f"/api/v1/auth/universal-auth/identities/{ID}"
ADDITIONS = [
    pytest.param("/api/v1/identities", "identities", IDENTITY, {"role": "owner"}, id="an identity"),
    pytest.param(
        "/api/v1/users",
        "users",
        {**PERSON, "orgId": ID, "role": "admin", **TIMES},
        {"email": "a"},
        id="a user",
    ),
    pytest.param(f"/api/v1/projects/{ID}/grants", "grants", GRANT, {"actions": []}, id="a grant"),
    pytest.param(
        "/api/v1/organization/audit-logs",
        "auditLogs",
        LINE,
        {"actor": {"type": "user", "metadata": {}}},
        id="audit",
    ),
]


NOT_KEPT = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def checked(path: str, status: int, body: object, **headers: str) -> None:
    request = httpx.Request("GET", f"http://127.0.0.1{path}")
    check_answer(httpx.Response(status, json=body, headers={**NOT_KEPT, **headers}, request=request))


@pytest.mark.parametrize("headers", [{}, {**NOT_KEPT, "cache-control": "max-age=60"}], ids=str)
def test_an_answer_that_somebody_may_keep_fails(headers: dict[str, str]) -> None:
    request = httpx.Request("GET", "http://127.0.0.1/api/v4/secrets/KEY")
    with pytest.raises(AssertionError):
        check_answer(httpx.Response(200, json={"secret": SECRET}, headers=headers, request=request))


def test_answers_as_the_documents_tell_them_pass() -> None:
    checked("/api/v4/secrets/KEY", 200, {"secret": SECRET})
    checked("/api/v4/secrets?projectId=p", 200, {"secrets": [SECRET], "imports": []}, etag='"1"')
    checked("/api/v4/secrets/KEY", 404, ERROR)


@each_row("name", SECRET)
def test_a_field_that_is_missing_fails(name: str) -> None:
    with pytest.raises(ValueError, match="Field required"):
        checked("/api/v4/secrets/KEY", 200, {"secret": {key: SECRET[key] for key in SECRET if key != name}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": "1"},
        {"version": 0},
        {"secretValueHidden": 0},
        {"secretComment": None},
        {"createdAt": "2026-01-02 03:04:05"},
        {"type": "common"},
        {"more": 1},
    ],
)
def test_a_field_of_another_kind_fails(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="1 validation error"):
        checked("/api/v4/secrets/KEY", 200, {"secret": SECRET | wrong})


@pytest.mark.parametrize("wrong", [{"_id": "t"}, {"secretValueHidden": True}, {"user": "u"}])
def test_fields_that_contradict_each_other_fail(wrong: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        checked("/api/v4/secrets/KEY", 200, {"secret": SECRET | wrong})


@pytest.mark.parametrize(
    ("status", "wrong"),
    [(401, {}), (404, {"details": []}), (404, {"reqId": "1"}), (422, {"statusCode": 422})],
)
def test_errors_of_another_shape_fail(status: int, wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        checked("/api/v4/secrets/KEY", status, ERROR | wrong)


def test_a_list_out_of_order_or_without_its_tag_fails() -> None:
    two = [SECRET | {"secretKey": "B"}, SECRET | {"secretKey": "A"}]
    with pytest.raises(AssertionError):
        checked("/api/v4/secrets", 200, {"secrets": two, "imports": []}, etag='"1"')
    with pytest.raises(KeyError):
        checked("/api/v4/secrets", 200, {"secrets": [], "imports": []})


def test_a_route_that_nobody_wrote_down_fails() -> None:
    with pytest.raises(AssertionError, match="write down"):
        checked("/api/v9/new", 200, {})


def _many(name: str, item: object) -> dict[str, object]:
    counted = {} if name == "auditLogs" else {"totalCount": 1}
    return {name: [item], **counted}


@pytest.mark.parametrize(("path", "name", "item", "wrong"), ADDITIONS)
def test_our_additions_are_held_to_their_shape(
    path: str, name: str, item: dict[str, Any], wrong: dict[str, Any]
) -> None:
    checked(path, 200, _many(name, item))
    for spoiled in (item | wrong, item | {"password": "cnry-p"}, {key: item[key] for key in list(item)[1:]}):
        with pytest.raises(ValueError, match="validation error"):
            checked(path, 200, _many(name, spoiled))


def test_auth_methods_and_keys_are_held_to_their_shape() -> None:
    checked(UNIVERSAL, 200, {"identityUniversalAuth": TERMS})
    checked("/api/v1/admin/keys", 200, KEYS)
    with pytest.raises(ValueError, match="1 validation error"):
        checked(UNIVERSAL, 200, {"identityUniversalAuth": TERMS | {"clientSecret": "cnry-s"}})
    with pytest.raises(ValueError, match="1 validation error"):
        checked("/api/v1/admin/keys", 200, KEYS | {"rootKey": "cnry-k"})


def test_every_route_of_the_service_has_a_shape(service: Service) -> None:
    document = service.client().json("GET", "/api/docs/json")
    without = {
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method in operations
        if shape_of(method.upper(), path) is None
    }
    # Frames instead of an answer, which the tests of events read; and what other formats tell.
    pki = "/api/v1/cert-manager"
    assert without == {
        "POST /api/v1/events/subscribe/project-events",
        "GET /.well-known/acme-challenge/{token}",
        f"GET {pki}/certificates/{{certificate_id}}/private-key",
        f"GET {pki}/ca/internal/{{authority_id}}/certificates/{{certificate_id}}/der",
        f"GET {pki}/crl/{{certificate_id}}",
        f"POST {pki}/ocsp/{{certificate_id}}",
        f"GET {pki}/ocsp/{{certificate_id}}/{{question}}",
    }
