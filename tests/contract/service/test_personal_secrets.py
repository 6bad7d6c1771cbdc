"""A user's own values on top of shared secrets (wire.md sections 2.4, 2.6 and 2.8)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from keybearer.wire.secrets import SecretAnswer, SecretList
from support.service_fixtures import Client, Person, Project, ProjectSecrets, Service, Strict

pytestmark = pytest.mark.every_database


@dataclass
class Member:
    """A user, and the project through the user's eyes."""

    person: Person
    client: Client
    secrets: ProjectSecrets

    def own(self, **query: str) -> dict[str, str]:
        return self.secrets.values(includePersonalOverrides="true", **query)


def member(service: Service, project: Project, role: str = "member") -> Member:
    person = service.create_user(roles={project.id: role})
    client = service.client(service.login_user(person))
    return Member(person, client, ProjectSecrets(client, project))


@pytest.fixture
def ada(service: Service, project: Project, secrets: ProjectSecrets) -> Member:
    """A member of a project with two shared secrets, one of which she has overridden."""
    secrets.create("KEY", "cnry-shared")
    secrets.create("OTHER", "cnry-other")
    ada = member(service, project)
    ada.secrets.create("KEY", "cnry-own", type="personal")
    return ada


def test_a_personal_secret_stands_on_top_of_the_shared_one(
    ada: Member, secrets: ProjectSecrets, strict: Strict
) -> None:
    at = {**secrets.at("dev", "/"), "type": "personal"}
    answer = strict(SecretAnswer, ada.client.json("GET", "/api/v4/secrets/KEY", params=at)).secret
    assert (answer.type, answer.user, answer.secret_value) == ("personal", ada.person.user_id, "cnry-own")
    assert ada.secrets.get("KEY")["secretValue"] == "cnry-shared"
    assert "user" not in ada.secrets.get("KEY")
    by_id = ada.client.json("GET", f"/api/v4/secrets/id/{answer.id}")["secret"]
    assert by_id["secretValue"] == "cnry-own"


def test_a_list_shows_it_where_overrides_are_asked_for(
    ada: Member, secrets: ProjectSecrets, strict: Strict
) -> None:
    at = {**secrets.at("dev", "/"), "includePersonalOverrides": "true"}
    listed = strict(SecretList, ada.client.json("GET", "/api/v4/secrets", params=at)).secrets
    assert [(item.secret_key, item.type, item.secret_value) for item in listed] == [
        ("KEY", "personal", "cnry-own"),
        ("OTHER", "shared", "cnry-other"),
    ]
    assert ada.secrets.values() == {"KEY": "cnry-shared", "OTHER": "cnry-other"}
    hidden = ada.secrets.list(includePersonalOverrides="true", viewSecretValue="false")
    assert {item["secretValue"] for item in hidden} == {"<hidden-by-infisical>"}


def test_a_recursive_list_shows_those_of_every_folder(ada: Member, secrets: ProjectSecrets) -> None:
    secrets.folder("/deep/er")
    secrets.create("DEEP", "cnry-shared", path="/deep/er")
    ada.secrets.create("DEEP", "cnry-own-deep", path="/deep/er", type="personal")
    shown = {"KEY": "cnry-own", "OTHER": "cnry-other", "DEEP": "cnry-own-deep"}
    assert ada.own(recursive="true") == shown


def test_nobody_else_sees_it(
    ada: Member, service: Service, project: Project, secrets: ProjectSecrets
) -> None:
    own = ada.secrets.get("KEY", type="personal")
    shown = {"KEY": "cnry-shared", "OTHER": "cnry-other"}
    bob = member(service, project, "admin")
    for other in (bob.secrets, secrets):
        assert other.values(includePersonalOverrides="true") == shown
        other.get("KEY", status=404, type="personal")
        other.client.json("GET", f"/api/v4/secrets/id/{own['id']}", status=404)
    bob.secrets.create("KEY", "cnry-bobs", type="personal")
    assert bob.own()["KEY"] == "cnry-bobs"
    assert ada.own()["KEY"] == "cnry-own"


