from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keybearer.wire.identities import (
    ClientSecretAnswer,
    ClientSecretList,
    CreatedClientSecret,
    IdentityAnswer,
    IdentityDetailAnswer,
    IdentityList,
    UniversalAuthAnswer,
)
from support.service_fixtures import Client, Project, Service, Strict

pytestmark = pytest.mark.every_database

UNKNOWN = "00000000-0000-4000-8000-000000000000"
UNIVERSAL = "/api/v1/auth/universal-auth/identities"


@pytest.fixture
def identity_id(service: Service, admin: Client) -> str:
    body = {"name": "one", "organizationId": service.organization_id, "role": "no-access"}
    return str(admin.json("POST", "/api/v1/identities", json=body)["identity"]["id"])


def test_identities_come_change_and_go(admin: Client, identity_id: str, strict: Strict) -> None:
    path = f"/api/v1/identities/{identity_id}"
    found = strict(IdentityDetailAnswer, admin.json("GET", path)).identity
    assert (found.name, found.role) == ("one", "no-access")
    changed = strict(IdentityAnswer, admin.json("PATCH", path, json={"name": "two"})).identity
    assert (changed.name, changed.role) == ("two", "no-access")
    listed = strict(IdentityList, admin.json("GET", "/api/v1/identities"))
    assert changed in listed.identities
    assert listed.total_count == len(listed.identities)
    strict(IdentityAnswer, admin.json("DELETE", path))
    assert admin.json("GET", path, status=404)["error"] == "NotFound"


def test_the_last_admin_stays(service: Service, admin: Client) -> None:
    path = f"/api/v1/identities/{service.admin.identity_id}"
    admins = [
        item for item in admin.json("GET", "/api/v1/identities")["identities"] if item["role"] == "admin"
    ]
    for other in admins:
        if other["id"] != service.admin.identity_id:
            admin.json("DELETE", f"/api/v1/identities/{other['id']}")
    assert "last admin" in admin.json("DELETE", path, status=400)["message"]
    assert "last admin" in admin.json("PATCH", path, status=400, json={"role": "member"})["message"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"name": ""}, id="an empty name"),
        pytest.param({"name": "x" * 65}, id="a long name"),
        pytest.param({"name": "x", "role": "owner"}, id="an unknown role"),
    ],
)
def test_what_an_identity_may_be_is_bounded(service: Service, admin: Client, body: dict[str, Any]) -> None:
    sent = {"organizationId": service.organization_id, **body}
    admin.json("POST", "/api/v1/identities", status=422, json=sent)


def test_another_organization_is_not_found(admin: Client) -> None:
    body = {"name": "x", "organizationId": UNKNOWN}
    admin.json("POST", "/api/v1/identities", status=404, json=body)


def test_universal_auth_is_attached_changed_and_detached(
    admin: Client, identity_id: str, strict: Strict
) -> None:
    path = f"{UNIVERSAL}/{identity_id}"
    assert admin.json("GET", path, status=404)["error"] == "NotFound"
    body = {"accessTokenTTL": 600, "accessTokenMaxTTL": 1200, "accessTokenTrustedIps": [{"ipAddress": "::1"}]}
    made = strict(UniversalAuthAnswer, admin.json("POST", path, json=body)).identity_universal_auth
    assert (made.access_token_ttl, made.access_token_max_ttl, made.lockout_threshold) == (600, 1200, 3)
    assert [item.ip_address for item in made.access_token_trusted_ips] == ["::1/128"]
    assert [item.ip_address for item in made.client_secret_trusted_ips] == ["0.0.0.0/0", "::/0"]
    admin.json("POST", path, status=400, json={})
    changed = strict(UniversalAuthAnswer, admin.json("PATCH", path, json={"accessTokenTTL": 60}))
    auth = changed.identity_universal_auth
    assert (auth.access_token_ttl, auth.access_token_max_ttl, auth.client_id) == (60, 1200, made.client_id)
    assert [item.ip_address for item in auth.access_token_trusted_ips] == ["::1/128"]
    assert strict(UniversalAuthAnswer, admin.json("GET", path)) == changed
    strict(UniversalAuthAnswer, admin.json("DELETE", path))
    admin.json("PATCH", path, status=404, json={})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"accessTokenTTL": 11, "accessTokenMaxTTL": 10}, 400, id="TTL over max TTL"),
        pytest.param({"accessTokenTTL": 10, "accessTokenMaxTTL": 10}, 200, id="TTL equal to max TTL"),
        pytest.param({"accessTokenTTL": 10, "accessTokenMaxTTL": 0}, 200, id="no max TTL"),
        pytest.param({"accessTokenTTL": -1}, 422, id="a negative TTL"),
        pytest.param({"accessTokenTTL": 315_360_000, "accessTokenMaxTTL": 315_360_000}, 200, id="ten years"),
        pytest.param({"accessTokenTTL": 315_360_001}, 422, id="over ten years"),
        pytest.param({"accessTokenTrustedIps": [{"ipAddress": "cnry-nonsense"}]}, 400, id="no address"),
        pytest.param({"lockoutThreshold": 0}, 422, id="threshold 0"),
        pytest.param({"lockoutThreshold": 1}, 200, id="threshold 1"),
        pytest.param({"lockoutThreshold": 30}, 200, id="threshold 30"),
        pytest.param({"lockoutThreshold": 31}, 422, id="threshold 31"),
        pytest.param({"lockoutDurationSeconds": 29}, 422, id="duration 29"),
        pytest.param({"lockoutDurationSeconds": 30}, 200, id="duration 30"),
        pytest.param({"lockoutDurationSeconds": 86_400}, 200, id="duration 86400"),
        pytest.param({"lockoutDurationSeconds": 86_401}, 422, id="duration 86401"),
        pytest.param({"lockoutCounterResetSeconds": 4}, 422, id="reset 4"),
        pytest.param({"lockoutCounterResetSeconds": 5}, 200, id="reset 5"),
        pytest.param({"lockoutCounterResetSeconds": 3600}, 200, id="reset 3600"),
        pytest.param({"lockoutCounterResetSeconds": 3601}, 422, id="reset 3601"),
    ],
)
def test_the_terms_of_universal_auth_are_bounded(
    admin: Client, identity_id: str, body: dict[str, Any], status: int
) -> None:
    answer = admin.json("POST", f"{UNIVERSAL}/{identity_id}", status=status, json=body)
    assert "cnry" not in str(answer)


