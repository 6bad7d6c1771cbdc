"""Kubernetes and LDAP auth on the wire: configuration, and refusals that need no other server."""

from __future__ import annotations

from typing import Any

import pytest

from keybearer.wire.auth_methods import KubernetesAuthAnswer, LdapAuthAnswer
from support.service_fixtures import Client, Service, Strict

pytestmark = pytest.mark.every_database

UNKNOWN = "00000000-0000-4000-8000-000000000000"
KUBERNETES = "/api/v1/auth/kubernetes-auth"
LDAP = "/api/v1/auth/ldap-auth"
LDAP_BODY = {
    "url": "ldaps://ldap.example.com",
    "bindDN": "cn=reader,dc=example",
    "bindPass": "cnry-reader",
    "searchBase": "dc=example",
}
KUBERNETES_BODY = {"kubernetesHost": "https://api.example.com"}


@pytest.fixture
def identity_id(service: Service, admin: Client) -> str:
    body = {"name": "machine", "organizationId": service.organization_id}
    return str(admin.json("POST", "/api/v1/identities", json=body)["identity"]["id"])


def test_kubernetes_auth_is_attached_read_changed_and_detached(
    admin: Client, identity_id: str, strict: Strict
) -> None:
    path = f"{KUBERNETES}/identities/{identity_id}"
    body = {
        **KUBERNETES_BODY,
        "tokenReviewerJwt": "cnry-reviewer",
        "allowedNamespaces": "team-*, shop",
        "allowedAudience": "keybearer",
        "accessTokenTTL": 600,
        "accessTokenTrustedIps": [{"ipAddress": "127.0.0.1"}],
    }
    made = strict(KubernetesAuthAnswer, admin.json("POST", path, json=body)).identity_kubernetes_auth
    assert (made.identity_id, made.token_review_mode, made.allowed_names) == (identity_id, "api", "")
    assert made.token_reviewer == "stored-token"
    assert (made.allowed_namespaces, made.access_token_ttl, made.access_token_max_ttl) == (
        "team-*, shop",
        600,
        2_592_000,
    )
    assert [one.ip_address for one in made.access_token_trusted_ips] == ["127.0.0.1/32"]
    assert strict(KubernetesAuthAnswer, admin.json("GET", path)).identity_kubernetes_auth == made
    admin.json("POST", path, status=400, json=body)
    changed = admin.json("PATCH", path, json={"allowedNames": "web", "accessTokenTTL": 0})
    assert changed["identityKubernetesAuth"]["allowedNames"] == "web"
    assert changed["identityKubernetesAuth"]["accessTokenTTL"] == 0
    assert changed["identityKubernetesAuth"]["allowedAudience"] == "keybearer"
    elsewhere = {"kubernetesHost": "https://other.example.com"}
    admin.json("PATCH", path, status=400, json=elsewhere)
    moved = admin.json("PATCH", path, json={**elsewhere, "tokenReviewerJwt": None})
    assert moved["identityKubernetesAuth"]["tokenReviewer"] == "login-token"
    admin.json("DELETE", path)
    admin.json("GET", path, status=404)
    admin.json("DELETE", path, status=404)
    admin.json("PATCH", path, status=404, json={})


