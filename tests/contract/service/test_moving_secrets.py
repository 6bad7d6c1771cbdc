from __future__ import annotations

from typing import Any

import pytest

from keybearer.wire.secret_moves import MovedSecrets, ReferenceTreeAnswer, SecretVersions
from keybearer.wire.secrets import SecretsAnswer
from support.service_fixtures import Client, ProjectSecrets, Service, Strict

pytestmark = pytest.mark.every_database


@pytest.fixture
def shelf(secrets: ProjectSecrets) -> ProjectSecrets:
    """A project with the folders /from and, in prod, /to."""
    secrets.folder("/from")
    secrets.folder("/to", environment="prod")
    return secrets


def transfer(secrets: ProjectSecrets, *ids: str, **more: object) -> dict[str, Any]:
    return {
        "projectId": secrets.project.id,
        "sourceEnvironment": "dev",
        "sourceSecretPath": "/from",
        "destinationEnvironment": "prod",
        "destinationSecretPath": "/to",
        "secretIds": list(ids),
        **more,
    }


@pytest.mark.parametrize("path", ["/api/v3/secrets/move", "/api/v4/secrets/move"], ids=["v3", "v4"])
def test_a_moved_secret_keeps_its_id_and_its_versions(
    admin: Client, shelf: ProjectSecrets, strict: Strict, path: str
) -> None:
    secret = shelf.create("A", "cnry-1", path="/from", secretComment="c")
    shelf.update("A", path="/from", secretValue="cnry-2")
    answer = strict(MovedSecrets, admin.json("POST", path, json=transfer(shelf, secret["id"])))
    assert (answer.is_source_updated, answer.is_destination_updated) == (True, True)
    assert shelf.values(path="/from") == {}
    moved = shelf.get("A", path="/to", environment="prod")
    assert (moved["id"], moved["secretValue"], moved["version"]) == (secret["id"], "cnry-2", 3)
    assert moved["secretComment"] == "c"
    assert shelf.get("A", path="/to", environment="prod", version="1")["secretValue"] == "cnry-1"


def test_references_follow_a_moved_secret(admin: Client, shelf: ProjectSecrets) -> None:
    ids = [shelf.create(key, f"cnry-{key}", path="/from")["id"] for key in ("A", "B")]
    ids.append(shelf.create("AB", "${A}${B}", path="/from")["id"])
    shelf.create("STAYS", "${A} ${dev.from.B}", path="/from")
    admin.json("POST", "/api/v4/secrets/move", json=transfer(shelf, *ids))
    assert shelf.values(path="/from") == {"STAYS": "cnry-A cnry-B"}
    raw = shelf.values(path="/from", expandSecretReferences="false")
    assert raw == {"STAYS": "${prod.to.A} ${prod.to.B}"}
    moved = shelf.values(path="/to", environment="prod", expandSecretReferences="false")
    assert moved["AB"] == "${A}${B}"


def test_copies_are_secrets_of_their_own(admin: Client, shelf: ProjectSecrets, strict: Strict) -> None:
    secret = shelf.create("A", "cnry-1", path="/from", secretMetadata=[{"key": "k", "value": "v"}])
    answer = admin.json("POST", "/api/v4/secrets/duplicate", json=transfer(shelf, secret["id"]))
    [copy] = strict(SecretsAnswer, answer).secrets
    assert (copy.secret_value, copy.version, copy.environment, copy.secret_path) == (
        "cnry-1",
        1,
        "prod",
        "/to",
    )
    assert [item.key for item in copy.secret_metadata] == ["k"]
    assert copy.id != secret["id"]
    shelf.update("A", path="/from", secretValue="cnry-2")
    assert shelf.values(path="/to", environment="prod") == {"A": "cnry-1"}


@pytest.mark.parametrize("action", ["move", "duplicate"])
def test_a_taken_key_is_overwritten_only_if_asked(admin: Client, shelf: ProjectSecrets, action: str) -> None:
    secret = shelf.create("A", "cnry-new", path="/from")
    there = shelf.create("A", "cnry-old", path="/to", environment="prod")
    path = f"/api/v4/secrets/{action}"
    refused = admin.json("POST", path, status=400, json=transfer(shelf, secret["id"]))
    assert refused["message"] == (
        "Secret 'A' already exists in '/to' of environment 'prod'; send shouldOverwrite to replace it"
    )
    admin.json("POST", path, json=transfer(shelf, secret["id"], shouldOverwrite=True))
    found = shelf.get("A", path="/to", environment="prod")
    assert (found["id"], found["version"], found["secretValue"]) == (there["id"], 2, "cnry-new")
    assert shelf.values(path="/from") == ({} if action == "move" else {"A": "cnry-new"})


