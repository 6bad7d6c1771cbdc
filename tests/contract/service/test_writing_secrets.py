from __future__ import annotations

from typing import Any

import pytest

from keybearer.wire.secrets import SecretAnswer, SecretsAnswer
from support.service_fixtures import Client, ProjectSecrets, Service, Strict

pytestmark = pytest.mark.every_database

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def test_create_update_and_delete_answer_the_secret(
    admin: Client, secrets: ProjectSecrets, strict: Strict
) -> None:
    body = {**secrets.at(), "secretValue": "cnry-one"}
    created = admin.json("POST", "/api/v4/secrets/A", json=body)
    updated = admin.json("PATCH", "/api/v4/secrets/A", json={**secrets.at(), "secretValue": "cnry-two"})
    deleted = admin.json("DELETE", "/api/v4/secrets/A", json=secrets.at())
    for answer in (created, updated, deleted):
        strict(SecretAnswer, answer)
    assert [a["secret"]["version"] for a in (created, updated, deleted)] == [1, 2, 2]
    assert [a["secret"]["secretValue"] for a in (created, updated, deleted)] == [
        "cnry-one",
        "cnry-two",
        "cnry-two",
    ]
    assert secrets.values() == {}


@pytest.mark.parametrize("project_key", ["workspaceId", "projectId", "projectSlug", "workspaceSlug"])
def test_v3_takes_the_project_by_any_of_its_names(
    admin: Client, secrets: ProjectSecrets, project_key: str
) -> None:
    named = secrets.project.slug if project_key.endswith("Slug") else secrets.project.id
    place = {project_key: named, "environment": "dev"}
    path = "/api/v3/secrets/raw/A"
    admin.json("POST", path, json={**place, "secretValue": "cnry-one", "type": "shared"})
    admin.json("PATCH", path, json={**place, "secretValue": "cnry-two", "type": 0})
    assert secrets.values() == {"A": "cnry-two"}
    admin.json("DELETE", path, json=place)
    assert secrets.values() == {}


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
def test_a_write_without_a_project_is_refused(admin: Client, method: str) -> None:
    body = {"environment": "dev", "secretValue": "cnry-v"}
    v3 = admin.json(method, "/api/v3/secrets/raw/A", status=400, json=body)
    assert v3["message"] == "Missing project id or environment"
    v4 = admin.json(method, "/api/v4/secrets/A", status=422, json=body)
    assert [issue["path"] for issue in v4["message"]] == [["projectId"]]


def test_a_value_is_trimmed_but_for_one_newline(secrets: ProjectSecrets) -> None:
    assert secrets.create("A", "  cnry-a \n\n")["secretValue"] == "cnry-a\n"
    assert secrets.values() == {"A": "cnry-a\n"}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("", id="nothing"),
        pytest.param("cnry-\0-nul", id="a NUL"),
        pytest.param("cnry-ünïcödé-🔑", id="letters of the world"),
        pytest.param("cnry-" + "x" * 200_000, id="long"),
        pytest.param("cnry-'; DROP TABLE secrets; --", id="words of SQL"),
    ],
)
def test_any_text_is_kept_as_it_is(secrets: ProjectSecrets, value: str) -> None:
    secrets.create("A", value)
    assert secrets.get("A")["secretValue"] == value


