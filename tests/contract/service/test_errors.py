from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from keybearer.wire.errors import ErrorBody
from keybearer.wire.limits import REQUEST_BODY_MAX_BYTES
from support.databases import OwnDatabase
from support.rows import each_row
from support.service_fixtures import Client, Project, Service, Starter
from tools.local.waiting import eventually

JSON = {"content-type": "application/json"}


@pytest.fixture
def admin(service: Service) -> Client:
    return service.admin_client()


@pytest.fixture
def project(service: Service) -> Project:
    return service.create_project()


_VARYING = dict.fromkeys(("date", "x-request-id", "etag"))
"""Headers of an answer that are its own, and of its body as the case may be."""


def told(response: httpx.Response) -> ErrorBody:
    content = response.json()
    body = ErrorBody.model_validate(content)
    assert set(content) <= {"reqId", "statusCode", "message", "error", "details"}
    assert body.status_code == response.status_code
    assert body.req_id == response.headers["x-request-id"]
    assert body.req_id.startswith("req-")
    return body


@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("GET", "/x", id="nothing of ours"),
        pytest.param("GET", "/api/v9/secrets", id="another version"),
        pytest.param("PUT", "/api/status", id="a known path, another method"),
        pytest.param("GET", "/", id="the root"),
    ],
)
def test_an_unknown_route_is_told_as_the_published_service_does(
    service: Service, method: str, path: str
) -> None:
    response = service.client().request(method, path)
    body = told(response)
    assert (response.status_code, body.error) == (404, "Not Found")
    assert body.message == f"Route {method}:{path} not found"


def test_a_head_is_a_get_without_its_body(service: Service, admin: Client, project: Project) -> None:
    list_of_secrets = f"/api/v4/secrets?projectId={project.id}&environment=dev"
    for client, path in (
        (service.client(), "/api/status"),
        (admin, list_of_secrets),
        (admin, f"/api/v1/projects/{project.id}"),
        (admin, f"/api/v1/projects/{project.id}/tags"),
        (admin, "/api/v1/projects/nowhere"),
        (service.client(), list_of_secrets),
    ):
        read, asked = client.get(path), client.request("HEAD", path)
        assert (asked.status_code, asked.content) == (read.status_code, b"")
        assert {**asked.headers, **_VARYING} == {**read.headers, **_VARYING}


@each_row(
    ("path", "body", "where", "told"),
    [
        ("/api/v1/projects", [], [], "Input should be an object"),
        ("/api/v4/secrets/A", {"secretMetadata": [1]}, ["secretMetadata", 0], "Input should be an object"),
        ("/api/v4/secrets/A", {"tagIds": ["x"] * 101}, ["tagIds"], "must have at most 100 items"),
        ("/api/v4/secrets/batch", {"secrets": []}, ["secrets"], "must have at least 1 item"),
    ],
)
def test_a_violation_is_told_without_words_of_python(
    admin: Client, project: Project, path: str, body: object, where: list[object], told: str
) -> None:
    place = {"projectId": project.id, "environment": "dev", "secretValue": "cnry-v"}
    sent = {**place, **body} if isinstance(body, dict) else body
    refused = admin.json("POST", path, status=422, json=sent)
    assert [(issue["path"], issue["message"]) for issue in refused["message"]] == [(where, told)]


@each_row(
    ("path", "where"),
    [
        ("/api/v1/cert-manager/certificate-profiles/nonsense", ["id"]),
        ("/api/v1/secret-syncs/codehost/nonsense", ["syncId"]),
    ],
)
def test_a_parameter_of_the_path_is_called_as_the_interface_calls_it(
    admin: Client, path: str, where: list[str]
) -> None:
    [issue] = admin.json("DELETE", path, status=422)["message"]
    assert issue["path"] == where


def test_bad_json_is_400_and_does_not_come_back(admin: Client) -> None:
    response = admin.post("/api/v1/projects", content=b'{"projectName": "cnry-name"', headers=JSON)
    assert (response.status_code, told(response).error) == (400, "BadRequest")
    assert "cnry" not in response.text


@each_row(
    "body",
    [
        pytest.param({"secretValue": {"cnry-key": "cnry-value"}}, id="an object for a text"),
        pytest.param({"secretValue": "cnry-value", "type": "cnry-type"}, id="an unknown enumeration value"),
        pytest.param({"secretValue": ["cnry-value"]}, id="a list for a text"),
        pytest.param({"secretValue": "cnry-v", "secretReminderRepeatDays": "cnry-days"}, id="no number"),
        pytest.param({"secretValue": "cnry-v", "tagIds": "cnry-tag"}, id="no list"),
        pytest.param({"secretValue": "cnry-v", "secretMetadata": [{"key": ""}]}, id="deep inside"),
        pytest.param({"secretValue": "cnry-v", "environment": "cnry-" + "e" * 60}, id="too long"),
    ],
)
def test_a_schema_violation_lists_issues_without_what_was_sent(
    admin: Client, project: Project, body: dict[str, object]
) -> None:
    sent = {"projectId": project.id, "environment": "dev", **body}
    response = admin.post("/api/v4/secrets/KEY", json=sent)
    problem = told(response)
    assert (response.status_code, problem.error) == (422, "ValidationFailure")
    assert isinstance(problem.message, list)
    assert all(issue.code and issue.path and issue.message for issue in problem.message)
    assert "cnry" not in response.text


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'"cnry-text"', id="a text"),
        pytest.param(b'["cnry-text"]', id="a list"),
        pytest.param(b"17", id="a number"),
        pytest.param(b"null", id="null"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_a_body_that_is_no_object_is_a_violation(admin: Client, content: bytes) -> None:
    response = admin.post("/api/v1/projects", content=content, headers=JSON)
    assert (response.status_code, told(response).error) == (422, "ValidationFailure")
    assert "cnry" not in response.text


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="objects without end"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="lists without end"),
        pytest.param(b'{"projectName": "\\ud800"}', id="half a character"),
        pytest.param(b'{"projectName": "\xff"}', id="no UTF-8"),
        pytest.param(b'{"projectName": 1e999}', id="a number beyond numbers"),
    ],
)
def test_a_hostile_body_is_a_refusal_and_no_failure(admin: Client, content: bytes) -> None:
    response = admin.post("/api/v1/projects", content=content, headers=JSON)
    told(response)
    assert response.status_code in {400, 422}


