"""The 304 law: a tag holds as long as nothing that the answer depends on has moved, and not longer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.service_fixtures import Client, Project, ProjectSecrets, Service, Starter
from tools.local.plain_http import plain_client

pytestmark = pytest.mark.every_database

LISTS = [
    pytest.param("/api/v4/secrets", "projectId", id="v4"),
    pytest.param("/api/v3/secrets/raw", "workspaceId", id="v3"),
]


def ask(client: Client, secrets: ProjectSecrets, tag: str = "", **query: str) -> httpx.Response:
    params = {**secrets.at(), **query}
    return client.get("/api/v4/secrets", params=params, headers={"if-none-match": tag} if tag else {})


@pytest.mark.parametrize(("path", "name"), LISTS)
def test_an_unchanged_list_is_304_without_a_body(
    admin: Client, secrets: ProjectSecrets, project: Project, path: str, name: str
) -> None:
    secrets.create("A", "cnry-a")
    params = {name: project.id, "environment": "dev"}
    tag = admin.get(path, params=params).headers["etag"]
    for sent in (tag, f"W/{tag}", f'"other", {tag}'):
        answer = admin.get(path, params=params, headers={"if-none-match": sent})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    for sent in ('"other"', tag[:-2] + '"', "*", "W/"):
        assert admin.get(path, params=params, headers={"if-none-match": sent}).status_code == 200


def test_the_same_list_has_the_same_tag_for_every_token_of_an_identity(
    service: Service, secrets: ProjectSecrets
) -> None:
    identity = service.create_identity(roles={secrets.project.id: "viewer"})
    tags = {ask(service.client(service.login(identity)), secrets).headers["etag"] for _ in range(2)}
    assert len(tags) == 1


def test_tags_of_different_questions_and_askers_differ(service: Service, secrets: ProjectSecrets) -> None:
    viewer = service.client(service.login(service.create_identity(roles={secrets.project.id: "viewer"})))
    queries = [
        {},
        {"recursive": "true"},
        {"expandSecretReferences": "false"},
        {"viewSecretValue": "false"},
        {"includeImports": "false"},
        {"secretPath": "/a"},
        {"environment": "prod"},
        {"tagSlugs": "a"},
        {"metadataFilter": "key=a"},
        {"metadataFilter": "value=a"},
        {"metadataFilter": "key=,value=a"},
        {"metadataFilter": "key=a,value="},
    ]
    tags = [
        ask(client, secrets, **query).headers["etag"]
        for client in (viewer, secrets.client)
        for query in queries
    ]
    assert len(set(tags)) == len(tags)


def test_equal_questions_in_other_words_have_one_tag(secrets: ProjectSecrets) -> None:
    plain = ask(secrets.client, secrets).headers["etag"]
    for query in (
        {"secretPath": ""},
        {"recursive": "false"},
        {"unknown": "x"},
        {"expandSecretReferences": "1"},
    ):
        assert ask(secrets.client, secrets, **query).headers["etag"] == plain


CHANGES: list[Any] = [
    pytest.param(lambda s: s.create("NEW", "cnry-n"), id="a secret appears"),
    pytest.param(lambda s: s.update("A", secretValue="cnry-b"), id="a value changes"),
    pytest.param(lambda s: s.update("A", secretComment="c"), id="a comment changes"),
    pytest.param(lambda s: s.update("A", newSecretName="B"), id="a name changes"),
    pytest.param(lambda s: s.delete("A"), id="a secret goes"),
    pytest.param(
        lambda s: s.create("A", "cnry-elsewhere", environment="prod"), id="another environment changes"
    ),
    pytest.param(lambda s: s.folder("/new"), id="a folder appears"),
    pytest.param(
        lambda s: s.client.json("PATCH", f"/api/v1/projects/{s.project.id}", json={"name": "renamed"}),
        id="the project is renamed",
    ),
]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_in_the_project_ends_the_tag(
    secrets: ProjectSecrets, change: Callable[[ProjectSecrets], object]
) -> None:
    secrets.create("A", "cnry-a")
    tag = ask(secrets.client, secrets).headers["etag"]
    assert ask(secrets.client, secrets, tag).status_code == 304
    change(secrets)
    answer = ask(secrets.client, secrets, tag)
    assert answer.status_code == 200
    assert answer.headers["etag"] != tag


def test_a_refused_change_keeps_the_tag(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a")
    tag = ask(secrets.client, secrets).headers["etag"]
    secrets.create("A", "cnry-again", status=400)
    secrets.update("GONE", status=404, secretValue="cnry-v")
    assert ask(secrets.client, secrets, tag).status_code == 304


def test_a_change_of_another_project_keeps_the_tag(service: Service, secrets: ProjectSecrets) -> None:
    other = service.create_project()
    tag = ask(secrets.client, secrets).headers["etag"]
    service.create_secret(other, "X", "cnry-x")
    assert ask(secrets.client, secrets, tag).status_code == 304


def test_a_grant_and_its_loss_end_the_tag(service: Service, secrets: ProjectSecrets) -> None:
    identity = service.create_identity(roles={secrets.project.id: "viewer"})
    client = service.client(service.login(identity))
    tag = ask(client, secrets).headers["etag"]
    path = f"/api/v1/projects/{secrets.project.id}/memberships/identities/{identity.identity_id}"
    secrets.client.json("POST", path, json={"roles": [{"role": "member"}]})
    second = ask(client, secrets, tag)
    assert (second.status_code, second.headers["etag"] == tag) == (200, False)
    secrets.client.json("PATCH", path, json={"roles": [{"role": "no-access"}]})
    assert ask(client, secrets, second.headers["etag"]).status_code == 403
    secrets.client.json("DELETE", path)
    assert ask(client, secrets, second.headers["etag"]).status_code == 403


def test_an_organization_role_and_its_loss_end_the_tag(service: Service, secrets: ProjectSecrets) -> None:
    identity = service.create_identity(organization_role="admin")
    client = service.client(service.login(identity))
    tag = ask(client, secrets).headers["etag"]
    path = f"/api/v1/identities/{identity.identity_id}"
    secrets.client.json("PATCH", path, json={"role": "no-access"})
    assert ask(client, secrets, tag).status_code == 403


def test_a_list_that_shows_less_without_an_organization_role_has_another_tag(
    service: Service, secrets: ProjectSecrets
) -> None:
    """No secret has changed: the tag ends by what its reader may do."""
    secrets.folder("/web")
    secrets.create("ROOT", "cnry-root")
    secrets.create("WEB", "cnry-web", path="/web")
    identity = service.create_identity(organization_role="admin", roles={secrets.project.id: "no-access"})
    place = {"environment": "dev", "secretPath": "/web/**"}
    grant = {"identityId": identity.identity_id, "actions": ["read", "read-value"], **place}
    secrets.client.json("POST", f"/api/v1/projects/{secrets.project.id}/grants", json=grant)
    client = service.client(service.login(identity))
    whole = ask(client, secrets, recursive="true")
    assert [one["secretKey"] for one in whole.json()["secrets"]] == ["ROOT", "WEB"]
    secrets.client.json("PATCH", f"/api/v1/identities/{identity.identity_id}", json={"role": "no-access"})
    part = ask(client, secrets, whole.headers["etag"], recursive="true")
    assert part.status_code == 200
    assert [one["secretKey"] for one in part.json()["secrets"]] == ["WEB"]


def test_a_change_in_a_referenced_project_ends_the_tag(service: Service, secrets: ProjectSecrets) -> None:
    other = service.create_project(name="other")
    service.create_secret(other, "KEY", "cnry-one")
    secrets.create("A", f"${{@{other.slug}.dev.KEY}}")
    first = ask(secrets.client, secrets)
    assert ask(secrets.client, secrets, first.headers["etag"]).status_code == 304
    body = {"projectId": other.id, "environment": "dev", "secretValue": "cnry-two"}
    secrets.client.json("PATCH", "/api/v4/secrets/KEY", json=body)
    second = ask(secrets.client, secrets, first.headers["etag"])
    assert second.status_code == 200
    assert second.json()["secrets"][0]["secretValue"] == "cnry-two"


def test_a_missing_project_that_appears_under_its_slug_ends_the_tag(
    service: Service, secrets: ProjectSecrets
) -> None:
    slug = f"late-{secrets.project.slug[-8:]}"
    secrets.create("A", f"${{@{slug}.dev.KEY}}")
    tag = ask(secrets.client, secrets).headers["etag"]
    assert ask(secrets.client, secrets, tag).status_code == 304
    late = service.create_project(name="unrelated")
    secrets.client.json("PATCH", f"/api/v1/projects/{late.id}", json={"slug": slug})
    service.create_secret(late, "KEY", "cnry-late")
    answer = ask(secrets.client, secrets, tag)
    assert answer.status_code == 200
    assert answer.json()["secrets"][0]["secretValue"] == "cnry-late"


def test_a_missing_secret_that_appears_in_a_referenced_project_ends_the_tag(
    service: Service, secrets: ProjectSecrets
) -> None:
    other = service.create_project(name="other")
    secrets.create("A", f"${{@{other.slug}.dev.KEY}}")
    tag = ask(secrets.client, secrets).headers["etag"]
    service.create_secret(other, "KEY", "cnry-now")
    assert ask(secrets.client, secrets, tag).json()["secrets"][0]["secretValue"] == "cnry-now"


def test_a_deleted_project_ends_its_tags(service: Service, secrets: ProjectSecrets) -> None:
    tag = ask(secrets.client, secrets).headers["etag"]
    secrets.client.json("DELETE", f"/api/v1/projects/{secrets.project.id}")
    assert ask(secrets.client, secrets, tag).status_code == 404
    assert service.client().get("/api/status").status_code == 200


def test_a_tag_of_another_identity_is_of_no_use(service: Service, secrets: ProjectSecrets) -> None:
    tag = ask(secrets.client, secrets).headers["etag"]
    stranger = service.client(service.login(service.create_identity()))
    assert ask(stranger, secrets, tag).status_code == 403


def test_a_tag_outlives_a_restart(start: Starter, tmp_path: Path) -> None:
    first = start(tmp_path / "data")
    project, other = first.create_project(), first.create_project(name="other")
    first.create_secret(other, "KEY", "cnry-other")
    first.create_secret(project, "A", f"${{@{other.slug}.dev.KEY}}")
    identity = first.create_identity(roles={project.id: "viewer", other.id: "viewer"})
    params = {"projectId": project.id, "environment": "dev"}
    tag = first.client(first.login(identity)).get("/api/v4/secrets", params=params).headers["etag"]
    first.kill()
    second = start(tmp_path / "data")
    try:
        client = second.client(second.login(identity))
        answer = client.get("/api/v4/secrets", params=params, headers={"if-none-match": tag})
        assert answer.status_code == 304
        body = {"projectId": other.id, "environment": "dev", "secretValue": "cnry-new"}
        second.admin_client().json("PATCH", "/api/v4/secrets/KEY", json=body)
        answer = client.get("/api/v4/secrets", params=params, headers={"if-none-match": tag})
        assert answer.json()["secrets"][0]["secretValue"] == "cnry-new"
    finally:
        second.stop()


def test_a_read_that_follows_an_answered_write_sees_it_however_many_read(
    service: Service, secrets: ProjectSecrets
) -> None:
    secrets.create("A", "cnry-0")
    token = secrets.client.headers["authorization"].removeprefix("Bearer ")
    done = threading.Event()

    def read_on() -> None:
        with plain_client(service.url, secrets.client.headers) as client:
            while not done.is_set():
                client.get("/api/v4/secrets", params=secrets.at())

    readers = [threading.Thread(target=read_on) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        other = service.client(token)
        tag = ""
        for number in range(1, 40):
            secrets.update("A", secretValue=f"cnry-{number}")
            answer = ask(other, secrets, tag)
            assert answer.status_code == 200
            assert answer.json()["secrets"][0]["secretValue"] == f"cnry-{number}"
            tag = answer.headers["etag"]
    finally:
        done.set()
        for reader in readers:
            reader.join()


def test_many_writers_at_once_all_succeed(service: Service, secrets: ProjectSecrets) -> None:
    headers = secrets.client.headers

    def write(worker: int) -> list[int]:
        with plain_client(service.url, headers) as client:
            return [
                client.post(
                    f"/api/v4/secrets/W{worker}_{number}", json={**secrets.at(), "secretValue": "cnry-v"}
                ).status_code
                for number in range(5)
            ]

    with ThreadPoolExecutor(8) as pool:
        statuses = [status for written in pool.map(write, range(8)) for status in written]
    assert statuses == [200] * 40
    assert len(secrets.values()) == 40