def test_it_has_versions_of_its_own(ada: Member) -> None:
    changed = ada.secrets.update("KEY", secretValue="cnry-newer", type="personal")
    assert (changed["version"], changed["type"]) == (2, "personal")
    assert ada.own()["KEY"] == "cnry-newer"
    assert ada.secrets.get("KEY", type="personal", version="1")["secretValue"] == "cnry-own"
    assert (ada.secrets.get("KEY")["version"], ada.secrets.get("KEY")["secretValue"]) == (1, "cnry-shared")


def test_it_goes_by_itself_or_with_the_shared_one(ada: Member, secrets: ProjectSecrets) -> None:
    gone = ada.secrets.delete("KEY", type="personal")
    assert (gone["type"], gone["secretValue"]) == ("personal", "cnry-own")
    assert ada.own()["KEY"] == "cnry-shared"
    assert ada.secrets.delete("KEY", status=404, type="personal")["message"] == "Secret not found"
    ada.secrets.create("KEY", "cnry-again", type="personal")
    secrets.delete("KEY")
    secrets.create("KEY", "cnry-made-anew")
    assert ada.own()["KEY"] == "cnry-made-anew"


def test_it_follows_the_shared_one_to_a_new_name(ada: Member, secrets: ProjectSecrets) -> None:
    secrets.update("KEY", newSecretName="RENAMED")
    assert ada.own() == {"RENAMED": "cnry-own", "OTHER": "cnry-other"}
    secrets.create("KEY", "cnry-shared-again")
    assert ada.own()["KEY"] == "cnry-shared-again"


def test_references_lead_to_ones_own_values(
    ada: Member, service: Service, project: Project, secrets: ProjectSecrets
) -> None:
    secrets.folder("/far")
    secrets.create("FAR", "cnry-far", path="/far")
    secrets.create("NAMES", "${KEY} ${dev.far.FAR}")
    ada.secrets.create("FAR", "cnry-own-far", path="/far", type="personal")
    # Rows and references of a list follow one rule.
    assert (ada.own()["KEY"], ada.own()["NAMES"]) == ("cnry-own", "cnry-own cnry-own-far")
    shared = ada.secrets.values()
    assert (shared["KEY"], shared["NAMES"]) == ("cnry-shared", "cnry-shared cnry-far")
    assert ada.secrets.get("NAMES")["secretValue"] == "cnry-own cnry-own-far"
    bob = member(service, project)
    for other in (bob.secrets, secrets):
        assert other.values()["NAMES"] == "cnry-shared cnry-far"
        assert other.get("NAMES")["secretValue"] == "cnry-shared cnry-far"


@pytest.mark.parametrize("project_named_by", ["workspaceId", "workspaceSlug"])
def test_published_command_lines_get_ones_own_values_from_the_older_list(
    ada: Member, project: Project, secrets: ProjectSecrets, project_named_by: str
) -> None:
    secrets.create("NAMES", "${KEY}")
    named = {"workspaceId": project.id, "workspaceSlug": project.slug}[project_named_by]

    def listed(client: Client, **query: str) -> dict[str, tuple[str, str]]:
        params = {project_named_by: named, "environment": "dev", "secretPath": "/", **query}
        rows = client.json("GET", "/api/v3/secrets/raw", params=params)["secrets"]
        return {row["secretKey"]: (row["type"], row["secretValue"]) for row in rows}

    shared = {"KEY": ("shared", "cnry-shared"), "NAMES": ("shared", "cnry-shared")}
    own = {"KEY": ("personal", "cnry-own"), "NAMES": ("shared", "cnry-own")}
    others = {"OTHER": ("shared", "cnry-other")}
    assert listed(ada.client) == {**own, **others}
    assert listed(ada.client, includePersonalOverrides="false") == {**shared, **others}
    assert listed(secrets.client) == {**shared, **others}


def test_a_renamed_secret_is_followed_by_personal_texts_that_name_it(
    ada: Member, secrets: ProjectSecrets
) -> None:
    ada.secrets.update("KEY", secretValue="${OTHER}!", type="personal")
    secrets.update("OTHER", newSecretName="ANOTHER")
    assert ada.own() == {"KEY": "cnry-other!", "ANOTHER": "cnry-other"}


