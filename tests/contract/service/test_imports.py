from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keybearer.interface.imports import ImportAnswer, ImportList, PlacedImportAnswer
from keybearer.wire.secrets import SecretList
from support.service_fixtures import Client, ProjectSecrets, Service, Strict

pytestmark = pytest.mark.every_database


class Importing:
    """Imports of one project through v2."""

    def __init__(self, secrets: ProjectSecrets) -> None:
        self.secrets = secrets
        self.client = secrets.client

    def at(self, path: str = "/", environment: str = "dev") -> dict[str, str]:
        return {"projectId": self.secrets.project.id, "environment": environment, "path": path}

    def add(
        self,
        source: str,
        *,
        environment: str = "dev",
        into: str = "/",
        status: int = 200,
        into_environment: str = "dev",
        **more: object,
    ) -> dict[str, Any]:
        body = {
            **self.at(into, into_environment),
            "import": {"environment": environment, "path": source},
            **more,
        }
        answer = self.client.json("POST", "/api/v2/secret-imports", status=status, json=body)
        return answer["secretImport"] if status == 200 else answer

    def listed(self, path: str = "/") -> list[tuple[str, int]]:
        answer = self.client.json("GET", "/api/v2/secret-imports", params=self.at(path))
        return [(item["importPath"], item["position"]) for item in answer["secretImports"]]

    def change(self, import_id: str, *, status: int = 200, **change: object) -> dict[str, Any]:
        body = {**self.at(), "import": change}
        return self.client.json("PATCH", f"/api/v2/secret-imports/{import_id}", status=status, json=body)

    def blocks(self, path: str = "/", **query: str) -> list[tuple[str, dict[str, str]]]:
        params = {**self.secrets.at(path=path), **query}
        answer = self.client.json("GET", "/api/v4/secrets", params=params)
        return [
            (
                block["secretPath"],
                {secret["secretKey"]: secret["secretValue"] for secret in block["secrets"]},
            )
            for block in answer["imports"]
        ]


@pytest.fixture
def imports(secrets: ProjectSecrets) -> Importing:
    for path in ("/a", "/b", "/c"):
        secrets.folder(path)
    return Importing(secrets)


@pytest.mark.parametrize(("version", "named"), [("v1", "workspaceId"), ("v2", "projectId")], ids=["v1", "v2"])
def test_imports_come_change_and_go(
    imports: Importing, strict: Strict, admin: Client, version: str, named: str
) -> None:
    base = f"/api/{version}/secret-imports"
    place = {named: imports.secrets.project.id, "environment": "dev", "path": "/"}
    body = {**place, "import": {"environment": "prod", "path": "/"}, "isReplication": False}
    created = strict(ImportAnswer, admin.json("POST", base, json=body)).secret_import
    assert (created.import_path, created.import_env.slug, created.position) == ("/", "prod", 1)
    assert (created.is_replication, created.version) == (False, 1)
    listed = strict(ImportList, admin.json("GET", base, params=place)).secret_imports
    assert listed == [created]
    placed = strict(PlacedImportAnswer, admin.json("GET", f"{base}/{created.id}")).secret_import
    assert (placed.secret_path, placed.environment.slug) == ("/", "dev")
    assert placed.project_id == imports.secrets.project.id
    change = {**place, "import": {"environment": "dev", "path": "/a/"}}
    changed = strict(ImportAnswer, admin.json("PATCH", f"{base}/{created.id}", json=change)).secret_import
    assert (changed.import_path, changed.import_env.slug, changed.version) == ("/a", "dev", 2)
    removed = strict(ImportAnswer, admin.request("DELETE", f"{base}/{created.id}", json=place).json())
    assert removed.secret_import == changed
    assert imports.listed() == []
    assert admin.get(f"{base}/{created.id}").status_code == 404


def test_an_import_moves_and_those_between_make_room(imports: Importing) -> None:
    ids = {path: imports.add(path)["id"] for path in ("/a", "/b", "/c")}
    assert imports.listed() == [("/a", 1), ("/b", 2), ("/c", 3)]
    imports.change(ids["/c"], position=1)
    assert imports.listed() == [("/c", 1), ("/a", 2), ("/b", 3)]
    imports.change(ids["/c"], position=99)
    assert imports.listed() == [("/a", 1), ("/b", 2), ("/c", 3)]
    path = f"/api/v2/secret-imports/{ids['/a']}"
    imports.client.json("DELETE", path, json=imports.at())
    assert imports.listed() == [("/b", 1), ("/c", 2)]


