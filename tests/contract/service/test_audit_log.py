"""The audit log over HTTP: what stands in it, what doesn't, and who may read it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keybearer.wire.audit import AuditLogList
from support.audit_house import AS_BEFORE_CHAINS
from support.databases import OwnDatabase
from support.rows import each_row
from support.service_fixtures import Client, Project, ProjectSecrets, Service, ServiceProcess, Starter, Strict
from tools.local.waiting import eventually

pytestmark = pytest.mark.every_database

AUDIT = "/api/v1/organization/audit-logs"


def logged(client: Client, project: Project | None = None, **query: object) -> list[dict[str, Any]]:
    """The log's lines, the oldest first."""
    params = {"limit": 1000, **({} if project is None else {"projectId": project.id}), **query}
    found: list[dict[str, Any]] = client.json("GET", AUDIT, params=params)["auditLogs"]
    return found[::-1]


def events(client: Client, project: Project, **query: object) -> list[str]:
    return [line["event"]["type"] for line in logged(client, project, **query)]


def test_a_line_says_who_did_what_from_where(
    service: Service, admin: Client, project: Project, secrets: ProjectSecrets, strict: Strict
) -> None:
    client = service.client(
        service.login(service.create_identity(name="robot", roles={project.id: "member"}))
    )
    body = {**secrets.at(), "secretValue": "cnry-value", "secretComment": "cnry-comment"}
    headers = {"user-agent": "k8-operator/1.2"}
    request_id = client.post("/api/v4/secrets/KEY", json=body, headers=headers).headers["x-request-id"]
    params = {"projectId": project.id, "eventType": "create-secret"}
    answer = admin.json("GET", AUDIT, params=params)
    strict(AuditLogList, answer)
    (line,) = answer["auditLogs"]
    assert line["event"] == {
        "type": "create-secret",
        "metadata": {"environment": "dev", "secretPath": "/", "secretKeys": ["KEY"]},
    }
    assert line["actor"]["type"] == "identity"
    assert line["actor"]["metadata"]["name"] == "robot"
    assert (line["ipAddress"], line["userAgent"]) == ("127.0.0.1", "k8-operator/1.2")
    assert line["userAgentType"] == "k8-operator"
    assert (line["requestId"], line["projectId"]) == (request_id, project.id)
    assert line["orgId"] == service.organization_id


def test_every_change_leaves_a_line_in_its_order(
    admin: Client, project: Project, secrets: ProjectSecrets
) -> None:
    secrets.folder("/a")
    secrets.create("KEY", "cnry-1")
    secrets.update("KEY", secretValue="cnry-2")
    items = [{"secretKey": key, "secretValue": "cnry-3"} for key in ("A", "B")]
    admin.json("POST", "/api/v4/secrets/batch", json={**secrets.at(), "secrets": items})
    secrets.delete("KEY")
    at = {"projectId": project.id, "environment": "dev", "path": "/"}
    folder = admin.json("GET", "/api/v2/folders", params=at)["folders"][0]["id"]
    admin.json("PATCH", f"/api/v2/folders/{folder}", json={**at, "name": "b"})
    admin.json("DELETE", f"/api/v2/folders/{folder}", json=at)
    base = f"/api/v1/projects/{project.id}"
    made = admin.json("POST", f"{base}/environments", json={"name": "Q", "slug": "q"})["environment"]["id"]
    admin.json("PATCH", f"{base}/environments/{made}", json={"name": "R"})
    admin.json("DELETE", f"{base}/environments/{made}")
    tag = admin.json("POST", f"{base}/tags", json={"slug": "t", "name": "T"})["tag"]["id"]
    admin.json("DELETE", f"{base}/tags/{tag}")
    admin.json("PATCH", base, json={"name": "Other"})
    assert events(admin, project) == [
        "create-project",
        "create-folder",
        "create-secret",
        "update-secret",
        "create-secrets",
        "delete-secret",
        "update-folder",
        "delete-folder",
        "create-environment",
        "update-environment",
        "delete-environment",
        "create-tag",
        "delete-tag",
        "update-project",
    ]


