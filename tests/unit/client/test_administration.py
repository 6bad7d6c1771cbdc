"""The requests of administration, as values."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import orjson
import pytest

from keybearer.client.actors import AllowedField
from keybearer.client.errors import InvalidArgument
from keybearer.client.models import SecretMetadata
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations import (
    audit_logs,
    folders,
    identities,
    kubernetes_auth,
    ldap_auth,
    memberships,
    projects,
    secret_batches,
    secret_moves,
    secret_reads,
    tokens,
    universal_auth,
    users,
)
from keybearer.client.operations.environments import ListEnvironments
from keybearer.interface import environments, grants, imports, tags
from support.rows import each_row
from unit.client.harness import called

PLACE: dict[str, Any] = {"project_id": "p-1", "environment": "dev"}
WIRE_PLACE = {"projectId": "p-1", "environment": "dev"}
IMPORT_PLACE = {**WIRE_PLACE, "path": "/"}
UA = "/api/v1/auth/universal-auth/identities/i-1"
KUBERNETES = "/api/v1/auth/kubernetes-auth/identities/i-1"
LDAP = "/api/v1/auth/ldap-auth/identities/i-1"
LATER = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=1)))

Sent = tuple[str, str, dict[str, Any] | None]


def sent(operation: Operation[Any]) -> Sent:
    request = operation.request()
    return request.method, request.path, None if request.body is None else orjson.loads(request.body)


REQUESTS: list[tuple[Operation[Any], Sent]] = [
    (
        projects.UpdateProject("p-1", name="Store", has_delete_protection=False),
        ("PATCH", "/api/v1/projects/p-1", {"name": "Store", "hasDeleteProtection": False}),
    ),
    (projects.DeleteProject("p-1"), ("DELETE", "/api/v1/projects/p-1", None)),
    (ListEnvironments(project_id="p-1"), ("GET", "/api/v1/projects/p-1", None)),
    (
        called(environments.GET)("e-1", project_id="p-1"),
        ("GET", "/api/v1/projects/p-1/environments/e-1", None),
    ),
    (
        called(environments.GET_BY_SLUG)("qa", project_id="p-1"),
        ("GET", "/api/v1/projects/p-1/environments/slug/qa", None),
    ),
    (
        called(environments.UPDATE)("e-1", slug="qa", position=2, project_id="p-1"),
        ("PATCH", "/api/v1/projects/p-1/environments/e-1", {"slug": "qa", "position": 2}),
    ),
    (
        called(environments.DELETE)("e-1", project_id="p-1"),
        ("DELETE", "/api/v1/projects/p-1/environments/e-1", None),
    ),
    (folders.GetFolder("f-1"), ("GET", "/api/v2/folders/f-1", None)),
    (
        called(imports.CREATE)("prod", "/shared", **PLACE),
        (
            "POST",
            "/api/v2/secret-imports",
            {**IMPORT_PLACE, "import": {"environment": "prod", "path": "/shared"}, "isReplication": False},
        ),
    ),
    (
        called(imports.UPDATE)("x-1", position=1, **PLACE),
        ("PATCH", "/api/v2/secret-imports/x-1", {**IMPORT_PLACE, "import": {"position": 1}}),
    ),
    (called(imports.DELETE)("x-1", **PLACE), ("DELETE", "/api/v2/secret-imports/x-1", IMPORT_PLACE)),
    (called(imports.GET)("x-1"), ("GET", "/api/v2/secret-imports/x-1", None)),
    (called(tags.LIST)(project_id="p-1"), ("GET", "/api/v1/projects/p-1/tags", None)),
    (
        called(tags.CREATE)("red", color="#f00", project_id="p-1"),
        ("POST", "/api/v1/projects/p-1/tags", {"slug": "red", "color": "#f00"}),
    ),
    (called(tags.GET_BY_SLUG)("red", project_id="p-1"), ("GET", "/api/v1/projects/p-1/tags/slug/red", None)),
    (called(tags.DELETE)("t-1", project_id="p-1"), ("DELETE", "/api/v1/projects/p-1/tags/t-1", None)),
    (
        identities.CreateIdentity("ci", organization_id="o-1", role="member"),
        ("POST", "/api/v1/identities", {"name": "ci", "organizationId": "o-1", "role": "member"}),
    ),
    (identities.UpdateIdentity("i-1", name="cd"), ("PATCH", "/api/v1/identities/i-1", {"name": "cd"})),
    (identities.DeleteIdentity("i-1"), ("DELETE", "/api/v1/identities/i-1", None)),
    (universal_auth.GetUniversalAuth("i-1"), ("GET", UA, None)),
    (
        universal_auth.UpdateUniversalAuth(
            "i-1", access_token_ttl=60, client_secret_trusted_ips=("10.0.0.0/8",)
        ),
        ("PATCH", UA, {"accessTokenTTL": 60, "clientSecretTrustedIps": [{"ipAddress": "10.0.0.0/8"}]}),
    ),
    (universal_auth.DetachUniversalAuth("i-1"), ("DELETE", UA, None)),
    (
        universal_auth.CreateClientSecret("i-1", description="d", ttl=60, num_uses_limit=3),
        ("POST", f"{UA}/client-secrets", {"description": "d", "ttl": 60, "numUsesLimit": 3}),
    ),
    (universal_auth.ListClientSecrets("i-1"), ("GET", f"{UA}/client-secrets", None)),
    (universal_auth.RevokeClientSecret("i-1", "s-1"), ("POST", f"{UA}/client-secrets/s-1/revoke", None)),
    (universal_auth.ClearUniversalAuthLockouts("i-1"), ("POST", f"{UA}/clear-lockouts", None)),
    (kubernetes_auth.GetKubernetesAuth("i-1"), ("GET", KUBERNETES, None)),
    (
        kubernetes_auth.UpdateKubernetesAuth(
            "i-1", allowed_names="web", token_reviewer_jwt="cnry-reviewer", access_token_ttl=60
        ),
        (
            "PATCH",
            KUBERNETES,
            {"allowedNames": "web", "tokenReviewerJwt": "cnry-reviewer", "accessTokenTTL": 60},
        ),
    ),
    (
        kubernetes_auth.UpdateKubernetesAuth(
            "i-1", token_reviewer_jwt="", access_token_trusted_ips=("10.0.0.0/8",)
        ),
        (
            "PATCH",
            KUBERNETES,
            {"tokenReviewerJwt": None, "accessTokenTrustedIps": [{"ipAddress": "10.0.0.0/8"}]},
        ),
    ),
    (kubernetes_auth.DetachKubernetesAuth("i-1"), ("DELETE", KUBERNETES, None)),
    (ldap_auth.GetLdapAuth("i-1"), ("GET", LDAP, None)),
    (
        ldap_auth.UpdateLdapAuth(
            "i-1",
            url="ldaps://ldap.example.com",
            bind_dn="cn=r,dc=e",
            bind_pass="cnry-reader",
            allowed_fields=(AllowedField(key="l", value="Basel"),),
        ),
        (
            "PATCH",
            LDAP,
            {
                "url": "ldaps://ldap.example.com",
                "bindDN": "cn=r,dc=e",
                "bindPass": "cnry-reader",
                "allowedFields": [{"key": "l", "value": "Basel"}],
            },
        ),
    ),
    (ldap_auth.UpdateLdapAuth("i-1", allowed_fields=()), ("PATCH", LDAP, {"allowedFields": []})),
    (ldap_auth.DetachLdapAuth("i-1"), ("DELETE", LDAP, None)),
    (ldap_auth.ClearLdapAuthLockouts("i-1"), ("POST", f"{LDAP}/clear-lockouts", None)),
    (
        memberships.PutIdentityMembership("i-1", project_id="p-1", roles=("viewer",)),
        ("POST", "/api/v1/projects/p-1/memberships/identities/i-1", {"roles": [{"role": "viewer"}]}),
    ),
    (
        memberships.RemoveIdentityMembership("i-1", project_id="p-1"),
        ("DELETE", "/api/v1/projects/p-1/memberships/identities/i-1", None),
    ),
    (
        memberships.PutUserMemberships(("a@example.com",), project_id="p-1"),
        (
            "POST",
            "/api/v1/projects/p-1/memberships",
            {"emails": ["a@example.com"], "usernames": [], "roleSlugs": ["member"]},
        ),
    ),
    (
        memberships.UpdateUserMembership("m-1", project_id="p-1", roles=("admin",)),
        ("PATCH", "/api/v1/projects/p-1/memberships/m-1", {"roles": [{"role": "admin"}]}),
    ),
    (
        memberships.RemoveUserMembership("m-1", project_id="p-1"),
        ("DELETE", "/api/v1/projects/p-1/memberships/m-1", None),
    ),
    (
        users.CreateUser("a@example.com", "cnry-password", first_name="Ada"),
        (
            "POST",
            "/api/v1/users",
            {"email": "a@example.com", "password": "cnry-password", "role": "member", "firstName": "Ada"},
        ),
    ),
    (users.UpdateUser("u-1", role="admin"), ("PATCH", "/api/v1/users/u-1", {"role": "admin"})),
    (
        users.ChangePassword("cnry-old", "cnry-new-password"),
        (
            "POST",
            "/api/v1/user/password",
            {"currentPassword": "cnry-old", "newPassword": "cnry-new-password"},
        ),
    ),
    (
        tokens.UserAuth("a@example.com", "cnry-password"),
        ("POST", "/api/v3/auth/login", {"email": "a@example.com", "password": "cnry-password"}),
    ),
    (
        tokens.SelectOrganization("o-1"),
        ("POST", "/api/v3/auth/select-organization", {"organizationId": "o-1"}),
    ),
    (
        called(grants.CREATE)("i-1", actions=("read",), environment="*", effect="deny", project_id="p-1"),
        (
            "POST",
            "/api/v1/projects/p-1/grants",
            {
                "identityId": "i-1",
                "effect": "deny",
                "subjects": ["secrets"],
                "actions": ["read"],
                "environment": "*",
                "secretPath": "/**",
            },
        ),
    ),
    (
        called(grants.UPDATE)("g-1", secret_path="/a/**", project_id="p-1"),
        ("PATCH", "/api/v1/projects/p-1/grants/g-1", {"secretPath": "/a/**"}),
    ),
    (called(grants.DELETE)("g-1", project_id="p-1"), ("DELETE", "/api/v1/projects/p-1/grants/g-1", None)),
    (
        secret_batches.UpdateSecrets(
            (
                secret_batches.ChangedSecret(
                    "A", "cnry-1", new_metadata=(SecretMetadata(key="k", value="v"),)
                ),
            ),
            mode="upsert",
            **PLACE,
        ),
        (
            "PATCH",
            "/api/v4/secrets/batch",
            {
                **WIRE_PLACE,
                "secretPath": "/",
                "type": "shared",
                "mode": "upsert",
                "secrets": [
                    {
                        "secretKey": "A",
                        "secretValue": "cnry-1",
                        "secretMetadata": [{"key": "k", "value": "v", "isEncrypted": False}],
                    }
                ],
            },
        ),
    ),
    (
        secret_moves.MoveSecrets(
            ("1", "2"),
            project_id="p-1",
            source_environment="dev",
            destination_environment="prod",
            destination_secret_path="/a",
        ),
        (
            "POST",
            "/api/v4/secrets/move",
            {
                "projectId": "p-1",
                "sourceEnvironment": "dev",
                "sourceSecretPath": "/",
                "destinationEnvironment": "prod",
                "destinationSecretPath": "/a",
                "secretIds": ["1", "2"],
                "shouldOverwrite": False,
            },
        ),
    ),
    (secret_moves.ListSecretVersions("1"), ("GET", "/api/v1/secret/1/secret-versions", None)),
    (
        secret_batches.DeleteSecrets(("A", "B"), **PLACE),
        (
            "DELETE",
            "/api/v4/secrets/batch",
            {
                **WIRE_PLACE,
                "secretPath": "/",
                "type": "shared",
                "secrets": [{"secretKey": "A", "type": "shared"}, {"secretKey": "B", "type": "shared"}],
            },
        ),
    ),
]


@each_row(
    ("operation", "expected"),
    REQUESTS,
    ids=[f"{operation.operation_name}, row {row}" for row, (operation, _) in enumerate(REQUESTS)],
)
def test_a_request_is_built_as_the_interface_says(operation: Operation[Any], expected: Sent) -> None:
    assert sent(operation) == expected
    # What writes is never sent twice, unless it surely never arrived; a login may be.
    writes = expected[0] != "GET" and not isinstance(operation, (tokens.UserAuth, tokens.SelectOrganization))
    assert operation.repeat is (Repeat.UNSENT_ONLY if writes else Repeat.FREELY)
    assert "cnry-" not in repr(operation)


def test_settings_that_are_not_given_are_left_to_the_service() -> None:
    _, _, body = sent(
        ldap_auth.AttachLdapAuth(
            "i-1", url="ldaps://l", bind_dn="cn=r", bind_pass="cnry-reader", search_base="dc=e"
        )
    )
    assert body is not None
    assert {key: body[key] for key in ("url", "bindDN", "bindPass", "searchBase", "searchFilter")} == {
        "url": "ldaps://l",
        "bindDN": "cn=r",
        "bindPass": "cnry-reader",
        "searchBase": "dc=e",
        "searchFilter": "(uid={{username}})",
    }


def test_the_audit_log_is_asked_for_in_utc() -> None:
    request = audit_logs.ListAuditLogs(
        project_id="p-1", event_types=("create-secret", "delete-secret"), start=LATER, limit=7
    ).request()
    assert dict(request.query) == {
        "projectId": "p-1",
        "eventType": "create-secret,delete-secret",
        "startDate": "2026-01-02T02:04:05Z",
        "offset": "0",
        "limit": "7",
    }


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="time zone"):
        audit_logs.ListAuditLogs(end=LATER.replace(tzinfo=None)).request()


def test_own_values_are_asked_for_only_when_wanted() -> None:
    assert "includePersonalOverrides" not in dict(secret_reads.ListSecrets(**PLACE).request().query)
    asked = secret_reads.ListSecrets(include_personal_overrides=True, **PLACE).request()
    assert dict(asked.query)["includePersonalOverrides"] == "true"


@each_row(
    "operation",
    [
        users.CreateUser("a@example.com", "cnry-password"),
        users.UpdateUser("u-1", password="cnry-password"),
        users.ChangePassword("cnry-old", "cnry-new-password"),
        tokens.UserAuth("a@example.com", "cnry-password"),
        kubernetes_auth.AttachKubernetesAuth(
            "i-1", kubernetes_host="https://k.example.com", token_reviewer_jwt="cnry-reviewer"
        ),
        kubernetes_auth.UpdateKubernetesAuth("i-1", token_reviewer_jwt="cnry-reviewer"),
        ldap_auth.AttachLdapAuth(
            "i-1", url="ldaps://l", bind_dn="cn=r", bind_pass="cnry-reader", search_base="dc=e"
        ),
        ldap_auth.UpdateLdapAuth("i-1", bind_pass="cnry-reader"),
        secret_batches.CreateSecrets((secret_batches.NewSecret("A", "cnry-1"),), **PLACE),
        secret_batches.UpdateSecrets((secret_batches.ChangedSecret("A", "cnry-1"),), **PLACE),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_what_no_error_may_repeat_is_known(operation: Operation[Any]) -> None:
    assert operation.confidential()
    assert all(text.startswith("cnry-") for text in operation.confidential())
    assert "cnry-" not in repr(operation)


def test_a_mask_is_no_value_of_a_batch_either() -> None:
    for make in (secret_batches.NewSecret, secret_batches.ChangedSecret):
        with pytest.raises(InvalidArgument, match="mask"):
            make("A", "<hidden-by-infisical>")


def test_a_password_that_is_too_short_is_refused_without_showing_it() -> None:
    with pytest.raises(InvalidArgument, match="password") as refused:
        users.CreateUser("a@example.com", "cnry-pw").request()
    assert "cnry-" not in str(refused.value)