def test_imports_are_shown_in_their_order_and_empty_ones_too(imports: Importing, strict: Strict) -> None:
    imports.secrets.create("A", "cnry-a", path="/a")
    for path in ("/b", "/a", "/gone"):
        imports.add(path)
    assert imports.blocks() == [("/b", {}), ("/a", {"A": "cnry-a"}), ("/gone", {})]
    params = imports.secrets.at()
    strict(SecretList, imports.client.json("GET", "/api/v4/secrets", params=params))


def test_a_folder_that_comes_later_is_imported_then(imports: Importing) -> None:
    imports.add("/late")
    imports.secrets.folder("/late")
    imports.secrets.create("L", "cnry-l", path="/late")
    assert imports.blocks() == [("/late", {"L": "cnry-l"})]


@pytest.mark.parametrize(
    ("path", "flag"),
    [
        pytest.param("/api/v3/secrets/raw", "include_imports", id="v3"),
        pytest.param("/api/v4/secrets", "includeImports", id="v4"),
        pytest.param("/api/v4/secrets", "include_imports", id="older v4"),
    ],
)
def test_imports_are_on_by_default_and_can_be_switched_off(imports: Importing, path: str, flag: str) -> None:
    imports.secrets.create("A", "cnry-a", path="/a")
    imports.add("/a")
    place = {**imports.secrets.at(), "workspaceId": imports.secrets.project.id}
    assert len(imports.client.json("GET", path, params=place)["imports"]) == 1
    assert imports.client.json("GET", path, params={**place, flag: "false"})["imports"] == []
    assert imports.client.json("GET", f"{path}/A", params=place)["secret"]["secretPath"] == "/a"
    imports.client.json("GET", f"{path}/A", status=404, params={**place, flag: "false"})


def test_a_key_stands_only_in_the_last_block_that_has_it(imports: Importing) -> None:
    for path in ("/a", "/b"):
        imports.secrets.create("BOTH", f"cnry-{path[1:]}", path=path)
        imports.secrets.create(f"ONLY_{path[1:]}", "cnry-only", path=path)
        imports.add(path)
    assert imports.blocks() == [
        ("/a", {"ONLY_a": "cnry-only"}),
        ("/b", {"BOTH": "cnry-b", "ONLY_b": "cnry-only"}),
    ]
    assert imports.secrets.get("BOTH")["secretValue"] == "cnry-b"


def test_a_direct_secret_wins(imports: Importing) -> None:
    imports.secrets.create("A", "cnry-imported", path="/a")
    imports.add("/a")
    assert imports.secrets.get("A")["secretValue"] == "cnry-imported"
    imports.secrets.create("A", "cnry-direct")
    assert imports.secrets.get("A")["secretValue"] == "cnry-direct"
    assert imports.secrets.values() == {"A": "cnry-direct"}


def test_an_imported_secret_tells_where_it_lives(imports: Importing) -> None:
    imports.secrets.create("P", "cnry-p", environment="prod")
    imports.add("/", environment="prod")
    found = imports.secrets.get("P")
    assert (found["environment"], found["secretPath"]) == ("prod", "/")
    missing = imports.secrets.get("NONE", status=404)
    assert missing["message"] == "Secret with name 'NONE' not found"


def test_imports_of_imports_are_part_of_the_block(imports: Importing) -> None:
    imports.secrets.create("KEY", "cnry-near", path="/a")
    imports.secrets.create("KEY", "cnry-far", path="/b")
    imports.secrets.create("FAR", "cnry-deep", path="/b")
    imports.add("/b", into="/a")
    imports.add("/a")
    assert imports.blocks() == [("/a", {"FAR": "cnry-deep", "KEY": "cnry-near"})]
    assert imports.secrets.get("FAR")["secretPath"] == "/b"
    assert imports.secrets.get("KEY")["secretValue"] == "cnry-near"