def test_identities_and_their_credentials_leave_lines(service: Service, admin: Client) -> None:
    start = datetime.now(UTC).isoformat()
    made = service.create_identity()
    service.login(made)
    base = f"/api/v1/auth/universal-auth/identities/{made.identity_id}"
    secret = admin.json("GET", f"{base}/client-secrets")["clientSecretData"][0]["id"]
    admin.json("POST", f"{base}/client-secrets/{secret}/revoke")
    admin.json("PATCH", base, json={"accessTokenNumUsesLimit": 7})
    admin.json("DELETE", base)
    admin.json("PATCH", f"/api/v1/identities/{made.identity_id}", json={"name": "renamed"})
    admin.json("DELETE", f"/api/v1/identities/{made.identity_id}")
    lines = [
        line
        for line in logged(admin, startDate=start)
        if line["event"]["metadata"].get("identityId") == made.identity_id
    ]
    assert [line["event"]["type"] for line in lines] == [
        "create-identity",
        "add-identity-universal-auth",
        "create-identity-universal-auth-client-secret",
        "login-identity-universal-auth",
        "revoke-identity-universal-auth-client-secret",
        "update-identity-universal-auth",
        "revoke-identity-universal-auth",
        "update-identity",
        "delete-identity",
    ]
    assert made.client_secret not in str(lines)


def test_what_was_undone_leaves_no_line(admin: Client, project: Project, secrets: ProjectSecrets) -> None:
    secrets.create("KEY", "cnry-1")
    items = [{"secretKey": key, "secretValue": "cnry-2"} for key in ("NEW", "KEY")]
    admin.json("POST", "/api/v4/secrets/batch", status=400, json={**secrets.at(), "secrets": items})
    assert events(admin, project) == ["create-project", "create-secret"]


def test_reading_values_leaves_a_line_per_request_and_reading_names_none(
    service: Service, admin: Client, project: Project, secrets: ProjectSecrets
) -> None:
    secrets.create("A", "cnry-a")
    secrets.create("B", "cnry-b")
    reader = service.client(service.login(service.create_identity(roles={project.id: "viewer"})))
    mine = ProjectSecrets(reader, project)
    mine.list(viewSecretValue="false")
    mine.get("A", viewSecretValue="false")
    mine.get("A")
    mine.list()
    lines = logged(admin, project, eventType="get-secret,get-secrets")
    one, several = (line["event"]["metadata"] for line in lines)
    assert (one["secretKey"], one["secretVersion"], one["secretPath"]) == ("A", 1, "/")
    assert (several["secretKeys"], several["numberOfSecrets"]) == (["A", "B"], 2)


def test_an_answer_from_memory_leaves_one_line_a_minute_and_an_unchanged_one_none(
    service: Service, admin: Client, project: Project, secrets: ProjectSecrets, database_kind: str
) -> None:
    secrets.create("A", "cnry-a")
    reader = service.client(service.login(service.create_identity(roles={project.id: "viewer"})))
    params = secrets.at()
    first = reader.get("/api/v4/secrets", params=params)
    for _ in range(5):
        tag = {"if-none-match": first.headers["etag"]}
        assert reader.get("/api/v4/secrets", params=params, headers=tag).status_code == 304
    assert len(logged(admin, project, eventType="get-secrets")) == 1
    if database_kind != "sqlite":
        return  # with other processes on the database, nothing is kept in memory
    for _ in range(5):
        assert reader.get("/api/v4/secrets", params=params).status_code == 200
    # The five may touch two minutes.
    assert len(logged(admin, project, eventType="get-secrets")) in (2, 3)


def test_long_lists_of_names_are_cut(admin: Client, project: Project, secrets: ProjectSecrets) -> None:
    items = [{"secretKey": f"KEY{number:03}", "secretValue": "cnry-x"} for number in range(120)]
    admin.json("POST", "/api/v4/secrets/batch", json={**secrets.at(), "secrets": items})
    (line,) = logged(admin, project, eventType="create-secrets")
    assert len(line["event"]["metadata"]["secretKeys"]) == 50
    assert line["event"]["metadata"]["secretKeysTotal"] == 120