def test_the_tag_of_a_list_changes_with_ones_own_secrets(ada: Member, secrets: ProjectSecrets) -> None:
    secrets.create("NAMES", "${KEY}")

    def tag(*, overrides: str, known: str = "") -> tuple[int, str]:
        params = {**secrets.at("dev", "/"), "includePersonalOverrides": overrides}
        answer = ada.client.get("/api/v4/secrets", params=params, headers={"if-none-match": known})
        return answer.status_code, answer.headers["etag"]

    _, with_own = tag(overrides="true")
    _, without = tag(overrides="false")
    assert with_own != without
    assert tag(overrides="true", known=with_own) == (304, with_own)
    assert tag(overrides="true", known=without)[0] == 200
    ada.secrets.update("KEY", secretValue="cnry-newer", type="personal")
    # The list without overrides gets another tag, too: its project has another revision.
    for overrides, known in (("true", with_own), ("false", without)):
        assert tag(overrides=overrides, known=known)[0] == 200


def test_only_users_have_personal_secrets(ada: Member, secrets: ProjectSecrets) -> None:
    assert ada.person.user_id
    for verb, told in (
        ("create", secrets.create("KEY", "cnry-x", status=400, type="personal")),
        ("update", secrets.update("KEY", status=400, secretValue="cnry-x", type="personal")),
        ("delete", secrets.delete("KEY", status=400, type="personal")),
    ):
        assert (told["error"], told["message"]) == ("BadRequest", f"Must be user to {verb} personal secret")


def test_a_personal_secret_needs_a_shared_one_and_keeps_its_name(ada: Member) -> None:
    alone = ada.secrets.create("ALONE", "cnry-x", status=400, type="personal")
    assert alone["message"] == "Failed to create personal secret override for no corresponding shared secret"
    twice = ada.secrets.create("KEY", "cnry-x", status=400, type="personal")
    assert twice["message"] == "Secret already exists"
    renamed = ada.secrets.update("KEY", status=400, newSecretName="NEW", type="personal")
    assert renamed["message"] == "Personal secret cannot change the key name"
    missing = ada.secrets.update("OTHER", status=404, secretValue="cnry-x", type="personal")
    assert missing["message"] == "Secret with name OTHER not found"


def test_a_viewer_overrides_nothing(ada: Member, service: Service, project: Project) -> None:
    viewer = member(service, project, "viewer")
    viewer.secrets.create("KEY", "cnry-x", status=403, type="personal")
    assert ada.own()["KEY"] == "cnry-own"


def test_batches_write_personal_secrets_too(ada: Member, secrets: ProjectSecrets) -> None:
    at = secrets.at("dev", "/")
    path = "/api/v4/secrets/batch"
    ada.client.json(
        "POST",
        path,
        json={**at, "type": "personal", "secrets": [{"secretKey": "OTHER", "secretValue": "cnry-1"}]},
    )
    both = [{"secretKey": "KEY", "secretValue": "cnry-2"}, {"secretKey": "OTHER", "secretValue": "cnry-3"}]
    ada.client.json("PATCH", path, json={**at, "type": "personal", "secrets": both})
    assert ada.own() == {"KEY": "cnry-2", "OTHER": "cnry-3"}
    mixed = [{"secretKey": "KEY", "type": "personal"}, {"secretKey": "OTHER"}]
    ada.client.json("DELETE", path, status=400, json={**at, "secrets": mixed})
    own = [{"secretKey": "KEY", "type": "personal"}, {"secretKey": "OTHER", "type": "personal"}]
    ada.client.json("DELETE", path, json={**at, "secrets": own})
    assert ada.own() == ada.secrets.values() == {"KEY": "cnry-shared", "OTHER": "cnry-other"}


def test_personal_secrets_go_with_their_user(
    ada: Member, admin: Client, service: Service, secrets: ProjectSecrets
) -> None:
    admin.json("DELETE", f"/api/v1/users/{ada.person.user_id}")
    body = {"email": ada.person.email, "password": ada.person.password}
    made = admin.json("POST", "/api/v1/users", json=body)["user"]
    named = {"emails": [made["email"]]}
    admin.json("POST", f"/api/v1/projects/{secrets.project.id}/memberships", json=named)
    client = service.client(service.login_user(Person(made["id"], made["email"], ada.person.password)))
    again = ProjectSecrets(client, secrets.project)
    assert again.values(includePersonalOverrides="true")["KEY"] == "cnry-shared"
