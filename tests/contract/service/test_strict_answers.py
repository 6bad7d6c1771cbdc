"""The check that every answer of these tests passes through: it must be able to fail."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from support.strict_answers import check_answer

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


def checked(path: str, status: int, body: object, **headers: str) -> None:
    request = httpx.Request("GET", f"http://127.0.0.1{path}")
    check_answer(httpx.Response(status, json=body, headers=headers, request=request))


def test_answers_as_the_documents_tell_them_pass() -> None:
    checked("/api/v4/secrets/KEY", 200, {"secret": SECRET})
    checked("/api/v4/secrets?projectId=p", 200, {"secrets": [SECRET], "imports": []}, etag='"1"')
    checked("/api/v4/secrets/KEY", 404, ERROR)


@pytest.mark.parametrize("name", SECRET)
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