@pytest.fixture
def quiet(start: Starter, tmp_path: Path) -> Iterator[ServiceProcess]:
    """A service of the test's own: refusals of a minute are bounded for all actors together."""
    running = start(tmp_path / "data")
    yield running
    running.stop()


def test_refusals_leave_lines_with_their_place_as_many_as_a_minute_has_room_for(
    quiet: ServiceProcess,
) -> None:
    project = quiet.create_project()
    identity = quiet.create_identity(roles={project.id: "viewer"})
    mine = ProjectSecrets(quiet.client(quiet.login(identity)), project)
    for _ in range(70):
        mine.create("KEY", "cnry-x", path="/app", status=403)
    found = logged(quiet.admin_client(), project, eventType="access-denied", actor=identity.identity_id)
    # The requests touch two minutes at most.
    assert 30 <= len(found) <= 60
    assert found[0]["event"]["metadata"] == {
        "method": "POST",
        "route": "/api/v4/secrets/{secret_name}",
        "action": "create",
        "subject": "secrets",
        "environment": "dev",
        "secretPath": "/app",
    }


def test_logins_that_fail_leave_lines_with_the_identity_but_none_of_what_was_tried(
    quiet: ServiceProcess,
) -> None:
    identity = quiet.create_identity()
    path = "/api/v1/auth/universal-auth/login"
    for client_id in (identity.client_id, "cnry-nobody"):
        body = {"clientId": client_id, "clientSecret": "cnry-wrong"}
        quiet.client().json("POST", path, status=401, json=body)
    body = {"email": "cnry-nobody@example.com", "password": "cnry-wrong"}
    quiet.client().json("POST", "/api/v3/auth/login", status=401, json=body)
    lines = logged(quiet.admin_client(), eventType="login-failed", actorType="unknown")
    reason = "Invalid credentials"
    assert [line["event"]["metadata"] for line in lines] == [
        {"method": "universal-auth", "reason": reason, "identityId": identity.identity_id},
        {"method": "universal-auth", "reason": reason, "identityId": None},
        {"method": "user", "reason": reason, "identityId": None},
    ]
    assert all(line["actor"] == {"type": "unknown", "metadata": {}} for line in lines)
    assert all(line["ipAddress"] == "127.0.0.1" for line in lines)
    assert "cnry" not in str(lines)


def test_a_current_password_that_is_wrong_leaves_a_line_as_a_login_does(quiet: ServiceProcess) -> None:
    admin = quiet.admin_client()
    email, password = "ada@example.com", "cnry-correct-horse-battery"
    user = admin.json("POST", "/api/v1/users", json={"email": email, "password": password})["user"]
    login = quiet.client().json("POST", "/api/v3/auth/login", json={"email": email, "password": password})
    body = {"currentPassword": "cnry-wrong", "newPassword": "cnry-another-long-one"}
    quiet.client(login["accessToken"]).json("POST", "/api/v1/user/password", status=400, json=body)
    [line] = logged(admin, eventType="login-failed", actor=user["id"])
    assert line["event"]["metadata"] == {
        "method": "user",
        "reason": "Invalid credentials",
        "identityId": user["id"],
    }
    assert "cnry" not in str(line)


def test_lines_are_filtered_and_paged(admin: Client, project: Project, secrets: ProjectSecrets) -> None:
    for number in range(5):
        secrets.create(f"KEY{number}", "cnry-x")
    everything = logged(admin, project)
    newest = admin.json("GET", AUDIT, params={"projectId": project.id, "limit": 2, "offset": 1})["auditLogs"]
    assert newest == everything[::-1][1:3]
    instant = everything[2]["createdAt"]
    later = logged(admin, project, startDate=instant)
    earlier = logged(admin, project, endDate=instant)
    assert all(line["createdAt"] >= instant for line in later)
    assert all(line["createdAt"] <= instant for line in earlier)
    assert len(later) + len(earlier) > len(everything)
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert logged(admin, project, startDate=tomorrow) == []
    assert logged(admin, project, actor="nobody") == []
    assert logged(admin, project, actorType="user") == []