def test_ldap_auth_is_attached_read_changed_and_detached(
    admin: Client, identity_id: str, strict: Strict
) -> None:
    path = f"{LDAP}/identities/{identity_id}"
    body = {**LDAP_BODY, "allowedFields": [{"key": "memberOf", "value": "cn=a,dc=b"}], "lockoutThreshold": 5}
    made = strict(LdapAuthAnswer, admin.json("POST", path, json=body)).identity_ldap_auth
    assert (made.search_filter, made.lockout_threshold) == ("(uid={{username}})", 5)
    assert [(one.key, one.value) for one in made.allowed_fields] == [("memberOf", "cn=a,dc=b")]
    assert strict(LdapAuthAnswer, admin.json("GET", path)).identity_ldap_auth == made
    admin.json("POST", path, status=400, json=body)
    changed = admin.json("PATCH", path, json={"searchFilter": "(cn={{username}})", "allowedFields": []})
    assert changed["identityLdapAuth"]["searchFilter"] == "(cn={{username}})"
    assert changed["identityLdapAuth"]["allowedFields"] == []
    elsewhere = {"url": "ldaps://other.example.com"}
    admin.json("PATCH", path, status=400, json=elsewhere)
    admin.json("PATCH", path, json={**elsewhere, "bindPass": "cnry-other"})
    assert admin.json("POST", f"{path}/clear-lockouts") == {"deleted": 0}
    admin.json("DELETE", path)
    admin.json("GET", path, status=404)
    admin.json("POST", f"{path}/clear-lockouts", status=404)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"kubernetesHost": " "}, 422),
        ({"kubernetesHost": "api.example.com"}, 422),
        ({"kubernetesHost": "https://user:cnry-p@api.example.com"}, 422),
        ({"caCert": "cnry-no-certificate"}, 422),
        ({"allowedNamespaces": " , "}, 422),
        ({"allowedNames": ","}, 422),
        ({"tokenReviewMode": "gateway"}, 422),
        ({"accessTokenTTL": -1}, 422),
        ({"accessTokenTTL": 315_360_001}, 422),
        ({"accessTokenTTL": 315_360_000, "accessTokenMaxTTL": 315_360_000}, 200),
        ({"accessTokenTTL": 2, "accessTokenMaxTTL": 1}, 400),
        ({"accessTokenTrustedIps": [{"ipAddress": "cnry-none"}]}, 400),
        ({"accessTokenTrustedIps": []}, 422),
        ({"somethingElse": "ignored"}, 200),
    ],
)
def test_terms_of_kubernetes_auth_that_cannot_be_used_are_refused(
    admin: Client, identity_id: str, change: dict[str, Any], status: int
) -> None:
    path = f"{KUBERNETES}/identities/{identity_id}"
    answer = admin.json("POST", path, status=status, json={**KUBERNETES_BODY, **change})
    assert "cnry" not in str(answer)
    if status != 200:
        admin.json("POST", path, json=KUBERNETES_BODY)
        assert "cnry" not in str(admin.json("PATCH", path, status=status, json=change))


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"url": "https://ldap.example.com"}, 422),
        ({"bindPass": ""}, 422),
        ({"bindPass": "cnry-a\0b"}, 422),
        ({"bindDN": " "}, 422),
        ({"searchFilter": "(uid=cnry"}, 422),
        ({"searchFilter": "(uid=*)"}, 422),
        ({"ldapCaCertificate": "cnry-no-certificate"}, 422),
        ({"allowedFields": [{"key": "a b", "value": "c"}]}, 422),
        ({"lockoutThreshold": 0}, 422),
        ({"lockoutThreshold": 1}, 200),
        ({"lockoutThreshold": 30}, 200),
        ({"lockoutThreshold": 31}, 422),
        ({"lockoutDurationSeconds": 29}, 422),
        ({"lockoutDurationSeconds": 86_401}, 422),
        ({"lockoutCounterResetSeconds": 4}, 422),
        ({"lockoutCounterResetSeconds": 3601}, 422),
        ({"accessTokenTTL": 2, "accessTokenMaxTTL": 1}, 400),
    ],
)
def test_terms_of_ldap_auth_that_cannot_be_used_are_refused(
    admin: Client, identity_id: str, change: dict[str, Any], status: int
) -> None:
    path = f"{LDAP}/identities/{identity_id}"
    assert "cnry" not in str(admin.json("POST", path, status=status, json={**LDAP_BODY, **change}))


@pytest.mark.parametrize("method", ["kubernetes-auth", "ldap-auth"])
def test_only_an_admin_of_the_organization_handles_auth_methods(
    service: Service, identity_id: str, method: str
) -> None:
    client = service.client(service.login(service.create_identity(organization_role="member")))
    path = f"/api/v1/auth/{method}/identities/{identity_id}"
    body = KUBERNETES_BODY if method == "kubernetes-auth" else LDAP_BODY
    for verb in ("POST", "GET", "PATCH", "DELETE"):
        answer = client.json(verb, path, status=403, json=body if verb in {"POST", "PATCH"} else None)
        assert answer["error"] == "PermissionDenied"
    assert service.client().get(path).status_code == 401


def test_an_unknown_identity_has_no_auth_methods(admin: Client) -> None:
    admin.json("POST", f"{KUBERNETES}/identities/{UNKNOWN}", status=404, json=KUBERNETES_BODY)
    admin.json("POST", f"{LDAP}/identities/{UNKNOWN}", status=404, json=LDAP_BODY)


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_login_by_a_method_that_is_not_set_up_is_not_found(
    service: Service, identity_id: str, slash: str
) -> None:
    client = service.client()
    answer = client.json(
        "POST",
        f"{KUBERNETES}/login{slash}",
        status=404,
        json={"identityId": identity_id, "jwt": "cnry-jwt"},
    )
    assert answer["message"] == (
        "Kubernetes auth method not found for identity, did you configure Kubernetes auth?"
    )
    body = {"identityId": identity_id, "username": "alice", "password": "cnry-alice"}
    client.json("POST", f"{LDAP}/login{slash}", status=404, json=body)


@pytest.mark.parametrize("missing", ["identityId", "jwt"])
def test_a_kubernetes_login_without_a_field_is_a_violation(service: Service, missing: str) -> None:
    body = {"identityId": UNKNOWN, "jwt": "cnry-jwt"}
    for broken in ({**body, missing: " "}, {name: text for name, text in body.items() if name != missing}):
        answer = service.client().json("POST", f"{KUBERNETES}/login", status=422, json=broken)
        assert (answer["error"], answer["message"][0]["path"]) == ("ValidationFailure", [missing])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"identityId": "no-uuid"}, "identityId"),
        ({"username": ""}, "username"),
        ({"username": "  "}, "username"),
        ({"username": "a\0b"}, "username"),
        ({"password": ""}, "password"),
        ({"password": "\0"}, "password"),
        ({"password": None}, "password"),
    ],
)
def test_an_ldap_login_without_a_user_or_password_is_a_violation(
    service: Service, change: dict[str, Any], field: str
) -> None:
    body = {"identityId": UNKNOWN, "username": "alice", "password": "cnry-alice", **change}
    answer = service.client().json("POST", f"{LDAP}/login", status=422, json=body)
    assert (answer["error"], answer["message"][0]["path"]) == ("ValidationFailure", [field])