def test_deep_nesting_in_a_field_that_takes_anything_is_no_failure(admin: Client, project: Project) -> None:
    deep = '{"a":' * 3000 + "1" + "}" * 3000
    sent = json.dumps({"projectId": project.id, "environment": "dev", "secretValue": "cnry-v"})
    content = sent[:-1] + f', "metadata": {deep}}}'
    response = admin.post("/api/v4/secrets/DEEP", content=content, headers=JSON)
    assert response.status_code in {200, 400, 422}


def test_a_body_over_the_limit_is_refused(admin: Client) -> None:
    response = admin.post("/api/v1/projects", content=b" " * (REQUEST_BODY_MAX_BYTES + 1), headers=JSON)
    assert (response.status_code, told(response).error) == (413, "PayloadTooLarge")


def test_a_body_without_announced_length_is_bounded_while_it_streams(admin: Client) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(REQUEST_BODY_MAX_BYTES // 65_536 + 2):
            yield b" " * 65_536

    response = admin.post("/api/v1/projects", content=chunks(), headers=JSON)
    assert response.status_code == 413


def test_unknown_keys_are_ignored_in_bodies_and_queries(admin: Client, project: Project) -> None:
    body = {
        "projectId": project.id,
        "environment": "dev",
        "secretValue": "cnry-v",
        "secretName": "x",
        "App": 1,
    }
    admin.json("POST", "/api/v4/secrets/KEY", json=body)
    query = {"projectId": project.id, "environment": "dev", "SetSecretsAsEnvironmentVariables": "true"}
    assert len(admin.json("GET", "/api/v4/secrets", params=query)["secrets"]) == 1


def test_empty_values_of_a_query_count_as_absent(admin: Client, project: Project) -> None:
    query = {
        "workspaceId": "",
        "workspaceSlug": project.slug,
        "environment": "dev",
        "secretPath": "",
        "recursive": "",
        "tagSlugs": "",
    }
    assert admin.json("GET", "/api/v3/secrets/raw", params=query)["secrets"] == []


def test_too_many_fields_of_a_query_are_refused(admin: Client) -> None:
    query = "&".join(f"k{number}=v" for number in range(101))
    assert admin.get(f"/api/v4/secrets?{query}").status_code == 400


def test_a_refused_permission_names_the_rule(service: Service, project: Project) -> None:
    viewer = service.client(service.login(service.create_identity(roles={project.id: "viewer"})))
    body = {"projectId": project.id, "environment": "dev", "secretPath": "/a", "secretValue": "cnry-v"}
    response = viewer.post("/api/v4/secrets/KEY", json=body)
    problem = told(response)
    assert (response.status_code, problem.error) == (403, "PermissionDenied")
    assert problem.message == "You are not allowed to create on secrets"
    assert problem.details == [
        {
            "action": "create",
            "inverted": False,
            "subject": "secrets",
            "conditions": {"environment": "dev", "secretPath": "/a"},
        }
    ]


def logged(service: Service, request_id: str) -> dict[str, Any]:
    """Return the line of one request, which is written just after its answer."""

    def line() -> str | None:
        lines = service.log.read_text().splitlines()
        return next((line for line in lines if request_id in line), None)

    content: dict[str, Any] = json.loads(eventually(line, awaited="a line in the log"))
    return content


def test_every_answer_carries_its_request_id_and_is_logged_by_it(service: Service) -> None:
    line = logged(service, service.client().get("/api/status").headers["x-request-id"])
    assert (line["method"], line["route"], line["status"]) == ("GET", "/api/status", 200)
    assert line["duration_ms"] >= 0


def test_the_log_holds_templates_instead_of_paths(service: Service, admin: Client) -> None:
    response = admin.get("/api/v4/secrets/cnry-secret-name?projectId=p&environment=dev")
    line = logged(service, response.headers["x-request-id"])
    assert line["route"] == "/api/v4/secrets/{secret_name}"


def test_status_says_exactly_ok_without_a_token(service: Service) -> None:
    assert service.client().json("GET", "/api/status") == {"message": "Ok"}


def test_a_fault_that_nobody_foresaw_is_500_and_tells_nothing(
    start: Starter, own_database: OwnDatabase, tmp_path: Path
) -> None:
    running = start(tmp_path / "data")
    project = running.create_project()
    own_database.execute(running.data_dir, "ALTER TABLE tags RENAME TO cnry_tags")
    answer = running.admin_client().json("GET", f"/api/v1/projects/{project.id}/tags", status=500)
    assert (answer["error"], answer["message"]) == ("InternalServerError", "Something went wrong")
    running.stop()
    assert answer["reqId"] in running.log.read_text()