@each_row(
    ("query", "status"),
    [
        pytest.param({"limit": 0}, 422, id="no lines"),
        pytest.param({"limit": 1}, 200, id="one line"),
        pytest.param({"limit": 1000}, 200, id="a thousand lines"),
        pytest.param({"limit": 1001}, 422, id="a line more"),
        pytest.param({"offset": -1}, 422, id="before the first"),
        pytest.param({"offset": 100_001}, 422, id="too far"),
        pytest.param({"startDate": "yesterday"}, 422, id="no instant"),
        pytest.param({"startDate": "2026-01-01T00:00:00"}, 422, id="an instant without an offset"),
        pytest.param({"actorType": "ghost"}, 422, id="no kind of actor"),
    ],
)
def test_a_question_has_bounds(admin: Client, query: dict[str, Any], status: int) -> None:
    admin.json("GET", AUDIT, status=status, params=query)


def test_admins_of_a_project_see_their_project_alone(service: Service, project: Project) -> None:
    other = service.create_project()
    local = service.client(service.login(service.create_identity(roles={project.id: "admin"})))
    assert "create-project" in events(local, project)
    local.json("GET", AUDIT, status=403)
    local.json("GET", AUDIT, status=403, params={"projectId": other.id})
    local.json("GET", AUDIT, status=404, params={"projectId": "nowhere"})
    for role in ("member", "viewer", "no-access"):
        someone = service.client(service.login(service.create_identity(roles={project.id: role})))
        refused = someone.json("GET", AUDIT, status=403, params={"projectId": project.id})
        assert refused["details"][0]["subject"] == "audit-logs"


def test_lines_outlive_the_project(service: Service, admin: Client) -> None:
    gone = service.create_project()
    admin.json("DELETE", f"/api/v1/projects/{gone.id}")
    assert events(admin, gone) == ["create-project", "delete-project"]


def test_secrets_whose_references_follow_a_rename_leave_a_line(
    admin: Client, project: Project, secrets: ProjectSecrets
) -> None:
    secrets.create("OLD", "cnry-x")
    secrets.create("REF", "${OLD}")
    secrets.update("OLD", newSecretName="NEW")
    lines = logged(admin, project, eventType="update-secret")
    told = {
        line["event"]["metadata"]["secretKeys"][0]: line["event"]["metadata"].get("cause") for line in lines
    }
    assert told == {"NEW": None, "REF": "references-follow"}


def test_with_a_strict_log_what_was_read_outlives_a_kill(start: Starter, tmp_path: Path) -> None:
    first = start(tmp_path / "data", "--audit-strict")
    project = first.create_project()
    first.create_secret(project, "KEY", "cnry-x")
    secrets = ProjectSecrets(first.admin_client(), project)
    secrets.get("KEY")
    for _ in range(2):
        assert secrets.values() == {"KEY": "cnry-x"}
    first.kill()
    second = start(tmp_path / "data")
    try:
        told = events(second.admin_client(), project)
    finally:
        second.stop()
    assert told == ["create-project", "create-secret", "get-secret", "get-secrets", "get-secrets"]


def test_what_was_read_outlives_a_stop_and_what_is_too_old_goes_at_the_next_start(
    start: Starter, own_database: OwnDatabase, tmp_path: Path
) -> None:
    first = start(tmp_path / "data")
    project = first.create_project()
    first.create_secret(project, "KEY", "cnry-x")
    ProjectSecrets(first.admin_client(), project).get("KEY")
    assert first.stop() == 0
    second = start(tmp_path / "data")
    assert events(second.admin_client(), project) == ["create-project", "create-secret", "get-secret"]
    assert second.stop() == 0
    days = "UPDATE audit_log SET created_at = created_at - 8 * 86400000 WHERE event_type <> 'create-secret'"
    own_database.execute(tmp_path / "data", days)
    # As an earlier version left them: of a chain, only the beginning is cut, and these dates are in any order.
    for statement in AS_BEFORE_CHAINS:
        own_database.execute(tmp_path / "data", statement)
    third = start(tmp_path / "data", "--audit-retention-days=7")
    try:
        eventually(
            lambda: events(third.admin_client(), project) == ["create-secret"],
            awaited="the end of the lines that are too old",
        )
    finally:
        third.stop()
