from __future__ import annotations

from pathlib import Path

import pytest

from support.service_fixtures import Client, Starter, start_service

LOGIN = "/api/v1/auth/universal-auth/login"
NOBODY = {"clientId": "nobody", "clientSecret": "cnry-wrong"}


def named(response_headers: dict[str, str]) -> dict[str, int]:
    return {
        name.removeprefix("x-ratelimit-"): int(value)
        for name, value in response_headers.items()
        if name.startswith("x-ratelimit-")
    }


def test_by_default_nobody_is_limited_or_told_of_limits(admin: Client) -> None:
    answers = [admin.get("/api/v1/projects") for _ in range(70)]
    assert {answer.status_code for answer in answers} == {200}
    assert not any(named(dict(answer.headers)) for answer in answers)


def test_who_asks_too_often_is_told_when_to_come_again(start: Starter, tmp_path: Path) -> None:
    service = start(tmp_path / "data", "--rate-limit", "auth=2/1h")
    client = service.client()
    passed = [client.post(LOGIN, json=NOBODY) for _ in range(2)]
    assert [answer.status_code for answer in passed] == [401, 401]
    assert [named(dict(answer.headers))["remaining"] for answer in passed] == [1, 0]

    refused = client.post(f"{LOGIN}/", json=NOBODY)
    body = refused.json()
    told = named(dict(refused.headers))
    assert refused.status_code == 429
    assert (told["limit"], told["remaining"]) == (2, 0)
    assert 3500 < told["reset"] <= 3600
    assert int(refused.headers["retry-after"]) == told["reset"]
    assert body["error"] == "RateLimitExceeded"
    assert body["message"] == f"Rate limit exceeded. Please try again in {told['reset']} seconds"
    assert body["reqId"] == refused.headers["x-request-id"]

    # Other classes go on, and the status is always free.
    assert client.get("/api/v1/projects").status_code == 401
    assert client.get("/api/status").status_code == 200
    service.stop()


def test_the_ceiling_spares_the_status(start: Starter, tmp_path: Path) -> None:
    service = start(tmp_path / "data", "--rate-limit", "all=1/1h", "--rate-limit", "read=5/60s")
    client = service.client()
    assert client.get("/api/v1/projects").status_code == 401
    assert client.get("/api/v1/projects").status_code == 429
    assert [client.get("/api/status").status_code for _ in range(3)] == [200, 200, 200]
    assert not named(dict(client.get("/api/status").headers))
    service.stop()


def test_a_limit_that_is_none_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="write for example auth=60/60s"):
        start_service(tmp_path / "data", "--rate-limit", "auth=60")
