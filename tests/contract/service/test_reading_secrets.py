from __future__ import annotations

import pytest

from keybearer.wire.secrets import SecretAnswer, SecretList
from support.service_fixtures import Client, Project, ProjectSecrets, Service, Strict

pytestmark = pytest.mark.every_database


def test_a_list_has_the_published_shape(admin: Client, secrets: ProjectSecrets, strict: Strict) -> None:
    secrets.create("A", "cnry-a", secretComment="why", secretMetadata=[{"key": "k", "value": "v"}])
    answer = admin.json("GET", "/api/v4/secrets", params=secrets.at())
    read = strict(SecretList, answer)
    secret = read.secrets[0]
    assert answer["imports"] == []
    assert secret.id == secret.legacy_id
    assert (secret.version, secret.type, secret.secret_comment) == (1, "shared", "why")
    assert (secret.secret_path, secret.environment, secret.workspace) == ("/", "dev", secrets.project.id)
    assert secret.secret_value_hidden is False
    assert secret.is_rotated_secret is False


def test_one_secret_has_the_published_shape(admin: Client, secrets: ProjectSecrets, strict: Strict) -> None:
    secrets.create("A", "cnry-a")
    strict(SecretAnswer, admin.json("GET", "/api/v4/secrets/A", params=secrets.at()))


