from __future__ import annotations

from typing import Any

import pytest

from keybearer.wire.projects import FolderAnswer, FolderList, FolderWithEnvironmentAnswer
from support.rows import each_row
from support.service_fixtures import Client, ProjectSecrets, Service, Strict

pytestmark = pytest.mark.every_database

GENERATIONS = [
    pytest.param("/api/v1/folders", "workspaceId", "directory", id="v1"),
    pytest.param("/api/v2/folders", "projectId", "path", id="v2"),
]


@pytest.mark.parametrize(("base", "key", "path"), GENERATIONS)
def test_folders_come_change_and_go(
    admin: Client, secrets: ProjectSecrets, strict: Strict, base: str, key: str, path: str
) -> None:
    place = {key: secrets.project.id, "environment": "dev"}
    body = {**place, path: "/a/b/", "name": "c", "description": "d"}
    made = strict(FolderAnswer, admin.json("POST", base, json=body)).folder
    assert (made.name, made.path, made.version, made.description) == ("c", "/a/b/c", 1, "d")
    found = strict(FolderWithEnvironmentAnswer, admin.json("GET", f"{base}/{made.id}")).folder
    assert (found.path, found.project_id, found.environment.env_slug) == ("/a/b/c", secrets.project.id, "dev")
    change = {**place, path: "/a/b", "name": "new"}
    renamed = strict(FolderAnswer, admin.json("PATCH", f"{base}/{made.id}", json=change)).folder
    assert (renamed.path, renamed.version, renamed.description) == ("/a/b/new", 2, "d")
    gone = strict(FolderAnswer, admin.json("DELETE", f"{base}/{made.id}", json=place)).folder
    assert gone.id == made.id
    assert admin.json("GET", f"{base}/{made.id}", status=404)["error"] == "NotFound"


@pytest.mark.parametrize(("base", "key", "path"), GENERATIONS)
def test_folders_are_listed_flat_or_whole(
    admin: Client, secrets: ProjectSecrets, strict: Strict, base: str, key: str, path: str
) -> None:
    for folder in ("/b", "/a/x/y", "/a/w"):
        secrets.folder(folder)
    query = {key: secrets.project.id, "environment": "dev"}

    def paths(**more: str) -> list[str]:
        listed = strict(FolderList, {**admin.json("GET", base, params={**query, **more})})
        return [folder.path for folder in listed.folders]

    assert [item["path"] for item in admin.json("GET", base, params=query)["folders"]] == ["/a", "/b"]
    assert admin.json("GET", base, params={**query, path: "/a"})["folders"][0]["name"] == "w"
    assert admin.json("GET", base, params={**query, path: "/nowhere"})["folders"] == []
    whole = paths(recursive="true", **{path: "/a"})
    assert whole == ["/a/w", "/a/x", "/a/x/y"]
    relative = admin.json("GET", base, params={**query, path: "/a", "recursive": "true"})["folders"]
    assert [folder["relativePath"] for folder in relative] == ["/w", "/x", "/x/y"]


def test_missing_folders_above_are_made_on_the_way(admin: Client, secrets: ProjectSecrets) -> None:
    made = secrets.folder("/one/two/three")
    two = admin.json("GET", f"/api/v2/folders/{made['parentId']}")["folder"]
    assert (two["path"], two["description"]) == ("/one/two", None)
    secrets.folder("/one/two/other")


