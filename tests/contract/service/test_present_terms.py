"""Tokens that are out are judged by the terms that their identity has now."""

from __future__ import annotations

import httpx
import pytest

from support.service_fixtures import Client, Credentials, Project, Service
from tools.local.waiting import eventually

pytestmark = pytest.mark.every_database

RENEW = "/api/v1/auth/token/renew"
CHECK = "/api/v1/auth/checkAuth"
ELSEWHERE = [{"ipAddress": "10.1.1.1"}]


def change(service: Service, identity: Credentials, **terms: object) -> None:
    path = f"/api/v1/auth/universal-auth/identities/{identity.identity_id}"
    service.admin_client().json("PATCH", path, json=terms)


def checked(client: Client) -> tuple[int, str]:
    response = client.post(CHECK)
    return response.status_code, response.json().get("error", "")


def test_a_token_is_refused_outside_of_addresses_that_were_narrowed_later(service: Service) -> None:
    identity = service.create_identity()
    client = service.client(service.login(identity))
    assert checked(client) == (200, "")
    change(service, identity, accessTokenTrustedIps=ELSEWHERE)
    assert checked(client) == (403, "ForbiddenError")


def test_a_token_is_not_renewed_outside_of_addresses_that_were_narrowed_later(service: Service) -> None:
    identity = service.create_identity(accessTokenTTL=100)
    token = service.login(identity)
    change(service, identity, accessTokenTrustedIps=ELSEWHERE)
    assert service.client().post(RENEW, json={"accessToken": token}).status_code == 403


def test_a_token_ends_with_a_shorter_lifetime_that_was_set_later(service: Service) -> None:
    identity = service.create_identity()
    client = service.client(service.login(identity))
    assert checked(client) == (200, "")
    change(service, identity, accessTokenTTL=1)
    eventually(lambda: checked(client) == (401, "TokenError"), awaited="a refusal")


def test_a_renewal_is_judged_by_the_present_max_ttl(service: Service) -> None:
    identity = service.create_identity(accessTokenTTL=100)
    token = service.login(identity)
    change(service, identity, accessTokenMaxTTL=100)
    response = service.client().post(RENEW, json={"accessToken": token})
    assert (response.status_code, "Max TTL" in response.json()["message"]) == (401, True)


def test_a_limit_of_uses_that_was_set_later_counts_from_then_on(service: Service) -> None:
    identity = service.create_identity()
    client = service.client(service.login(identity))
    assert [checked(client)[0] for _ in range(3)] == [200] * 3
    change(service, identity, accessTokenNumUsesLimit=2)
    assert [checked(client)[0] for _ in range(4)] == [200, 200, 401, 401]


def test_terms_that_were_widened_prolong_no_token(service: Service) -> None:
    identity = service.create_identity(accessTokenTTL=1)
    client = service.client(service.login(identity))
    change(service, identity, accessTokenTTL=1000)
    eventually(lambda: checked(client) == (401, "TokenError"), awaited="a refusal")


def test_a_user_has_no_terms_to_be_judged_by(service: Service) -> None:
    person = service.create_user()
    assert checked(service.client(service.login_user(person))) == (200, "")


def test_a_stream_ends_when_its_reader_may_no_longer_read_from_there(
    service: Service, project: Project
) -> None:
    identity = service.create_identity(roles={project.id: "viewer"})
    client = service.client(service.login(identity))
    body = {"projectId": project.id, "register": [{"event": "secret:create"}]}
    with client.stream("POST", "/api/v1/events/subscribe/project-events", json=body) as stream:
        assert stream.status_code == 200, httpx.Response(stream.status_code, content=stream.read()).text
        lines = stream.iter_lines()
        assert next(lines) == "event: ping"
        change(service, identity, accessTokenTrustedIps=ELSEWHERE)
        assert any(line == "event: error" for line in lines)