@pytest.mark.parametrize("action", ["move", "duplicate"])
def test_one_unknown_secret_or_folder_and_nothing_happens(
    admin: Client, shelf: ProjectSecrets, action: str
) -> None:
    secret = shelf.create("A", "cnry-a", path="/from")
    elsewhere = shelf.create("B", "cnry-b")
    path = f"/api/v4/secrets/{action}"
    body = transfer(shelf, secret["id"], elsewhere["id"])
    assert admin.json("POST", path, status=404, json=body)["message"] == (
        "Secret not found. Found 1 of 2 secrets"
    )
    gone = transfer(shelf, secret["id"], destinationSecretPath="/gone")
    assert admin.json("POST", path, status=404, json=gone)["message"] == (
        "Folder with path '/gone' in environment with slug 'prod' not found"
    )
    assert shelf.values(path="/from") == {"A": "cnry-a"}


def test_a_move_to_the_same_folder_is_refused(admin: Client, shelf: ProjectSecrets) -> None:
    secret = shelf.create("A", "cnry-a", path="/from")
    body = transfer(
        shelf, secret["id"], destinationEnvironment="dev", destinationSecretPath="/from", shouldOverwrite=True
    )
    admin.json("POST", "/api/v4/secrets/move", status=400, json=body)
    assert shelf.values(path="/from") == {"A": "cnry-a"}


@pytest.mark.parametrize("action", ["move", "duplicate"])
def test_a_viewer_moves_and_copies_nothing(service: Service, shelf: ProjectSecrets, action: str) -> None:
    secret = shelf.create("A", "cnry-a", path="/from")
    viewer = service.client(service.login(service.create_identity(roles={shelf.project.id: "viewer"})))
    path = f"/api/v4/secrets/{action}"
    denied = viewer.json("POST", path, status=403, json=transfer(shelf, secret["id"]))
    assert denied["error"] == "PermissionDenied"


def test_a_reference_tree_shows_what_a_value_is_made_of(
    admin: Client, secrets: ProjectSecrets, strict: Strict
) -> None:
    secrets.create("LEAF", "cnry-leaf", environment="prod")
    secrets.create("MIDDLE", "<${prod.LEAF}>")
    secrets.create("CIRCLE", "${CIRCLE}")
    secrets.create("ROOT", "${MIDDLE} ${GONE} ${CIRCLE} ${MIDDLE}")
    params = secrets.at()
    path = "/api/v4/secrets/ROOT/secret-reference-tree"
    answer = strict(ReferenceTreeAnswer, admin.json("GET", path, params=params))
    assert answer.value == "<cnry-leaf> ${GONE} ${CIRCLE} <cnry-leaf>"
    tree = answer.tree
    assert (tree.key, tree.environment, tree.secret_path) == ("ROOT", "dev", "/")
    assert [(child.key, child.value) for child in tree.children] == [
        ("MIDDLE", "<${prod.LEAF}>"),
        ("GONE", None),
        ("CIRCLE", "${CIRCLE}"),
    ]
    [leaf] = tree.children[0].children
    assert (leaf.key, leaf.environment, leaf.value, leaf.children) == ("LEAF", "prod", "cnry-leaf", [])
    assert tree.children[2].children == []
    gone = admin.json("GET", "/api/v4/secrets/GONE/secret-reference-tree", status=404, params=params)
    assert gone["message"] == "Secret with name 'GONE' not found"


def test_versions_are_listed_newest_first(
    service: Service, admin: Client, secrets: ProjectSecrets, strict: Strict
) -> None:
    secret = secrets.create("A", "cnry-1")
    secrets.update("A", secretValue="cnry-2", secretComment="c")
    secrets.update("A", newSecretName="B")
    path = f"/api/v1/secret/{secret['id']}/secret-versions"
    found = strict(SecretVersions, admin.json("GET", path)).secret_versions
    assert [(one.version, one.secret_key, one.secret_value) for one in found] == [
        (3, "B", "cnry-2"),
        (2, "A", "cnry-2"),
        (1, "A", "cnry-1"),
    ]
    [middle] = admin.json("GET", path, params={"offset": 1, "limit": 1})["secretVersions"]
    assert (middle["version"], middle["secretComment"]) == (2, "c")
    stranger = service.client(service.login(service.create_identity()))
    assert stranger.json("GET", path, status=403)["error"] == "PermissionDenied"
    assert admin.get(path.replace(secret["id"], "gone")).status_code == 404


HALF = r'"\ud800"'


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        pytest.param("/api/v4/secrets/A", f'"environment":"dev","secretValue":{HALF}', id="a value"),
        pytest.param(
            "/api/v4/secrets/A",
            f'"environment":"dev","secretValue":"x","tagIds":[{HALF}]',
            id="an id in a list",
        ),
        pytest.param(
            "/api/v4/secrets/move",
            f'"sourceEnvironment":"dev","destinationEnvironment":"prod","secretIds":[{HALF}]',
            id="an id of a move",
        ),
    ],
)
def test_half_of_a_character_is_a_violation(
    admin: Client, secrets: ProjectSecrets, path: str, fields: str
) -> None:
    body = f'{{"projectId":"{secrets.project.id}",{fields}}}'
    answer = admin.json("POST", path, status=422, content=body, headers={"content-type": "application/json"})
    assert answer["error"] == "ValidationFailure"
