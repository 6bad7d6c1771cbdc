from __future__ import annotations

import pytest

from support.service_fixtures import Client, Project, ProjectSecrets, Service

pytestmark = pytest.mark.every_database


def test_references_are_expanded_unless_told_otherwise(secrets: ProjectSecrets) -> None:
    secrets.folder("/db/main", environment="prod")
    secrets.create("HOST", "cnry-host")
    secrets.create("PASSWORD", "cnry-password", environment="prod", path="/db/main")
    secrets.create("URL", "pg://${HOST}:${prod.db.main.PASSWORD}")
    expanded = "pg://cnry-host:cnry-password"
    assert secrets.values()["URL"] == expanded
    assert secrets.get("URL")["secretValue"] == expanded
    raw = "pg://${HOST}:${prod.db.main.PASSWORD}"
    assert secrets.values(expandSecretReferences="false")["URL"] == raw
    assert secrets.get("URL", expandSecretReferences="false")["secretValue"] == raw


def test_missing_references_and_circles_stay_as_they_are_written(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a ${GONE} ${prod.GONE} ${nowhere.x.GONE}")
    secrets.create("B", "b${C}")
    secrets.create("C", "c${B}")
    assert secrets.values() == {
        "A": "cnry-a ${GONE} ${prod.GONE} ${nowhere.x.GONE}",
        "B": "bc${B}",
        "C": "cb${C}",
    }


def test_ten_levels_through_folders_are_followed(secrets: ProjectSecrets) -> None:
    for level in range(1, 11):
        secrets.folder(f"/f{level}")
        secrets.create("KEY", f"${{dev.f{level + 1}.KEY}}" if level < 10 else "cnry-end", path=f"/f{level}")
    secrets.create("START", "${dev.f1.KEY}")
    assert secrets.values() == {"START": "cnry-end"}


def test_a_reference_may_be_built_from_another(secrets: ProjectSecrets) -> None:
    secrets.folder("/common/acme")
    secrets.create("VENDOR", "acme", path="/common")
    secrets.create("KEY", "cnry-key", path="/common/acme")
    secrets.create("A", "${dev.common.${dev.common.VENDOR}.KEY}")
    assert secrets.values() == {"A": "cnry-key"}


@pytest.mark.parametrize(
    ("skip", "shown"),
    [
        pytest.param(True, '"cnry-one\\ntwo"', id="with the flag one line in quotes"),
        pytest.param(False, "cnry-one\ntwo", id="without it as it is"),
        pytest.param(None, "cnry-one\ntwo", id="unset as it is"),
    ],
)
def test_several_lines_through_a_reference_follow_the_flag(
    secrets: ProjectSecrets, *, skip: bool | None, shown: str
) -> None:
    secrets.create("LINES", "cnry-one\ntwo", skipMultilineEncoding=skip)
    secrets.create("A", "${LINES}", skipMultilineEncoding=skip)
    assert secrets.values() == {"A": shown, "LINES": "cnry-one\ntwo"}


def test_references_in_a_former_version_are_expanded(secrets: ProjectSecrets) -> None:
    secrets.create("B", "cnry-b")
    secrets.create("A", "${B}")
    secrets.update("A", secretValue="cnry-plain")
    assert secrets.get("A", version="1")["secretValue"] == "cnry-b"


def test_values_that_grow_without_bounds_are_refused(secrets: ProjectSecrets) -> None:
    secrets.create("K9", "x" * 1000)
    for level in range(9):
        secrets.create(f"K{level}", f"${{K{level + 1}}}" * 10)
    answer = secrets.get("K0", status=400)
    assert (answer["error"], answer["message"][:11]) == ("BadRequest", "Secret 'K0'")
    assert secrets.get("K7")["secretValue"] == "x" * 100_000


def test_a_list_of_many_trees_is_refused_and_each_of_them_is_not(secrets: ProjectSecrets) -> None:
    secrets.create("LEAF", "x")
    secrets.create("BRANCH", "${LEAF}" * 90)
    trees = [{"secretKey": f"T{number}", "secretValue": "${BRANCH}" * 100} for number in range(200)]
    body = {**secrets.at(), "secrets": trees}
    secrets.client.json("POST", "/api/v4/secrets/batch", json=body)
    answer = secrets.client.json("GET", "/api/v4/secrets", status=400, params=secrets.at())
    assert answer["error"] == "BadRequest"
    assert "ask for fewer secrets at a time, or with expandSecretReferences=false" in answer["message"]
    assert len(secrets.values(expandSecretReferences="false")) == 202
    assert secrets.get("T7")["secretValue"] == "x" * 9000


@pytest.fixture
def other(service: Service) -> Project:
    project = service.create_project(name="other")
    service.create_secret(project, "SHARED", "cnry-shared")
    service.create_secret(project, "CHAIN", "<${SHARED}>")
    return project


def test_a_reference_into_another_project_needs_a_role_there(
    service: Service, secrets: ProjectSecrets, other: Project
) -> None:
    secrets.create("A", f"${{@{other.slug}.dev.CHAIN}}")
    secrets.create("PLAIN", "cnry-plain")
    both = service.create_identity(roles={secrets.project.id: "viewer", other.id: "viewer"})
    one = service.create_identity(roles={secrets.project.id: "viewer"})
    allowed, refused = (service.client(service.login(identity)) for identity in (both, one))
    listed = allowed.json("GET", "/api/v4/secrets", params=secrets.at())["secrets"]
    assert [secret["secretValue"] for secret in listed] == ["<cnry-shared>", "cnry-plain"]
    answer = refused.json("GET", "/api/v4/secrets", status=403, params=secrets.at())
    text = (
        "You do not have permission to read secret 'CHAIN' in environment 'dev' at path '/', "
        "which is referenced by secret 'A' in environment 'dev' at path '/'."
    )
    assert answer["message"] == "Failed to expand one or more secret references"
    assert answer["details"] == [text]
    assert refused.json("GET", "/api/v4/secrets/A", status=403, params=secrets.at())["message"] == text
    raw = {**secrets.at(), "expandSecretReferences": "false"}
    assert len(refused.json("GET", "/api/v4/secrets", params=raw)["secrets"]) == 2


def test_a_reference_into_an_unknown_project_stays(secrets: ProjectSecrets) -> None:
    secrets.create("A", "${@no-such-project.dev.KEY}")
    assert secrets.values() == {"A": "${@no-such-project.dev.KEY}"}


def test_what_is_named_deeper_than_folders_may_be_stays_as_it_is_written(
    service: Service, admin: Client, secrets: ProjectSecrets
) -> None:
    deep = "${dev" + ".b" * 65 + ".K}"
    secrets.folder("/app")
    secrets.create("A", deep, path="/app")
    reader = service.create_identity(roles={secrets.project.id: "no-access"})
    body = {
        "identityId": reader.identity_id,
        "actions": ["read", "read-value"],
        "environment": "dev",
        "secretPath": "/app/**",
    }
    admin.json("POST", f"/api/v1/projects/{secrets.project.id}/grants", json=body)
    # No folder can be there: it is not asked whether it may be read, which would take a look at each name.
    bound = ProjectSecrets(service.client(service.login(reader)), secrets.project)
    assert bound.values(path="/app") == secrets.values(path="/app") == {"A": deep}