def test_an_existing_key_is_refused(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-one")
    answer = secrets.create("A", "cnry-two", status=400)
    assert (answer["error"], answer["message"]) == ("BadRequest", "Secret already exists")
    assert secrets.values() == {"A": "cnry-one"}


def test_a_secret_needs_its_folder(secrets: ProjectSecrets) -> None:
    answer = secrets.create("A", "cnry-a", status=404, path="/nowhere")
    assert (answer["error"], answer["message"]) == (
        "CreateSecret",
        "Folder with path '/nowhere' in environment with slug 'dev' not found",
    )


@pytest.mark.parametrize("name", ["a:b", "%20", "a%3Ab"])
def test_a_name_that_is_not_allowed_is_a_violation(secrets: ProjectSecrets, name: str) -> None:
    answer = secrets.create(name, "cnry-a", status=422)
    assert answer["error"] == "ValidationFailure"
    assert answer["message"][0]["path"] == ["secretName"]


def test_only_what_is_given_changes(secrets: ProjectSecrets) -> None:
    details: dict[str, Any] = {
        "secretComment": "cnry-comment",
        "secretMetadata": [{"key": "k", "value": "cnry-v", "isEncrypted": True}],
        "skipMultilineEncoding": True,
        "secretReminderNote": "rotate",
        "secretReminderRepeatDays": 30,
    }
    before = secrets.create("A", "cnry-one", **details)
    secrets.update("A", secretValue="cnry-two")
    after = secrets.get("A")
    assert {name: after[name] for name in details} == details
    assert after["createdAt"] == before["createdAt"]
    assert after["updatedAt"] >= before["updatedAt"]
    secrets.update("A", secretComment="", secretMetadata=[], skipMultilineEncoding=False)
    cleared = secrets.get("A")
    assert (cleared["secretComment"], cleared["secretMetadata"], cleared["skipMultilineEncoding"]) == (
        "",
        [],
        False,
    )
    assert cleared["secretReminderNote"] == "rotate"


def test_an_update_shows_the_value_of_the_request(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-one")
    answer = secrets.update("A", secretComment="only this")
    assert (answer["secretValue"], answer["version"]) == ("", 2)
    assert secrets.values() == {"A": "cnry-one"}


def test_an_empty_update_only_raises_the_version(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-one")
    assert secrets.update("A")["version"] == 2
    assert secrets.values() == {"A": "cnry-one"}


def test_a_missing_key_cannot_be_updated_or_deleted(secrets: ProjectSecrets) -> None:
    updated = secrets.update("GONE", status=404, secretValue="cnry-v")
    deleted = secrets.delete("GONE", status=404)
    assert (updated["error"], updated["message"]) == ("NotFound", "Secret with name GONE not found")
    assert (deleted["error"], deleted["message"]) == ("NotFound", "Secret not found")


def test_the_mask_of_a_hidden_value_is_never_stored(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-one")
    secrets.update("A", status=400, secretValue="<hidden-by-infisical>")
    secrets.create("B", "<hidden-by-infisical>", status=400)
    assert secrets.values() == {"A": "cnry-one"}


def test_a_rename_keeps_the_secret(secrets: ProjectSecrets) -> None:
    created = secrets.create("OLD", "cnry-v")
    renamed = secrets.update("OLD", newSecretName="NEW")
    assert (renamed["id"], renamed["secretKey"]) == (created["id"], "NEW")
    assert secrets.values() == {"NEW": "cnry-v"}


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        pytest.param("", 400, "New secret name cannot be empty", id="empty"),
        pytest.param("TAKEN", 400, "Secret with the new name already exists", id="taken"),
    ],
)
def test_a_rename_that_cannot_be_is_refused(
    secrets: ProjectSecrets, name: str, status: int, message: str
) -> None:
    secrets.create("OLD", "cnry-v")
    secrets.create("TAKEN", "cnry-t")
    assert secrets.update("OLD", status=status, newSecretName=name)["message"] == message


def test_a_rename_to_itself_changes_nothing_else(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-v")
    assert secrets.update("A", newSecretName="A")["secretKey"] == "A"


def test_a_rename_is_followed_by_those_that_refer_to_the_secret(secrets: ProjectSecrets) -> None:
    secrets.folder("/sub")
    secrets.create("OLD", "cnry-v")
    secrets.create("NEAR", "<${OLD}>")
    secrets.create("FAR", "<${dev.OLD}>", path="/sub")
    secrets.create("OWN", f"<${{@{secrets.project.slug}.dev.OLD}}>", environment="prod")
    secrets.create("OTHER", "<${prod.OLD}>")
    secrets.update("OLD", newSecretName="NEW")
    raw = {"expandSecretReferences": "false"}
    assert secrets.values(**raw) == {"NEAR": "<${NEW}>", "NEW": "cnry-v", "OTHER": "<${prod.OLD}>"}
    assert secrets.values(path="/sub", **raw) == {"FAR": "<${dev.NEW}>"}
    assert secrets.values(environment="prod", **raw) == {"OWN": f"<${{@{secrets.project.slug}.dev.NEW}}>"}
    assert secrets.get("NEAR")["version"] == 2
    assert secrets.get("NEAR", version="1", expandSecretReferences="false")["secretValue"] == "<${OLD}>"


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("create", "Must be user to create personal secret"),
        ("update", "Must be user to update personal secret"),
        ("delete", "Must be user to delete personal secret"),
    ],
)
@pytest.mark.parametrize("kind", ["personal", 1])
def test_a_machine_cannot_write_personal_secrets(
    secrets: ProjectSecrets, operation: str, message: str, kind: str | int
) -> None:
    arguments = ["A", "cnry-v"] if operation == "create" else ["A"]
    answer = getattr(secrets, operation)(*arguments, status=400, type=kind)
    assert answer["message"] == message


def test_an_unknown_tag_is_not_found(secrets: ProjectSecrets) -> None:
    answer = secrets.create("A", "cnry-v", status=404, tagIds=[UNKNOWN])
    assert answer["message"].startswith("Tag not found. Found 0")


def test_tags_given_replace_all(secrets: ProjectSecrets) -> None:
    base = f"/api/v1/projects/{secrets.project.id}/tags"
    one, two = (secrets.client.json("POST", base, json={"slug": s})["tag"]["id"] for s in ("one", "two"))
    secrets.create("A", "cnry-v", tagIds=[one])
    secrets.update("A", tagIds=[two])
    assert [tag["slug"] for tag in secrets.get("A")["tags"]] == ["two"]
    secrets.update("A", secretValue="cnry-w")
    assert [tag["slug"] for tag in secrets.get("A")["tags"]] == ["two"]
    secrets.client.json("DELETE", f"{base}/{two}")
    assert secrets.get("A")["tags"] == []


@pytest.mark.parametrize(
    ("value", "status"),
    [pytest.param(1024 * 1024, 200, id="one MiB"), pytest.param(1024 * 1024 + 1, 422, id="one byte more")],
)
def test_a_value_is_bounded(secrets: ProjectSecrets, value: int, status: int) -> None:
    secrets.create("A", "x" * value, status=status)


@pytest.mark.parametrize(
    ("role", "statuses"),
    [
        pytest.param("admin", [200, 200, 200], id="an admin writes"),
        pytest.param("member", [200, 200, 200], id="a member writes"),
        pytest.param("viewer", [403, 403, 403], id="a viewer doesn't"),
        pytest.param("no-access", [403, 403, 403], id="no-access doesn't"),
    ],
)
def test_roles_decide_who_writes(
    service: Service, secrets: ProjectSecrets, role: str, statuses: list[int]
) -> None:
    if role in {"viewer", "no-access"}:
        secrets.create("A", "cnry-v")
    client = service.client(service.login(service.create_identity(roles={secrets.project.id: role})))
    answered = [
        client.request(
            method, "/api/v4/secrets/A", json={**secrets.at(), "secretValue": "cnry-w"}
        ).status_code
        for method in ("POST", "PATCH", "DELETE")
    ]
    assert answered == statuses


BATCHES = [
    pytest.param("/api/v3/secrets/batch/raw", "workspaceId", id="v3"),
    pytest.param("/api/v4/secrets/batch", "projectId", id="v4"),
]


@pytest.mark.parametrize(("path", "name"), BATCHES)
def test_a_batch_creates_updates_and_deletes(
    admin: Client, secrets: ProjectSecrets, strict: Strict, path: str, name: str
) -> None:
    place = {name: secrets.project.id, "environment": "dev", "secretPath": "/"}
    new = [{"secretKey": key, "secretValue": f"cnry-{key}", "secretComment": "c"} for key in ("A", "B", "C")]
    created = admin.json("POST", path, json={**place, "secrets": new})
    strict(SecretsAnswer, created)
    assert secrets.values() == {"A": "cnry-A", "B": "cnry-B", "C": "cnry-C"}
    changes = [{"secretKey": "A", "secretValue": "cnry-new"}, {"secretKey": "B", "newSecretName": "D"}]
    strict(SecretsAnswer, admin.json("PATCH", path, json={**place, "secrets": changes}))
    assert secrets.values() == {"A": "cnry-new", "C": "cnry-C", "D": "cnry-B"}
    gone = [{"secretKey": "A"}, {"secretKey": "D", "type": "shared"}]
    strict(SecretsAnswer, admin.json("DELETE", path, json={**place, "secrets": gone}))
    assert secrets.values() == {"C": "cnry-C"}


def test_one_bad_item_undoes_the_whole_batch(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.create("B", "cnry-b")
    path = "/api/v4/secrets/batch"
    new = [{"secretKey": key, "secretValue": "cnry-v"} for key in ("A", "B")]
    admin.json("POST", path, status=400, json={**secrets.at(), "secrets": new})
    twice = [{"secretKey": "A", "secretValue": "cnry-v"}] * 2
    admin.json("POST", path, status=400, json={**secrets.at(), "secrets": twice})
    changes = [{"secretKey": "B", "secretValue": "cnry-w"}, {"secretKey": "GONE", "secretValue": "cnry-v"}]
    admin.json("PATCH", path, status=404, json={**secrets.at(), "secrets": changes})
    gone = [{"secretKey": "B"}, {"secretKey": "GONE"}]
    admin.json("DELETE", path, status=404, json={**secrets.at(), "secrets": gone})
    assert secrets.values() == {"B": "cnry-b"}


def test_a_batch_may_update_other_folders(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.folder("/sub")
    secrets.create("A", "cnry-a", path="/sub")
    change = {"secretKey": "A", "secretPath": "/sub", "secretValue": "cnry-new"}
    admin.json("PATCH", "/api/v4/secrets/batch", json={**secrets.at(), "secrets": [change]})
    assert secrets.values(path="/sub") == {"A": "cnry-new"}


def test_an_empty_path_of_an_item_is_the_path_of_its_batch(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.folder("/sub")
    for path in ("/", "/sub"):
        secrets.create("A", "cnry-a", path=path)
    change = {"secretKey": "A", "secretPath": "", "secretValue": "cnry-new"}
    body = {**secrets.at(path="/sub"), "secrets": [change]}
    admin.json("PATCH", "/api/v4/secrets/batch", json=body)
    assert (secrets.values(), secrets.values(path="/sub")) == ({"A": "cnry-a"}, {"A": "cnry-new"})


@pytest.mark.parametrize(
    ("mode", "status", "stored"),
    [
        pytest.param("failOnNotFound", 404, {"A": "cnry-a"}, id="fail"),
        pytest.param("upsert", 200, {"A": "cnry-new", "B": "cnry-b"}, id="upsert"),
        pytest.param("ignore", 200, {"A": "cnry-new"}, id="ignore"),
    ],
)
def test_a_batch_update_says_what_to_do_with_missing_keys(
    admin: Client, secrets: ProjectSecrets, mode: str, status: int, stored: dict[str, str]
) -> None:
    secrets.create("A", "cnry-a")
    changes = [{"secretKey": "A", "secretValue": "cnry-new"}, {"secretKey": "B", "secretValue": "cnry-b"}]
    body = {**secrets.at(), "mode": mode, "secrets": changes}
    admin.json("PATCH", "/api/v4/secrets/batch", status=status, json=body)
    assert secrets.values() == stored


def test_an_upsert_makes_what_an_update_would_have_made(admin: Client, secrets: ProjectSecrets) -> None:
    fresh = {"secretKey": "A", "secretReminderNote": None, "secretReminderRepeatDays": None}
    body = {**secrets.at(), "mode": "upsert", "secrets": [fresh]}
    made = admin.json("PATCH", "/api/v4/secrets/batch", json=body)["secrets"][0]
    assert (made["secretReminderNote"], made["secretReminderRepeatDays"]) == (None, None)
    for key in ("A", "B"):
        nameless = {**body, "secrets": [{"secretKey": key, "newSecretName": " "}]}
        told = admin.json("PATCH", "/api/v4/secrets/batch", status=400, json=nameless)
        assert told["message"] == "New secret name cannot be empty"
    assert list(secrets.values()) == ["A"]


def test_a_batch_deletes_by_trimmed_names(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a")
    body = {**secrets.at(), "secrets": [{"secretKey": " A "}]}
    for nobodys in ("", "a:b", "A\0"):
        wrong = {**body, "secrets": [{"secretKey": nobodys}]}
        admin.json("DELETE", "/api/v4/secrets/batch", status=422, json=wrong)
    twice = {**body, "secrets": [{"secretKey": " A "}, {"secretKey": "A"}]}
    assert len(admin.json("DELETE", "/api/v4/secrets/batch", json=twice)["secrets"]) == 1
    assert secrets.values() == {}


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
def test_a_batch_of_nothing_is_a_violation(admin: Client, secrets: ProjectSecrets, method: str) -> None:
    body = {**secrets.at(), "secrets": []}
    admin.json(method, "/api/v4/secrets/batch", status=422, json=body)


def test_auto_capitalization_writes_names_in_capitals(admin: Client, secrets: ProjectSecrets) -> None:
    path = f"/api/v1/projects/{secrets.project.id}"
    admin.json("PATCH", path, json={"autoCapitalization": True})
    assert secrets.create("lower", "cnry-v")["secretKey"] == "LOWER"


def test_reminders_are_kept_and_null_takes_them_away(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a", secretReminderNote="cnry-note", secretReminderRepeatDays=30)
    secrets.update("A", secretReminderRecipients=["one", "two"])
    found = secrets.get("A")
    assert (found["secretReminderNote"], found["secretReminderRepeatDays"]) == ("cnry-note", 30)
    assert found["secretReminderRecipients"] == ["one", "two"]
    secrets.update("A", secretReminderNote=None, secretReminderRepeatDays=None)
    found = secrets.get("A")
    assert (found["secretReminderNote"], found["secretReminderRepeatDays"]) == (None, None)
    assert secrets.get("A", version="2")["secretReminderRecipients"] == ["one", "two"]


def test_zeros_are_no_reminder_in_new_secrets_and_take_one_away_from_others(
    admin: Client, secrets: ProjectSecrets
) -> None:
    place = {"workspaceId": secrets.project.id, "environment": "dev", "secretPath": "/", "type": "shared"}
    none = {"secretReminderNote": "", "secretReminderRepeatDays": 0}
    path = "/api/v3/secrets/raw/PLAIN"
    body = {**place, **none, "secretKey": "PLAIN", "secretValue": "", "secretComment": "", "tagIds": []}
    made = admin.json("POST", path, json=body)["secret"]
    assert (made["secretReminderNote"], made["secretReminderRepeatDays"]) == (None, None)
    secrets.update(
        "PLAIN", secretValue="cnry-v", secretComment="why", secretReminderNote="n", secretReminderRepeatDays=1
    )
    admin.json("PATCH", path, json={**place, "tagIds": [""]})
    found = secrets.get("PLAIN")
    assert (found["secretReminderNote"], found["secretReminderRepeatDays"]) == ("n", 1)
    admin.json("PATCH", path, json={**place, **none, "tagIds": []})
    found = secrets.get("PLAIN")
    assert (found["secretReminderNote"], found["secretReminderRepeatDays"]) == (None, None)
    assert (found["secretValue"], found["secretComment"]) == ("cnry-v", "why")


def test_empty_texts_empty_values_and_comments(secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a", secretComment="why")
    secrets.update("A", secretComment="")
    assert (secrets.get("A")["secretValue"], secrets.get("A")["secretComment"]) == ("cnry-a", "")
    secrets.update("A", secretValue="")
    assert secrets.get("A")["secretValue"] == ""


@pytest.mark.parametrize("path", ["/api/v3/secrets/raw", "/api/v4/secrets"])
@pytest.mark.parametrize("name", ["a/b", "a%2Fb", "a%2fb/c"])
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_a_name_with_a_slash_is_no_secret_that_is_missing(
    admin: Client, secrets: ProjectSecrets, method: str, path: str, name: str
) -> None:
    body = {} if method == "GET" else {"json": {**secrets.at(), "secretValue": "cnry-v"}}
    refused = admin.json(method, f"{path}/{name}", status=422, params=secrets.at(), **body)
    [issue] = refused["message"]
    assert issue["message"] == "Secret name cannot contain colon or forward slash."


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (["A"], "Secret already exists"),
        (["B", "A", "C"], "Secret already exists: A"),
        (["B", "C", "B"], "Secret already exists: B"),
    ],
)
def test_a_refused_batch_names_the_key(
    admin: Client, secrets: ProjectSecrets, keys: list[str], told: str
) -> None:
    secrets.create("A", "cnry-a")
    items = [{"secretKey": key, "secretValue": "cnry-v"} for key in keys]
    body = {**secrets.at(), "secrets": items}
    assert admin.json("POST", "/api/v4/secrets/batch", status=400, json=body)["message"] == told
    assert secrets.values() == {"A": "cnry-a"}


def test_a_batch_does_one_thing_after_the_other(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-1")
    changes = [
        {"secretKey": "A", "secretValue": "cnry-2"},
        {"secretKey": "A", "secretValue": "cnry-3"},
        {"secretKey": "A", "newSecretName": "B"},
        {"secretKey": "B", "secretValue": "cnry-4"},
        {"secretKey": "NEW", "secretValue": "cnry-new"},
        {"secretKey": "NEW", "secretComment": "c"},
    ]
    body = {**secrets.at(), "mode": "upsert", "secrets": changes}
    answer = admin.json("PATCH", "/api/v4/secrets/batch", json=body)["secrets"]
    assert [(item["secretKey"], item["version"]) for item in answer] == [
        ("A", 2),
        ("A", 3),
        ("B", 4),
        ("B", 5),
        ("NEW", 1),
        ("NEW", 2),
    ]
    assert secrets.values() == {"B": "cnry-4", "NEW": "cnry-new"}