@pytest.mark.parametrize(
    "host",
    [
        "https://127.0.0.1:6443",
        "https://169.254.169.254",
        "https://[::1]",
        "https://localhost",
        "http://8.8.8.8",
    ],
)
def test_a_kubernetes_host_outside_the_gate_is_a_failed_review(
    service: Service, admin: Client, identity_id: str, host: str
) -> None:
    admin.json("POST", f"{KUBERNETES}/identities/{identity_id}", json={"kubernetesHost": host})
    body = {"identityId": identity_id, "jwt": "cnry-jwt"}
    answer = service.client().json("POST", f"{KUBERNETES}/login", status=400, json=body)
    assert answer["error"] == "KubernetesTokenReviewError"
    assert "may not be called without TLS" in answer["message"] or "--allow-outbound" in answer["message"]


@pytest.mark.parametrize("url", ["ldap://127.0.0.1:389", "ldaps://169.254.169.254", "ldap://localhost"])
def test_a_directory_outside_the_gate_is_a_failed_login(
    service: Service, admin: Client, identity_id: str, url: str
) -> None:
    admin.json("POST", f"{LDAP}/identities/{identity_id}", json={**LDAP_BODY, "url": url})
    body = {"identityId": identity_id, "username": "alice", "password": "cnry-alice"}
    answer = service.client().json("POST", f"{LDAP}/login", status=401, json=body)
    assert (answer["error"], answer["message"]) == ("UnauthorizedError", "LDAP authentication failed")


@pytest.mark.parametrize("name", ["organizationSlug", "subOrganizationName"])
def test_the_organization_is_named_by_the_new_or_the_older_word(service: Service, name: str) -> None:
    client, known = service.client(), service.admin
    universal = {"clientId": known.client_id, "clientSecret": known.client_secret, name: "elsewhere"}
    answer = client.json("POST", "/api/v1/auth/universal-auth/login", status=404, json=universal)
    assert answer["message"] == "Organization with slug 'elsewhere' not found"
    for path, body in (
        (f"{KUBERNETES}/login", {"identityId": UNKNOWN, "jwt": "cnry-jwt"}),
        (f"{LDAP}/login", {"identityId": UNKNOWN, "username": "alice", "password": "cnry-alice"}),
    ):
        client.json("POST", path, status=422, json={**body, name: "x" * 65})


@pytest.mark.parametrize("slug", ["keybearer", "elsewhere"])
def test_a_stranger_is_not_told_which_organizations_exist(
    service: Service, admin: Client, identity_id: str, slug: str
) -> None:
    inside = {"kubernetesHost": "https://127.0.0.1:6443"}
    admin.json("POST", f"{KUBERNETES}/identities/{identity_id}", json=inside)
    admin.json("POST", f"{LDAP}/identities/{identity_id}", json={**LDAP_BODY, "url": "ldaps://127.0.0.1"})
    client = service.client()
    for path, body, status in (
        (f"{KUBERNETES}/login", {"identityId": identity_id, "jwt": "cnry-jwt"}, 400),
        (f"{LDAP}/login", {"identityId": identity_id, "username": "alice", "password": "cnry-alice"}, 401),
    ):
        without = client.json("POST", path, status=status, json=body)
        named = client.json("POST", path, status=status, json={**body, "organizationSlug": slug})
        assert named["message"] == without["message"]


def test_a_lockout_of_universal_auth_can_be_cleared(service: Service, admin: Client) -> None:
    identity = service.create_identity()
    wrong = {"clientId": identity.client_id, "clientSecret": "cnry-wrong"}
    for _ in range(3):
        service.client().post("/api/v1/auth/universal-auth/login", json=wrong)
    path = f"/api/v1/auth/universal-auth/identities/{identity.identity_id}/clear-lockouts"
    assert admin.json("POST", path) == {"deleted": 1}
    assert admin.json("POST", path) == {"deleted": 0}
    service.login(identity)
    admin.json("POST", path.replace(identity.identity_id, UNKNOWN), status=404)


def test_what_is_done_to_auth_methods_is_in_the_audit_log(
    service: Service, admin: Client, identity_id: str
) -> None:
    path = f"{LDAP}/identities/{identity_id}"
    admin.json("POST", path, json=LDAP_BODY)
    admin.json("PATCH", path, json={"searchBase": "dc=other"})
    admin.json("DELETE", path)
    found = admin.json("GET", "/api/v1/organization/audit-logs", params={"limit": "50"})["auditLogs"]
    about = [
        line["event"]["type"] for line in found if line["event"]["metadata"].get("identityId") == identity_id
    ]
    assert {
        "add-identity-ldap-auth",
        "update-identity-ldap-auth",
        "revoke-identity-ldap-auth",
    } <= set(about)
    assert "cnry" not in str(found)
    assert service.organization_id
