"""npm's `@infisical/sdk`, unmodified, through every operation that it has for secrets and projects (wire.md 9.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.sdks.published import PublishedClient, PublishedError
from support.service_fixtures import Project, ProjectSecrets, Service, Starter

pytestmark = pytest.mark.deep

HIDDEN = "<hidden-by-infisical>"


@pytest.fixture
def at(project: Project) -> dict[str, Any]:
    return {"projectId": project.id, "environment": "dev", "secretPath": "/"}


def values(listed: list[dict[str, Any]]) -> dict[str, str]:
    return {secret["secretKey"]: secret["secretValue"] for secret in listed}


def import_from(secrets: ProjectSecrets, path: str) -> None:
    place = {"environment": "dev", "path": path}
    body = {"workspaceId": secrets.project.id, "environment": "dev", "path": "/", "import": place}
    secrets.client.json("POST", "/api/v1/secret-imports", json=body)


def test_a_wrong_client_secret_is_an_error_with_its_text(
    node_process: PublishedClient, service: Service
) -> None:
    node_process.connect(service.url)
    stranger = service.create_identity()
    wrong = {"clientId": stranger.client_id, "clientSecret": "cnry-wrong-secret"}
    with pytest.raises(PublishedError, match="credentials") as refused:
        node_process("auth.universalAuth.login", wrong)
    assert refused.value.status == 401


def test_without_a_login_reading_is_refused(
    node_process: PublishedClient, service: Service, at: dict[str, Any]
) -> None:
    node_process.connect(service.url)
    with pytest.raises(PublishedError, match="Token missing") as refused:
        node_process("secrets.listSecrets", at)
    assert refused.value.status == 401


def test_a_token_is_renewed_and_goes_on_working(
    node_process: PublishedClient, service: Service, project: Project, at: dict[str, Any]
) -> None:
    node_process.connect(service.url)
    lasting = service.create_identity(roles={project.id: "viewer"}, accessTokenTTL=600)
    login = {"clientId": lasting.client_id, "clientSecret": lasting.client_secret}
    node_process("auth.universalAuth.login", login)
    node_process("auth.universalAuth.renew")
    assert node_process("secrets.listSecrets", at)["secrets"] == []


def test_a_renewal_past_the_end_of_the_token_is_refused(node_sdk: PublishedClient) -> None:
    with pytest.raises(PublishedError, match="past its Max TTL") as refused:
        node_sdk("auth.universalAuth.renew")
    assert refused.value.status == 401


def test_a_token_may_be_given_instead_of_a_login(
    node_process: PublishedClient, service: Service, at: dict[str, Any]
) -> None:
    node_process.connect(service.url)
    node_process("auth.accessToken", service.login(service.admin))
    assert node_process("secrets.listSecrets", at)["secrets"] == []


def test_a_secret_is_created_read_changed_renamed_and_deleted(
    node_sdk: PublishedClient, project: Project, at: dict[str, Any]
) -> None:
    given = {**at, "secretValue": "cnry-1", "secretComment": "a comment", "type": "shared"}
    made = node_sdk("secrets.createSecret", "KEY", given)["secret"]
    assert (made["workspace"], made["environment"], made["version"]) == (project.id, "dev", 1)

    read = node_sdk("secrets.getSecret", {**at, "secretName": "KEY", "type": "shared"})
    assert (read["id"], read["secretValue"], read["secretComment"]) == (made["id"], "cnry-1", "a comment")
    assert isinstance(read["secretValueHidden"], bool)

    changed = node_sdk("secrets.updateSecret", "KEY", {**at, "secretValue": "cnry-2"})["secret"]
    assert (changed["id"], changed["version"], changed["secretValue"]) == (made["id"], 2, "cnry-2")
    older = node_sdk("secrets.getSecret", {**at, "secretName": "KEY", "version": 1})
    assert (older["version"], older["secretValue"]) == (1, "cnry-1")

    renamed = node_sdk("secrets.updateSecret", "KEY", {**at, "newSecretName": "OTHER"})["secret"]
    assert (renamed["id"], renamed["secretKey"]) == (made["id"], "OTHER")

    assert node_sdk("secrets.deleteSecret", "OTHER", {**at, "type": "shared"})["secret"]["id"] == made["id"]
    with pytest.raises(PublishedError, match="OTHER") as missing:
        node_sdk("secrets.getSecret", {**at, "secretName": "OTHER"})
    assert missing.value.status == 404


@pytest.mark.parametrize("operation", ["createSecret", "updateSecret"])
def test_tags_and_reminders_travel_both_ways(
    node_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any], operation: str
) -> None:
    path = f"/api/v1/projects/{secrets.project.id}/tags"
    tag = secrets.client.json("POST", path, json={"slug": "web"})["tag"]
    if operation == "updateSecret":
        secrets.create("KEY", "cnry-1")
    more = {
        "secretValue": "cnry-2",
        "secretReminderNote": "turn it",
        "secretReminderRepeatDays": 7,
        "skipMultilineEncoding": True,
        "tagIds": [tag["id"]],
        "metadata": {"any": "thing"},
    }
    node_sdk(f"secrets.{operation}", "KEY", {**at, **more})
    read = node_sdk("secrets.getSecret", {**at, "secretName": "KEY"})
    assert [kept["slug"] for kept in read["tags"]] == ["web"]
    assert (read["secretReminderNote"], read["secretReminderRepeatDays"]) == ("turn it", 7)
    assert read["skipMultilineEncoding"] is True


@pytest.mark.parametrize(("asked", "shown"), [(True, "cnry-base/x"), (False, "${BASE}/x")])
def test_references_are_expanded_when_asked_for(
    node_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any], *, asked: bool, shown: str
) -> None:
    secrets.create("BASE", "cnry-base")
    secrets.create("URL", "${BASE}/x")
    flag = {"expandSecretReferences": asked}
    listed = node_sdk("secrets.listSecrets", {**at, **flag})["secrets"]
    one = node_sdk("secrets.getSecret", {**at, **flag, "secretName": "URL"})
    assert values(listed)["URL"] == one["secretValue"] == shown


def test_values_are_hidden_when_asked_for(
    node_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any]
) -> None:
    secrets.create("KEY", "cnry-1")
    listed = node_sdk("secrets.listSecrets", {**at, "viewSecretValue": False})["secrets"]
    one = node_sdk("secrets.getSecret", {**at, "secretName": "KEY", "viewSecretValue": False})
    assert values(listed)["KEY"] == one["secretValue"] == HIDDEN


@pytest.mark.parametrize(("asked", "keys"), [(True, {"KEY", "DEEP"}), (False, {"KEY"})])
def test_a_list_is_recursive_when_asked_for(
    node_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any], *, asked: bool, keys: set[str]
) -> None:
    secrets.folder("/app")
    secrets.create("KEY", "cnry-1")
    secrets.create("DEEP", "cnry-2", path="/app")
    assert set(values(node_sdk("secrets.listSecrets", {**at, "recursive": asked})["secrets"])) == keys


def test_imports_come_along_when_asked_for(
    node_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any]
) -> None:
    secrets.folder("/common")
    secrets.create("SHARED", "cnry-shared", path="/common")
    secrets.create("OWN", "cnry-own")
    import_from(secrets, "/common")
    listed = node_sdk("secrets.listSecrets", {**at, "includeImports": True})
    assert values(listed["imports"][0]["secrets"]) == {"SHARED": "cnry-shared"}
    assert not node_sdk("secrets.listSecrets", {**at, "includeImports": False}).get("imports")
    together = node_sdk("secrets.listSecretsWithImports", at)
    assert values(together) == {"SHARED": "cnry-shared", "OWN": "cnry-own"}
    one = node_sdk("secrets.getSecret", {**at, "secretName": "SHARED", "includeImports": True})
    assert one["secretValue"] == "cnry-shared"


def test_a_list_is_narrowed_by_tags(
    node_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any]
) -> None:
    path = f"/api/v1/projects/{secrets.project.id}/tags"
    tag = secrets.client.json("POST", path, json={"slug": "web"})["tag"]
    secrets.create("TAGGED", "cnry-1", tagIds=[tag["id"]])
    secrets.create("PLAIN", "cnry-2")
    listed = node_sdk("secrets.listSecrets", {**at, "tagSlugs": ["web", "other"]})["secrets"]
    assert set(values(listed)) == {"TAGGED"}


def test_secrets_reach_the_environment_of_the_process(
    node_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any]
) -> None:
    key = f"KEY_{secrets.project.id.replace('-', '_')}"
    secrets.create(key, "cnry-1")
    node_sdk("secrets.listSecrets", {**at, "attachToProcessEnv": True})
    assert node_sdk.environment(key) == "cnry-1"


def test_folders_are_created_and_listed(node_sdk: PublishedClient, project: Project) -> None:
    at = {"projectId": project.id, "environment": "dev"}
    made = node_sdk("folders.create", {**at, "name": "app", "path": "/", "description": "of the app"})
    assert (made["name"], made["description"]) == ("app", "of the app")
    node_sdk("folders.create", {**at, "name": "web", "path": "/app"})

    def names(**query: object) -> list[str]:
        return sorted(folder["name"] for folder in node_sdk("folders.listFolders", {**at, **query}))

    assert names() == ["app"]
    assert names(path="/app") == ["web"]
    assert names(path="/", recursive=True) == ["app", "web"]
    assert names(path="/", lastSecretModified="2999-01-01T00:00:00Z") == []


def test_projects_environments_and_members_are_made(node_sdk: PublishedClient, service: Service) -> None:
    project = node_sdk(
        "projects.create",
        {"projectName": "Shop", "type": "secret-manager", "projectDescription": "what we sell"},
    )
    assert (project["name"], project["description"]) == ("Shop", "what we sell")
    environment = node_sdk(
        "environments.create",
        {"projectId": project["id"], "name": "Testing", "slug": "testing", "position": 1},
    )
    assert (environment["name"], environment["slug"]) == ("Testing", "testing")
    at = {"projectId": project["id"], "environment": "testing", "secretPath": "/"}
    assert node_sdk("secrets.listSecrets", at)["secrets"] == []

    by_name, by_email = service.create_user(), service.create_user()
    members = node_sdk(
        "projects.inviteMembers",
        {
            "projectId": project["id"],
            "usernames": [by_name.email],
            "emails": [by_email.email],
            "roleSlugs": ["viewer"],
        },
    )
    assert {member["userId"] for member in members} == {by_name.user_id, by_email.user_id}


def test_inviting_somebody_unknown_is_an_error(node_sdk: PublishedClient, project: Project) -> None:
    with pytest.raises(PublishedError) as refused:
        node_sdk("projects.inviteMembers", {"projectId": project.id, "emails": ["nobody@example.com"]})
    assert refused.value.status == 404


def test_a_client_that_is_limited_asks_again(
    node_process: PublishedClient, start: Starter, tmp_path: Path
) -> None:
    service = start(tmp_path / "data", "--rate-limit", "secrets=1/1s")
    at = {"projectId": service.create_project().id, "environment": "dev", "secretPath": "/"}
    node_process.connect(service.url)
    login = {"clientId": service.admin.client_id, "clientSecret": service.admin.client_secret}
    node_process("auth.universalAuth.login", login)
    assert [node_process("secrets.listSecrets", at)["secrets"] for _ in range(3)] == [[], [], []]
    service.stop()
