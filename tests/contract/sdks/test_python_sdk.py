"""PyPI's `infisicalsdk`, unmodified, through every operation that it has for secrets and folders (wire.md 9.1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.sdks.published import PublishedClient, PublishedError
from support.service_fixtures import Project, ProjectSecrets, Service

pytestmark = pytest.mark.deep

HIDDEN = "<hidden-by-infisical>"
NEVER_MISSING = (
    *("id", "_id", "workspace", "environment", "version", "type"),
    *("secretKey", "secretValue", "secretComment", "createdAt", "updatedAt"),
)


@pytest.fixture
def at(project: Project) -> dict[str, Any]:
    return {"project_id": project.id, "environment_slug": "dev", "secret_path": "/"}


@pytest.fixture
def folders_at(project: Project) -> dict[str, Any]:
    return {"project_id": project.id, "environment_slug": "dev"}


def values(listed: dict[str, Any]) -> dict[str, str]:
    return {secret["secretKey"]: secret["secretValue"] for secret in listed["secrets"]}


def import_from(secrets: ProjectSecrets, path: str) -> None:
    place = {"environment": "dev", "path": path}
    body = {"workspaceId": secrets.project.id, "environment": "dev", "path": "/", "import": place}
    secrets.client.json("POST", "/api/v1/secret-imports", json=body)


def test_login_tells_the_token_and_its_lifetimes(python_process: PublishedClient, service: Service) -> None:
    python_process.connect(service.url)
    admin = service.admin
    login = python_process("auth.universal_auth.login", admin.client_id, admin.client_secret)
    assert login["tokenType"] == "Bearer"
    assert login["accessToken"]
    assert 0 < login["expiresIn"] <= login["accessTokenMaxTTL"]


def test_a_token_may_be_given_instead_of_a_login(
    python_process: PublishedClient, service: Service, at: dict[str, Any]
) -> None:
    python_process.connect(service.url)
    python_process("auth.token_auth.login", token=service.login(service.admin))
    assert python_process("secrets.list_secrets", **at) == {"secrets": [], "imports": []}


def test_a_wrong_client_secret_is_an_error_with_its_text(
    python_process: PublishedClient, service: Service
) -> None:
    python_process.connect(service.url)
    stranger = service.create_identity()
    with pytest.raises(PublishedError, match="credentials") as refused:
        python_process("auth.universal_auth.login", stranger.client_id, "cnry-wrong-secret")
    assert refused.value.status == 401


def test_without_a_login_reading_is_refused(
    python_process: PublishedClient, service: Service, at: dict[str, Any]
) -> None:
    python_process.connect(service.url)
    with pytest.raises(PublishedError, match="Token missing") as refused:
        python_process("secrets.list_secrets", **at)
    assert refused.value.status == 401


def test_a_secret_is_created_read_changed_renamed_and_deleted(
    python_sdk: PublishedClient, project: Project, at: dict[str, Any]
) -> None:
    made = python_sdk(
        "secrets.create_secret_by_name", "KEY", secret_value="cnry-1", secret_comment="a comment", **at
    )
    assert all(made[name] is not None for name in NEVER_MISSING)
    assert (made["workspace"], made["environment"], made["type"]) == (project.id, "dev", "shared")
    assert (made["version"], made["secretComment"]) == (1, "a comment")

    read = python_sdk("secrets.get_secret_by_name", "KEY", **at)
    assert (read["id"], read["secretValue"], read["secretPath"]) == (made["id"], "cnry-1", "/")

    changed = python_sdk("secrets.update_secret_by_name", "KEY", secret_value="cnry-2", **at)
    assert (changed["id"], changed["version"], changed["secretValue"]) == (made["id"], 2, "cnry-2")

    renamed = python_sdk("secrets.update_secret_by_name", "KEY", new_secret_name="OTHER", **at)
    assert (renamed["id"], renamed["secretKey"], renamed["secretValue"]) == (made["id"], "OTHER", "")

    gone = python_sdk("secrets.delete_secret_by_name", "OTHER", **at)
    assert gone["id"] == made["id"]
    with pytest.raises(PublishedError, match="OTHER") as missing:
        python_sdk("secrets.get_secret_by_name", "OTHER", **at)
    assert missing.value.status == 404


def test_a_project_may_be_named_by_its_slug(python_sdk: PublishedClient, project: Project) -> None:
    at = {"project_slug": project.slug, "environment_slug": "dev", "secret_path": "/"}
    made = python_sdk("secrets.create_secret_by_name", "KEY", secret_value="cnry-1", **at)
    assert python_sdk("secrets.get_secret_by_name", "KEY", **at)["id"] == made["id"]
    python_sdk("secrets.update_secret_by_name", "KEY", secret_value="cnry-2", **at)
    assert values(python_sdk("secrets.list_secrets", **at)) == {"KEY": "cnry-2"}
    python_sdk("secrets.delete_secret_by_name", "KEY", **at)
    assert python_sdk("secrets.list_secrets", **at)["secrets"] == []


@pytest.mark.parametrize("operation", ["create_secret_by_name", "update_secret_by_name"])
def test_tags_metadata_and_reminders_travel_both_ways(
    python_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any], operation: str
) -> None:
    path = f"/api/v1/projects/{secrets.project.id}/tags"
    tag = secrets.client.json("POST", path, json={"slug": "web", "color": "#00ff00"})["tag"]
    if operation == "update_secret_by_name":
        secrets.create("KEY", "cnry-1")
    metadata = [{"key": "owner", "value": "web team"}]
    python_sdk(
        f"secrets.{operation}",
        "KEY",
        secret_value="cnry-first\\nsecond",
        skip_multiline_encoding=True,
        secret_reminder_repeat_days=7,
        secret_reminder_note="turn it",
        secret_metadata=metadata,
        tags_ids=[tag["id"]],
        **at,
    )
    read = python_sdk("secrets.get_secret_by_name", "KEY", **at)
    assert [(entry["key"], entry["value"]) for entry in read["secretMetadata"]] == [("owner", "web team")]
    assert [kept["slug"] for kept in read["tags"]] == ["web"]
    assert read["secretReminderRepeatDays"] == 7
    assert read["secretReminderNote"] == "turn it"
    assert read["skipMultilineEncoding"] is True


def test_an_older_version_can_be_read(
    python_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any]
) -> None:
    secrets.create("KEY", "cnry-1")
    secrets.update("KEY", secretValue="cnry-2")
    read = python_sdk("secrets.get_secret_by_name", "KEY", version="1", **at)
    assert (read["version"], read["secretValue"]) == (1, "cnry-1")


@pytest.mark.parametrize(("asked", "shown"), [(True, "cnry-base/x"), (False, "${BASE}/x")])
def test_references_are_expanded_when_asked_for(
    python_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any], *, asked: bool, shown: str
) -> None:
    secrets.create("BASE", "cnry-base")
    secrets.create("URL", "${BASE}/x")
    listed = python_sdk("secrets.list_secrets", expand_secret_references=asked, **at)
    one = python_sdk("secrets.get_secret_by_name", "URL", expand_secret_references=asked, **at)
    assert values(listed)["URL"] == one["secretValue"] == shown


def test_values_are_hidden_when_asked_for(
    python_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any]
) -> None:
    secrets.create("KEY", "cnry-1")
    listed = python_sdk("secrets.list_secrets", view_secret_value=False, **at)
    one = python_sdk("secrets.get_secret_by_name", "KEY", view_secret_value=False, **at)
    assert values(listed)["KEY"] == one["secretValue"] == HIDDEN
    assert one["secretValueHidden"] is True


@pytest.mark.parametrize(("asked", "keys"), [(True, {"KEY", "DEEP"}), (False, {"KEY"})])
def test_a_list_is_recursive_when_asked_for(
    python_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any], *, asked: bool, keys: set[str]
) -> None:
    secrets.folder("/app")
    secrets.create("KEY", "cnry-1")
    secrets.create("DEEP", "cnry-2", path="/app")
    assert set(values(python_sdk("secrets.list_secrets", recursive=asked, **at))) == keys


def test_imports_come_along_when_asked_for(
    python_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any]
) -> None:
    secrets.folder("/common")
    secrets.create("SHARED", "cnry-shared", path="/common")
    import_from(secrets, "/common")
    listed = python_sdk("secrets.list_secrets", include_imports=True, **at)
    assert [(block["environment"], block["secretPath"]) for block in listed["imports"]] == [
        ("dev", "/common")
    ]
    assert values(listed["imports"][0]) == {"SHARED": "cnry-shared"}
    assert python_sdk("secrets.list_secrets", include_imports=False, **at)["imports"] == []
    one = python_sdk("secrets.get_secret_by_name", "SHARED", include_imports=True, **at)
    assert one["secretValue"] == "cnry-shared"
    with pytest.raises(PublishedError) as missing:
        python_sdk("secrets.get_secret_by_name", "SHARED", include_imports=False, **at)
    assert missing.value.status == 404


def test_a_list_is_narrowed_by_tags(
    python_sdk: PublishedClient, secrets: ProjectSecrets, at: dict[str, Any]
) -> None:
    path = f"/api/v1/projects/{secrets.project.id}/tags"
    tag = secrets.client.json("POST", path, json={"slug": "web"})["tag"]
    secrets.create("TAGGED", "cnry-1", tagIds=[tag["id"]])
    secrets.create("PLAIN", "cnry-2")
    assert set(values(python_sdk("secrets.list_secrets", tag_filters=["web", "other"], **at))) == {"TAGGED"}


def test_a_name_that_breaks_the_rules_is_an_error_with_the_issue(
    python_sdk: PublishedClient, at: dict[str, Any]
) -> None:
    with pytest.raises(PublishedError, match="cannot contain colon") as refused:
        python_sdk("secrets.create_secret_by_name", "A:B", secret_value="cnry-1", **at)
    assert refused.value.status == 422


def test_a_folder_is_created_found_changed_and_deleted(
    python_sdk: PublishedClient, project: Project, folders_at: dict[str, Any]
) -> None:
    made = python_sdk("folders.create_folder", "app", path="/", description="of the app", **folders_at)
    assert (made["name"], made["path"], made["description"]) == ("app", "/app", "of the app")
    found = python_sdk("folders.get_folder_by_id", made["id"])
    assert (found["path"], found["projectId"], found["environment"]["envSlug"]) == ("/app", project.id, "dev")
    changed = python_sdk("folders.update_folder", made["id"], "web", path="/", **folders_at)
    assert (changed["id"], changed["name"], changed["path"]) == (made["id"], "web", "/web")
    gone = python_sdk("folders.delete_folder", made["id"], path="/", **folders_at)
    assert gone["id"] == made["id"]
    assert python_sdk("folders.list_folders", path="/", **folders_at)["folders"] == []


def test_a_folder_with_content_is_deleted_by_its_name_and_by_force(
    python_sdk: PublishedClient, secrets: ProjectSecrets, folders_at: dict[str, Any]
) -> None:
    secrets.folder("/app")
    secrets.folder("/app/web")
    secrets.create("KEY", "cnry-1", path="/app/web")
    gone = python_sdk("folders.delete_folder", "app", path="/", force_delete=True, **folders_at)
    assert gone["name"] == "app"


@pytest.mark.parametrize(("asked", "names"), [(True, {"app", "web"}), (False, {"app"})])
def test_folders_are_listed(
    python_sdk: PublishedClient,
    secrets: ProjectSecrets,
    folders_at: dict[str, Any],
    *,
    asked: bool,
    names: set[str],
) -> None:
    secrets.folder("/app")
    secrets.folder("/app/web")
    listed = python_sdk("folders.list_folders", path="/", recursive=asked, **folders_at)["folders"]
    assert {folder["name"] for folder in listed} == names
    assert all(folder["envId"] and folder["createdAt"] for folder in listed)


def test_folders_are_narrowed_by_the_time_of_the_last_change_of_their_secrets(
    python_sdk: PublishedClient, secrets: ProjectSecrets, folders_at: dict[str, Any]
) -> None:
    secrets.folder("/app")
    secrets.create("KEY", "cnry-1", path="/app")

    def since(moment: datetime) -> list[str]:
        listed = python_sdk(
            "folders.list_folders", path="/", last_secret_modified=moment.isoformat(), **folders_at
        )
        return [folder["name"] for folder in listed["folders"]]

    now = datetime.now(UTC)
    assert since(now - timedelta(hours=1)) == ["app"]
    assert since(now + timedelta(hours=1)) == []