def test_ten_levels_of_imports_are_followed_and_no_more(imports: Importing) -> None:
    for level in range(1, 12):
        imports.secrets.folder(f"/l{level}")
        imports.secrets.create(f"K{level:02}", "cnry-k", path=f"/l{level}")
        imports.add(f"/l{level}", into="/" if level == 1 else f"/l{level - 1}")
    [(_, shown)] = imports.blocks()
    assert sorted(shown) == [f"K{level:02}" for level in range(1, 11)]
    imports.secrets.get("K10")
    imports.secrets.get("K11", status=404)


def test_circles_are_cut(imports: Importing) -> None:
    for path in ("/a", "/b", "/c"):
        imports.secrets.create(f"K{path[1:]}", "cnry-k", path=path)
    imports.add("/b", into="/a")
    imports.add("/c", into="/b")
    imports.add("/a", into="/c")
    for path, keys in (("/a", ["Kb", "Kc"]), ("/b", ["Ka", "Kc"]), ("/c", ["Ka", "Kb"])):
        [(_, shown)] = imports.blocks(path)
        assert sorted(shown) == keys


@pytest.mark.parametrize("into", ["/a", "/b"], ids=["of each other", "of itself"])
def test_the_shortest_circles_are_refused(imports: Importing, into: str) -> None:
    imports.add("/a", into="/b")
    answer = imports.add("/b", into=into, status=400)
    assert (answer["error"], answer["message"]) == ("BadRequest", "Cyclic import not allowed")


def test_a_second_import_of_a_place_is_refused(imports: Importing) -> None:
    imports.add("/a")
    answer = imports.add("/a/", status=400)
    assert answer["message"] == "The folder imports '/a' of environment 'dev' already"
    other = imports.add("/b")
    assert imports.change(other["id"], status=400, path="/a")["error"] == "BadRequest"


def test_values_are_expanded_where_they_live(imports: Importing) -> None:
    imports.secrets.create("HOST", "cnry-there", path="/a")
    imports.secrets.create("HOST", "cnry-here")
    imports.secrets.create("URL", "<${HOST}>", path="/a")
    imports.add("/a")
    assert imports.blocks() == [("/a", {"HOST": "cnry-there", "URL": "<cnry-there>"})]
    assert imports.blocks(expandSecretReferences="false")[0][1]["URL"] == "<${HOST}>"
    assert imports.secrets.get("URL")["secretValue"] == "<cnry-there>"


def test_a_reference_sees_no_imported_secret(imports: Importing) -> None:
    imports.secrets.create("HOST", "cnry-host", path="/a")
    imports.add("/a")
    imports.secrets.create("URL", "<${HOST}>")
    assert imports.secrets.values() == {"URL": "<${HOST}>"}


def test_hidden_values_are_masked_in_imports_too(imports: Importing) -> None:
    imports.secrets.create("A", "cnry-a", path="/a")
    imports.add("/a")
    assert imports.blocks(viewSecretValue="false") == [("/a", {"A": "<hidden-by-infisical>"})]
    assert imports.secrets.get("A", viewSecretValue="false")["secretValueHidden"] is True


def test_a_replicating_import_is_kept_and_not_shown(imports: Importing) -> None:
    imports.secrets.create("A", "cnry-a", path="/a")
    assert imports.add("/a", isReplication=True)["isReplication"] is True
    assert imports.listed() == [("/a", 1)]
    assert imports.blocks() == []
    imports.secrets.get("A", status=404)


def test_a_recursive_list_shows_the_imports_of_every_folder(imports: Importing) -> None:
    imports.secrets.create("C", "cnry-c", path="/c")
    imports.add("/c", into="/b")
    assert imports.blocks() == []
    assert imports.blocks(recursive="true") == [("/c", {"C": "cnry-c"})]


def test_a_narrowed_list_narrows_imports_and_still_knows_what_wins(imports: Importing) -> None:
    tag = imports.client.json(
        "POST", f"/api/v1/projects/{imports.secrets.project.id}/tags", json={"slug": "web"}
    )["tag"]["id"]
    imports.secrets.create("TAGGED", "cnry-t", path="/a", tagIds=[tag])
    imports.secrets.create("PLAIN", "cnry-p", path="/a")
    imports.secrets.create("OWN", "cnry-o", path="/a", tagIds=[tag])
    imports.secrets.create("OWN", "cnry-direct")
    imports.add("/a")
    assert imports.blocks(tagSlugs="web") == [("/a", {"TAGGED": "cnry-t"})]