def test_client_secrets_are_shown_once_and_listed_by_prefix(
    admin: Client, identity_id: str, strict: Strict
) -> None:
    base = f"{UNIVERSAL}/{identity_id}"
    admin.json("POST", f"{base}/client-secrets", status=404, json={})
    admin.json("POST", base, json={})
    body = {"description": "ci", "ttl": 600, "numUsesLimit": 5}
    made = strict(CreatedClientSecret, admin.json("POST", f"{base}/client-secrets", json=body))
    data = made.client_secret_data
    assert len(made.client_secret) >= 43  # 32 random bytes in any usual alphabet
    assert data.client_secret_prefix == made.client_secret[:4]
    assert (data.description, data.client_secret_ttl, data.client_secret_num_uses_limit) == ("ci", 600, 5)
    listed = admin.json("GET", f"{base}/client-secrets")
    assert strict(ClientSecretList, listed).client_secret_data == [data]
    assert made.client_secret not in str(listed)
    path = f"{base}/client-secrets/{data.id}"
    assert strict(ClientSecretAnswer, admin.json("GET", path)).client_secret_data == data
    assert admin.json("POST", f"{path}/revoke")["clientSecretData"]["isClientSecretRevoked"] is True
    assert admin.json("GET", f"{base}/client-secrets")["clientSecretData"] == []
    assert admin.json("GET", f"{base}/client-secrets/{UNKNOWN}", status=404)["error"] == "NotFound"


def test_a_detached_universal_auth_ends_its_tokens(service: Service, admin: Client) -> None:
    identity = service.create_identity()
    base = f"{UNIVERSAL}/{identity.identity_id}"
    once = admin.json("POST", f"{base}/client-secrets", json={"numUsesLimit": 1})["clientSecret"]
    used_up = replace(identity, client_secret=once)
    clients = [service.client(service.login(one)) for one in (identity, used_up)]
    service.client().json(
        "POST",
        "/api/v1/auth/universal-auth/login",
        status=401,
        json={"clientId": identity.client_id, "clientSecret": once},
    )
    assert [client.post("/api/v1/auth/checkAuth").status_code for client in clients] == [200, 200]
    admin.json("DELETE", base)
    assert [client.post("/api/v1/auth/checkAuth").status_code for client in clients] == [401, 401]


@pytest.mark.parametrize("role", ["member", "no-access"])
def test_only_an_admin_of_the_organization_handles_identities(
    service: Service, identity_id: str, project: Project, role: str
) -> None:
    identity = service.create_identity(organization_role=role, roles={project.id: "admin"})
    client = service.client(service.login(identity))
    body = {"name": "x", "organizationId": service.organization_id, "role": "admin"}
    for method, path in (
        ("POST", "/api/v1/identities"),
        ("GET", "/api/v1/identities"),
        ("GET", f"/api/v1/identities/{identity_id}"),
        ("PATCH", f"/api/v1/identities/{identity.identity_id}"),
        ("DELETE", f"/api/v1/identities/{identity_id}"),
        ("POST", f"{UNIVERSAL}/{identity_id}"),
        ("GET", f"{UNIVERSAL}/{identity.identity_id}"),
        ("POST", f"{UNIVERSAL}/{identity.identity_id}/client-secrets"),
        ("GET", f"{UNIVERSAL}/{identity.identity_id}/client-secrets"),
    ):
        sent = body if method in {"POST", "PATCH"} else None
        answer = client.json(method, path, status=403, json=sent)
        assert (answer["error"], answer["details"][0]["subject"]) == ("PermissionDenied", "identity")


def test_an_identity_reads_itself_and_no_other(service: Service) -> None:
    one, other = service.create_identity(), service.create_identity()
    client = service.client(service.login(one))
    found = client.json("GET", f"/api/v1/identities/{one.identity_id}")
    assert found["identity"]["id"] == one.identity_id
    client.json("GET", f"/api/v1/identities/{other.identity_id}", status=403)