def test_v3_and_v4_answer_the_same(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a")
    by_id = {"workspaceId": secrets.project.id, "environment": "dev"}
    by_slug = {"workspaceSlug": secrets.project.slug, "environment": "dev", "workspaceId": ""}
    new = admin.json("GET", "/api/v4/secrets", params=secrets.at())
    assert admin.json("GET", "/api/v3/secrets/raw", params=by_id) == new
    assert admin.json("GET", "/api/v3/secrets/raw", params=by_slug) == new
    one = admin.json("GET", "/api/v4/secrets/A", params=secrets.at())
    assert admin.json("GET", "/api/v3/secrets/raw/A", params=by_slug) == one
    secret_id = one["secret"]["id"]
    assert admin.json("GET", f"/api/v3/secrets/raw/id/{secret_id}") == one
    assert admin.json("GET", f"/api/v4/secrets/id/{secret_id}") == one


def test_a_list_is_sorted_by_key_then_path(secrets: ProjectSecrets) -> None:
    secrets.folder("/b")
    secrets.folder("/a")
    for key, path in (("B", "/"), ("A", "/b"), ("C", "/"), ("A", "/a")):
        secrets.create(key, "cnry-v", path=path)
    listed = secrets.list(recursive="true")
    assert [(secret["secretKey"], secret["secretPath"]) for secret in listed] == [
        ("A", "/a"),
        ("A", "/b"),
        ("B", "/"),
        ("C", "/"),
    ]


def test_a_list_without_recursion_holds_one_folder(secrets: ProjectSecrets) -> None:
    secrets.folder("/a/b")
    secrets.create("TOP", "cnry-top")
    secrets.create("MIDDLE", "cnry-middle", path="/a")
    secrets.create("DEEP", "cnry-deep", path="/a/b")
    assert secrets.values() == {"TOP": "cnry-top"}
    assert secrets.values(path="/a") == {"MIDDLE": "cnry-middle"}
    assert secrets.values(path="a/", recursive="true") == {"MIDDLE": "cnry-middle", "DEEP": "cnry-deep"}


def test_a_folder_whose_name_begins_alike_is_not_beneath(secrets: ProjectSecrets) -> None:
    for path in ("/app", "/app-two", "/app_three", "/APP"):
        secrets.folder(path)
        secrets.create("KEY", f"cnry-{path}", path=path)
    assert secrets.values(path="/app", recursive="true") == {"KEY": "cnry-/app"}


def test_recursion_ends_at_depth_twenty(secrets: ProjectSecrets) -> None:
    deep = "/" + "/".join(f"f{level}" for level in range(1, 22))
    secrets.folder(deep)
    for level in (20, 21):
        path = "/" + "/".join(f"f{number}" for number in range(1, level + 1))
        secrets.create(f"LEVEL_{level}", "cnry-v", path=path)
    assert set(secrets.values(recursive="true")) == {"LEVEL_20"}
    assert set(secrets.values(path="/f1", recursive="true")) == {"LEVEL_20", "LEVEL_21"}


def test_environments_are_apart(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-dev")
    secrets.create("A", "cnry-prod", environment="prod")
    assert secrets.values() == {"A": "cnry-dev"}
    assert secrets.values(environment="prod") == {"A": "cnry-prod"}
    assert secrets.values(environment="staging") == {}


def test_an_unknown_path_holds_nothing(secrets: ProjectSecrets) -> None:
    assert secrets.values(path="/nowhere") == {}
    assert secrets.values(path="/nowhere/with.dots") == {}


@pytest.mark.parametrize("recursive", ["true", "false"])
def test_an_unknown_environment_is_not_found(secrets: ProjectSecrets, recursive: str) -> None:
    params = {**secrets.at("nowhere"), "recursive": recursive}
    answer = secrets.client.json("GET", "/api/v4/secrets", status=404, params=params)
    assert answer["error"] == "NotFound"
    assert answer["message"] == (
        f"Environment with slug 'nowhere' in project with ID {secrets.project.id} not found"
    )


def test_an_unknown_project_is_not_found(admin: Client) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    params = {"projectId": unknown, "environment": "dev"}
    answer = admin.json("GET", "/api/v4/secrets", status=404, params=params)
    assert answer["message"] == f"Project with ID '{unknown}' not found"


@pytest.mark.parametrize(
    ("path", "params", "status", "message"),
    [
        pytest.param("/api/v3/secrets/raw", {}, 400, "Missing project id or environment", id="v3, nothing"),
        pytest.param(
            "/api/v3/secrets/raw", {"workspaceId": "p"}, 400, "Missing environment", id="v3, no environment"
        ),
        pytest.param(
            "/api/v3/secrets/raw/A",
            {"environment": "dev"},
            400,
            "Missing project id or environment",
            id="v3, one",
        ),
        pytest.param("/api/v4/secrets", {"environment": "dev"}, 422, None, id="v4, no project"),
        pytest.param(
            "/api/v4/secrets", {"projectId": "p", "environment": ""}, 422, None, id="v4, empty environment"
        ),
    ],
)
def test_a_question_without_a_place_is_refused(
    admin: Client, path: str, params: dict[str, str], status: int, message: str | None
) -> None:
    answer = admin.json("GET", path, status=status, params=params)
    if message is not None:
        assert answer["message"] == message


def test_hidden_values_are_masked_and_not_expanded(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a ${MISSING}")
    listed = secrets.list(viewSecretValue="false")[0]
    one = secrets.get("A", viewSecretValue="false")
    for secret in (listed, one):
        assert (secret["secretValue"], secret["secretValueHidden"]) == ("<hidden-by-infisical>", True)


@pytest.mark.parametrize(
    ("written", "shown"),
    [("false", True), ("0", True), ("False", True), ("true", False), ("1", False), ("yes", False)],
)
def test_flags_of_a_query_are_read_leniently(secrets: ProjectSecrets, written: str, *, shown: bool) -> None:
    secrets.create("A", "cnry-a")
    assert secrets.list(viewSecretValue=written)[0]["secretValueHidden"] is shown


def test_former_versions_are_kept(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-one", secretComment="first")
    secrets.update("A", secretValue="cnry-two", secretComment="second")
    secrets.update("A", newSecretName="B")
    assert secrets.get("B")["version"] == 3
    versions = {n: secrets.get("B", version=str(n)) for n in (1, 2, 3)}
    assert [(v["secretKey"], v["secretValue"], v["secretComment"]) for v in versions.values()] == [
        ("A", "cnry-one", "first"),
        ("A", "cnry-two", "second"),
        ("B", "cnry-two", "second"),
    ]
    assert secrets.get("B", status=404, version="4")["error"] == "NotFound"


def test_a_missing_secret_and_a_missing_folder_are_told_apart(secrets: ProjectSecrets) -> None:
    secret = secrets.get("GONE", status=404)
    folder = secrets.get("GONE", status=404, path="/nowhere")
    assert (secret["error"], secret["message"]) == ("NotFound", "Secret with name 'GONE' not found")
    assert (folder["error"], folder["message"]) == (
        "GetSecretByName",
        "Folder with path '/nowhere' in environment with slug 'dev' not found",
    )


@pytest.mark.parametrize("kind", ["shared", "Shared"])
def test_the_type_of_a_question_may_be_capitalised(secrets: ProjectSecrets, kind: str) -> None:
    secrets.create("A", "cnry-a")
    assert secrets.get("A", type=kind)["secretValue"] == "cnry-a"


def test_a_machine_has_no_personal_secrets(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a")
    assert secrets.get("A", status=404, type="Personal")["error"] == "NotFound"


def test_an_unknown_id_is_not_found(admin: Client) -> None:
    answer = admin.json("GET", "/api/v4/secrets/id/nothing", status=404)
    assert answer["error"] == "NotFound"


def test_names_may_hold_more_than_letters_and_digits(secrets: ProjectSecrets) -> None:
    for name in ("with space", "ümläut", "a.b", "100%", "q?x&y"):
        quoted = name.replace("%", "%25").replace("?", "%3F").replace("&", "%26")
        secrets.create(quoted, "cnry-v")
        assert secrets.get(quoted)["secretKey"] == name


@pytest.fixture
def tagged(secrets: ProjectSecrets) -> ProjectSecrets:
    base = f"/api/v1/projects/{secrets.project.id}/tags"
    tags = {
        slug: secrets.client.json("POST", base, json={"slug": slug, "color": "#fff"})["tag"]["id"]
        for slug in ("red", "blue")
    }
    metadata = [{"key": "team", "value": "core"}, {"key": "tier", "value": "1"}]
    secrets.create("R", "cnry-r", tagIds=[tags["red"]], secretMetadata=metadata)
    secrets.create("RB", "cnry-rb", tagIds=[tags["blue"], tags["red"]], secretMetadata=metadata[:1])
    secrets.create("NONE", "cnry-none")
    return secrets


@pytest.mark.parametrize(
    ("slugs", "keys"),
    [
        pytest.param("red", {"R", "RB"}, id="one tag"),
        pytest.param("blue, red", {"R", "RB"}, id="any of several"),
        pytest.param("green", set(), id="an unknown tag"),
        pytest.param("", {"R", "RB", "NONE"}, id="none asked for"),
    ],
)
def test_a_list_can_be_narrowed_by_tags(tagged: ProjectSecrets, slugs: str, keys: set[str]) -> None:
    assert set(tagged.values(tagSlugs=slugs)) == keys


def test_tags_come_with_the_secret(tagged: ProjectSecrets) -> None:
    tags = tagged.get("RB")["tags"]
    assert [(tag["slug"], tag["name"], tag["color"]) for tag in tags] == [
        ("blue", "blue", "#fff"),
        ("red", "red", "#fff"),
    ]


@pytest.mark.parametrize(
    ("pairs", "keys"),
    [
        pytest.param("key=team,value=core", {"R", "RB"}, id="a pair"),
        pytest.param("key=team,value=core|key=tier", {"R"}, id="all must hold"),
        pytest.param("value=1", {"R"}, id="a value alone"),
        pytest.param("key=team,value=other", set(), id="another value"),
    ],
)
def test_a_list_can_be_narrowed_by_metadata(tagged: ProjectSecrets, pairs: str, keys: set[str]) -> None:
    assert set(tagged.values(metadataFilter=pairs)) == keys


@pytest.mark.parametrize("pairs", ["team", "name=x", "=", "|".join(["key=a"] * 11)])
def test_a_metadata_filter_that_cannot_be_read_is_refused(secrets: ProjectSecrets, pairs: str) -> None:
    params = {**secrets.at(), "metadataFilter": pairs}
    assert secrets.client.json("GET", "/api/v4/secrets", status=400, params=params)["error"] == "BadRequest"


@pytest.mark.parametrize(
    ("role", "status"), [("admin", 200), ("member", 200), ("viewer", 200), ("no-access", 403)]
)
def test_roles_decide_who_reads(service: Service, secrets: ProjectSecrets, role: str, status: int) -> None:
    secrets.create("A", "cnry-a")
    identity = service.create_identity(roles={secrets.project.id: role})
    client = service.client(service.login(identity))
    for path in ("/api/v4/secrets", "/api/v4/secrets/A"):
        answer = client.json("GET", path, status=status, params=secrets.at())
        assert status == 200 or answer["error"] == "PermissionDenied"
    secret_id = secrets.get("A")["id"]
    assert client.get(f"/api/v4/secrets/id/{secret_id}").status_code == status


def test_who_is_no_member_reads_nothing(service: Service, secrets: ProjectSecrets, project: Project) -> None:
    client = service.client(service.login(service.create_identity(organization_role="member")))
    answer = client.json("GET", "/api/v4/secrets", status=403, params=secrets.at())
    assert answer["error"] == "PermissionDenied"
    assert project.id not in answer["message"]


MEBIBYTE = 1024 * 1024


@pytest.fixture
def large(secrets: ProjectSecrets) -> ProjectSecrets:
    """Two folders of 35 MiB each: one by one they are answered, together they are too much."""
    for path in ("/one", "/two"):
        secrets.folder(path)
        for start in range(0, 35, 7):
            made = [
                {"secretKey": f"K{number}", "secretValue": "x" * MEBIBYTE}
                for number in range(start, start + 7)
            ]
            body = {**secrets.at(path=path), "secrets": made}
            secrets.client.json("POST", "/api/v4/secrets/batch", json=body)
    return secrets


def test_a_list_beyond_64_mebibytes_is_refused_and_its_parts_are_not(large: ProjectSecrets) -> None:
    def refused(**query: str) -> str:
        params = {**large.at(), **query}
        answer = large.client.json("GET", "/api/v4/secrets", status=400, params=params)
        assert answer["error"] == "BadRequest"
        return str(answer["message"])

    for expand in ("true", "false"):
        message = refused(recursive="true", expandSecretReferences=expand)
        assert "more than 64 MiB; ask for one folder at a time" in message
    assert len(large.list(path="/one")) == 35
    assert len(large.list(recursive="true", viewSecretValue="false")) == 70
    for number in range(35):
        large.create(f"R{number}", f"${{dev.one.K{number}}}")
    assert len(large.values()) == 35
    for number in range(35):
        large.create(f"S{number}", f"${{dev.two.K{number}}}")
    assert "What the list refers to holds more than 64 MiB" in refused()
    assert len(large.values(expandSecretReferences="false")) == 70
    assert len(large.get("S1")["secretValue"]) == MEBIBYTE