def test_imports_follow_a_renamed_folder_and_outlive_a_deleted_one(imports: Importing) -> None:
    imports.secrets.folder("/a/deep")
    imports.secrets.create("D", "cnry-d", path="/a/deep")
    imports.add("/a/deep")
    folder = imports.client.json("GET", "/api/v2/folders", params=imports.at())["folders"][0]
    body = {**imports.at(), "name": "renamed"}
    imports.client.json("PATCH", f"/api/v2/folders/{folder['id']}", json=body)
    assert imports.blocks() == [("/renamed/deep", {"D": "cnry-d"})]
    imports.client.json("DELETE", "/api/v2/folders/renamed", json={**imports.at(), "forceDelete": True})
    assert imports.blocks() == [("/renamed/deep", {})]


def test_a_deleted_environment_takes_the_imports_of_it_along(imports: Importing) -> None:
    imports.add("/", environment="staging")
    project = f"/api/v1/projects/{imports.secrets.project.id}"
    staging = imports.client.json("GET", f"{project}/environments/slug/staging")
    imports.client.json("DELETE", f"{project}/environments/{staging['id']}")
    assert imports.listed() == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(
            lambda i: i.add("/a", into="/gone", status=404),
            "Folder with path '/gone' in environment with slug 'dev' not found",
            id="the folder",
        ),
        pytest.param(
            lambda i: i.add("/a", environment="qa", status=404),
            "Imported environment with slug 'qa' in project with ID '{project}' not found",
            id="the environment it leads to",
        ),
        pytest.param(
            lambda i: i.change("gone", status=404, position=1),
            "Secret import with ID 'gone' not found",
            id="the import",
        ),
    ],
)
def test_what_an_import_names_must_exist(
    imports: Importing, call: Callable[[Importing], dict[str, Any]], message: str
) -> None:
    answer = call(imports)
    assert answer["message"] == message.format(project=imports.secrets.project.id)
    assert answer["error"] == "NotFound"


def test_roles_decide_who_imports(service: Service, imports: Importing) -> None:
    viewer = service.create_identity(roles={imports.secrets.project.id: "viewer"})
    stranger = service.create_identity()
    item = imports.add("/a")
    base = "/api/v2/secret-imports"
    body = {**imports.at(), "import": {"environment": "dev", "path": "/b"}}
    for identity, reads in ((viewer, 200), (stranger, 403)):
        client = service.client(service.login(identity))
        assert client.get(base, params=imports.at()).status_code == reads
        assert client.get(f"{base}/{item['id']}").status_code == reads
        denied = client.json("POST", base, status=403, json=body)
        assert (denied["error"], denied["message"]) == (
            "PermissionDenied",
            "You are not allowed to create on secret-imports",
        )
        client.json("PATCH", f"{base}/{item['id']}", status=403, json=body)
        client.json("DELETE", f"{base}/{item['id']}", status=403, json=imports.at())


CHANGES: list[Any] = [
    pytest.param(lambda i: i.add("/b"), id="an import appears"),
    pytest.param(lambda i: i.secrets.update("A", path="/a", secretValue="cnry-2"), id="a value changes"),
    pytest.param(lambda i: i.secrets.create("B", "cnry-b", path="/a"), id="a secret appears"),
    pytest.param(
        lambda i: i.client.json("DELETE", "/api/v2/folders/a", json={**i.at(), "forceDelete": True}),
        id="the folder goes",
    ),
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_through_imports_ends_the_tag(
    imports: Importing, change: Callable[[Importing], object]
) -> None:
    imports.secrets.create("A", "cnry-a", path="/a")
    imports.add("/a")
    params = imports.secrets.at()
    first = imports.client.get("/api/v4/secrets", params=params)
    tag = first.headers["etag"]
    again = imports.client.get("/api/v4/secrets", params=params, headers={"if-none-match": tag})
    assert again.status_code == 304
    change(imports)
    second = imports.client.get("/api/v4/secrets", params=params, headers={"if-none-match": tag})
    assert second.status_code == 200
    assert second.json()["imports"] != first.json()["imports"]


@pytest.mark.parametrize("path", ["/a b", "/../a", "/\0"], ids=["a blank", "dots", "a NUL"])
def test_what_no_folder_is_called_cannot_be_imported(imports: Importing, path: str) -> None:
    assert imports.add(path, status=422)["error"] == "ValidationFailure"
    assert imports.listed() == []