def test_an_existing_folder_is_refused(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.folder("/a")
    body = {"projectId": secrets.project.id, "environment": "dev", "name": "a"}
    assert "already exists" in admin.json("POST", "/api/v2/folders", status=400, json=body)["message"]


@each_row(
    "body",
    [
        pytest.param({"name": "a b"}, id="a space"),
        pytest.param({"name": "a.b"}, id="a dot"),
        pytest.param({"name": ""}, id="nothing"),
        pytest.param({"name": "x" * 256}, id="too long"),
        pytest.param({"name": "a/b"}, id="a slash"),
        pytest.param({"name": "a", "path": "/with space"}, id="a space above"),
        pytest.param({"name": "a\n"}, id="a line break at the end"),
    ],
)
def test_a_folder_name_that_is_not_allowed_is_a_violation(
    admin: Client, secrets: ProjectSecrets, body: dict[str, Any]
) -> None:
    sent = {"projectId": secrets.project.id, "environment": "dev", **body}
    answer = admin.json("POST", "/api/v2/folders", status=422, json=sent)
    assert answer["error"] == "ValidationFailure"
    if body["name"] not in {"", "x" * 256}:
        told = "Invalid folder name. Only alphanumeric characters, dashes, and underscores are allowed."
        assert answer["message"][0]["message"] == told


def test_secrets_move_along_with_a_renamed_folder(admin: Client, secrets: ProjectSecrets) -> None:
    made = secrets.folder("/old")
    secrets.folder("/old/deep")
    secrets.folder("/older")
    secrets.create("A", "cnry-a", path="/old/deep")
    secrets.create("B", "cnry-b", path="/older")
    body = {"projectId": secrets.project.id, "environment": "dev", "name": "new"}
    admin.json("PATCH", f"/api/v2/folders/{made['id']}", json=body)
    assert secrets.values(path="/new/deep") == {"A": "cnry-a"}
    assert secrets.values(path="/old/deep") == {}
    assert secrets.values(path="/older") == {"B": "cnry-b"}


def test_a_taken_folder_name_is_refused(admin: Client, secrets: ProjectSecrets) -> None:
    made = secrets.folder("/a")
    secrets.folder("/b")
    body = {"projectId": secrets.project.id, "environment": "dev", "name": "b"}
    admin.json("PATCH", f"/api/v2/folders/{made['id']}", status=400, json=body)


@pytest.mark.parametrize(
    ("base", "key"), [("/api/v1/folders/batch", "projectSlug"), ("/api/v2/folders/batch", "projectId")]
)
def test_a_batch_renames_all_or_none(
    admin: Client, secrets: ProjectSecrets, strict: Strict, base: str, key: str
) -> None:
    one, two = secrets.folder("/one"), secrets.folder("/two")
    project = secrets.project.slug if key == "projectSlug" else secrets.project.id

    def change(folder: dict[str, Any], name: str) -> dict[str, Any]:
        return {"id": folder["id"], "environment": "dev", "name": name, "path": "/"}

    body = {key: project, "folders": [change(one, "uno"), change(two, "uno")]}
    admin.json("PATCH", base, status=400, json=body)
    body["folders"] = [change(one, "uno"), change(two, "due")]
    renamed = strict(FolderList, admin.json("PATCH", base, json=body)).folders
    assert [folder.path for folder in renamed] == ["/uno", "/due"]


def test_a_folder_is_deleted_by_name(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.folder("/a/b")
    body = {"workspaceId": secrets.project.id, "environment": "dev", "directory": "/a"}
    assert admin.json("DELETE", "/api/v1/folders/b", json=body)["folder"]["path"] == "/a/b"
    assert admin.json("DELETE", "/api/v1/folders/b", status=404, json=body)["error"] == "NotFound"


def test_only_force_deletes_a_folder_that_holds_something(admin: Client, secrets: ProjectSecrets) -> None:
    made = secrets.folder("/a")
    secrets.create("A", "cnry-a", path="/a")
    body = {"projectId": secrets.project.id, "environment": "dev"}
    path = f"/api/v2/folders/{made['id']}"
    assert "not empty" in admin.json("DELETE", path, status=400, json=body)["message"]
    admin.json("DELETE", path, json={**body, "forceDelete": True})
    assert secrets.values(path="/a") == {}


def test_v1_always_forces(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.folder("/a/b")
    body = {"workspaceId": secrets.project.id, "environment": "dev"}
    admin.json("DELETE", "/api/v1/folders/a", json=body)
    assert admin.json("GET", "/api/v1/folders", params=body)["folders"] == []


def test_the_root_folder_stays(admin: Client, secrets: ProjectSecrets) -> None:
    root = secrets.folder("/a")["parentId"]
    body = {"projectId": secrets.project.id, "environment": "dev", "forceDelete": True, "name": "x"}
    admin.json("DELETE", f"/api/v2/folders/{root}", status=400, json=body)
    admin.json("PATCH", f"/api/v2/folders/{root}", status=400, json=body)


def test_a_folder_is_found_by_its_percent_encoded_path(
    admin: Client, secrets: ProjectSecrets, strict: Strict
) -> None:
    made = secrets.folder("/a/b")
    base = f"/api/v1/folders/{secrets.project.id}/dev"
    found = strict(FolderAnswer, admin.json("GET", f"{base}/%2Fa%2Fb")).folder
    assert found.id == made["id"]
    assert admin.json("GET", f"{base}/%2F")["folder"]["path"] == "/"
    assert admin.get(f"{base}/%2Fnowhere").status_code == 404


def test_a_folder_tells_when_its_secrets_changed(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.folder("/quiet")
    secrets.folder("/busy")
    created = secrets.create("A", "cnry-a", path="/busy")
    query = {"projectId": secrets.project.id, "environment": "dev"}
    since = {**query, "lastSecretModified": created["createdAt"]}
    assert [item["path"] for item in admin.json("GET", "/api/v2/folders", params=since)["folders"]] == [
        "/busy"
    ]
    admin.json("GET", "/api/v2/folders", status=422, params={**query, "lastSecretModified": "2026-01-02"})


@pytest.mark.parametrize("where", ["environment", "project"])
def test_an_unknown_place_is_not_found(admin: Client, secrets: ProjectSecrets, where: str) -> None:
    query = {"projectId": secrets.project.id, "environment": "dev"}
    query["projectId" if where == "project" else "environment"] = "nowhere"
    admin.json("GET", "/api/v2/folders", status=404, params=query)
    admin.json("POST", "/api/v2/folders", status=404, json={**query, "name": "a"})


def test_a_viewer_reads_folders_but_changes_none(service: Service, secrets: ProjectSecrets) -> None:
    made = secrets.folder("/a")
    client = service.client(service.login(service.create_identity(roles={secrets.project.id: "viewer"})))
    place = {"projectId": secrets.project.id, "environment": "dev"}
    client.json("GET", "/api/v2/folders", params=place)
    client.json("GET", f"/api/v2/folders/{made['id']}")
    for method, path in (
        ("POST", "/api/v2/folders"),
        ("PATCH", f"/api/v2/folders/{made['id']}"),
        ("DELETE", f"/api/v2/folders/{made['id']}"),
    ):
        client.json(method, path, status=403, json={**place, "name": "b"})


def test_references_follow_a_renamed_folder(admin: Client, secrets: ProjectSecrets) -> None:
    folder = secrets.folder("/old")
    secrets.folder("/old/deep")
    secrets.create("KEY", "cnry-key", path="/old")
    secrets.create("DEEP", "cnry-deep", path="/old/deep")
    secrets.create("NEAR", "<${KEY}>", path="/old")
    secrets.create("FAR", "${dev.old.KEY} ${dev.old.deep.DEEP} ${dev.old.GONE}")
    body = {"projectId": secrets.project.id, "environment": "dev", "path": "/", "name": "new"}
    admin.json("PATCH", f"/api/v2/folders/{folder['id']}", json=body)
    assert secrets.values(path="/new")["NEAR"] == "<cnry-key>"
    assert secrets.values() == {"FAR": "cnry-key cnry-deep ${dev.new.GONE}"}
    assert secrets.list()[0]["version"] == 2
    assert secrets.get("NEAR", path="/new")["version"] == 1
    secrets.update("KEY", path="/new", newSecretName="OTHER")
    assert secrets.values(path="/new")["NEAR"] == "<cnry-key>"
