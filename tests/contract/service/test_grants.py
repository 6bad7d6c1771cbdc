"""Path-scoped grants over HTTP: what they give, what they take, who may give them (docs/interface.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keybearer.interface.grants import GrantAnswer, GrantList
from support.rows import each_row
from support.service_fixtures import (
    Client,
    Credentials,
    Project,
    ProjectSecrets,
    Service,
    Strict,
)

pytestmark = pytest.mark.every_database

FOLDERS = ("/app", "/app/db", "/other")
ALL = ["read", "read-value", "create", "edit", "delete"]
Granting = Callable[..., dict[str, Any]]


@pytest.fixture
def filled(secrets: ProjectSecrets) -> ProjectSecrets:
    """The project with a secret in each folder, named after it."""
    secrets.create("ROOT", "cnry-root")
    for path in FOLDERS:
        secrets.folder(path)
        secrets.create(path.strip("/").replace("/", "_").upper(), f"cnry{path.replace('/', '-')}", path=path)
    return secrets


@pytest.fixture
def outsider(service: Service, project: Project) -> Credentials:
    """An identity that is a member of the project, and may nothing in it."""
    return service.create_identity(roles={project.id: "no-access"})


@pytest.fixture
def grant(admin: Client, project: Project) -> Granting:
    def make(
        to: Credentials, *actions: str, status: int = 200, client: Client = admin, **more: object
    ) -> dict[str, Any]:
        body = {"identityId": to.identity_id, "actions": actions, "environment": "dev", **more}
        answer = client.json("POST", f"/api/v1/projects/{project.id}/grants", status=status, json=body)
        shown: dict[str, Any] = answer["grant"] if status == 200 else answer
        return shown

    return make


def view(service: Service, project: Project, who: Credentials) -> ProjectSecrets:
    return ProjectSecrets(service.client(service.login(who)), project)


def test_a_grant_is_answered_listed_changed_and_removed(
    admin: Client, project: Project, outsider: Credentials, strict: Strict
) -> None:
    path = f"/api/v1/projects/{project.id}/grants"
    body = {"identityId": outsider.identity_id, "actions": ["read"], "environment": "dev"}
    made = admin.json("POST", path, json={**body, "secretPath": "app//**"})
    strict(GrantAnswer, made)
    grant = made["grant"]
    assert grant["projectId"] == project.id
    assert (grant["effect"], grant["subjects"], grant["secretPath"]) == ("allow", ["secrets"], "/app/**")
    one = f"{path}/{grant['id']}"
    assert admin.json("GET", one) == made
    listed = admin.json("GET", path, params={"identityId": outsider.identity_id})
    strict(GrantList, listed)
    assert listed == {"grants": [grant], "totalCount": 1}
    assert admin.json("GET", path, params={"identityId": "nobody"})["grants"] == []
    changed = admin.json("PATCH", one, json={"effect": "deny", "environment": "*"})["grant"]
    assert (changed["effect"], changed["environment"], changed["actions"]) == ("deny", "*", ["read"])
    assert admin.json("DELETE", one)["grant"]["id"] == grant["id"]
    admin.json("GET", one, status=404)


@each_row(
    ("body", "status"),
    [
        pytest.param({"actions": []}, 422, id="without an action"),
        pytest.param({"actions": ["fly"]}, 422, id="with an action that nobody knows"),
        pytest.param({"subjects": ["member"]}, 422, id="about members"),
        pytest.param({"effect": "maybe"}, 422, id="with another effect"),
        pytest.param({"environment": ""}, 422, id="without an environment"),
        pytest.param({"secretPath": "/a**"}, 422, id="with stars within a name"),
        pytest.param({"secretPath": "/" + "a" * 1024}, 422, id="with a long path"),
        pytest.param({"subjects": ["workspace"]}, 400, id="about a project, for a part of it"),
        pytest.param({"subjects": ["app-connections"]}, 400, id="about connections, for a part of a project"),
        pytest.param(
            {"subjects": ["secret-folders"], "actions": ["read-value"]}, 400, id="values of folders"
        ),
        pytest.param({"identityId": "nobody"}, 404, id="to no member"),
    ],
)
def test_a_grant_that_makes_no_sense_is_refused(
    admin: Client, project: Project, outsider: Credentials, body: dict[str, Any], status: int
) -> None:
    whole = {"identityId": outsider.identity_id, "actions": ["read"], "environment": "dev", **body}
    admin.json("POST", f"/api/v1/projects/{project.id}/grants", status=status, json=whole)


def test_a_member_without_access_reads_what_a_grant_names_and_nothing_else(
    service: Service, project: Project, filled: ProjectSecrets, outsider: Credentials, grant: Granting
) -> None:
    grant(outsider, "read", "read-value", secretPath="/app/**")
    mine = view(service, project, outsider)
    assert mine.values(path="/app") == {"APP": "cnry-app"}
    assert mine.get("APP_DB", path="/app/db")["secretValue"] == "cnry-app-db"
    assert mine.values(recursive="true") == {"APP": "cnry-app", "APP_DB": "cnry-app-db"}
    secret = filled.get("OTHER", path="/other")
    for refused in (
        mine.client.get("/api/v4/secrets", params=mine.at()),
        mine.client.get("/api/v4/secrets", params=mine.at(path="/other")),
        mine.client.get("/api/v4/secrets", params={**mine.at(path="/other"), "recursive": "true"}),
        mine.client.get("/api/v4/secrets", params=mine.at(environment="prod", path="/app")),
        mine.client.get("/api/v4/secrets/OTHER", params=mine.at(path="/other")),
        mine.client.get(f"/api/v4/secrets/id/{secret['id']}"),
        mine.client.post("/api/v4/secrets/NEW", json={**mine.at(path="/app"), "secretValue": "cnry-x"}),
        mine.client.get(f"/api/v1/projects/{project.id}/environments/slug/prod"),
        mine.client.get("/api/v2/folders", params={**mine.at(), "path": "/app"}),
    ):
        assert refused.status_code == 403, refused.text
        assert refused.json()["error"] == "PermissionDenied"


@pytest.mark.usefixtures("filled")
def test_a_deny_takes_a_part_from_a_role(service: Service, project: Project, grant: Granting) -> None:
    member = service.create_identity(roles={project.id: "member"})
    grant(member, "read", effect="deny", secretPath="/app/db/**")
    mine = view(service, project, member)
    assert mine.values(recursive="true").keys() == {"ROOT", "APP", "OTHER"}
    refused = mine.get("APP_DB", path="/app/db", status=403)
    assert refused["message"] == "You are not allowed to read on secrets"
    assert refused["details"] == [
        {
            "action": "read",
            "inverted": True,
            "subject": "secrets",
            "conditions": {"environment": "dev", "secretPath": "/app/db"},
        }
    ]


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    "text", ["${dev.app.db.APP_DB}", "a ${dev.app.db.APP_DB} b ${ROOT}", "${dev.${ROOT}.X}"]
)
def test_a_reference_is_written_only_by_who_may_read_what_it_names(
    service: Service, project: Project, grant: Granting, text: str
) -> None:
    # Whoever reads it later may be allowed to: a sync of this folder, for one, which carries what it comes to.
    member = service.create_identity(roles={project.id: "member"})
    grant(member, "read-value", effect="deny", secretPath="/app/db/**")
    mine = view(service, project, member)
    assert mine.create("COPY", text, path="/other", status=403)["error"] == "PermissionDenied"
    mine.create("COPY", "${dev.app.APP} and ${OTHER}", path="/other")
    assert mine.update("COPY", secretValue=text, path="/other", status=403)["error"] == "PermissionDenied"
    mine.update("COPY", secretComment="the text stays as it was", path="/other")


@pytest.mark.usefixtures("filled")
def test_a_folder_is_imported_only_by_who_may_read_its_values(
    service: Service, project: Project, grant: Granting
) -> None:
    member = service.create_identity(roles={project.id: "member"})
    grant(member, "read-value", effect="deny", secretPath="/app/db")
    body = {
        "projectId": project.id,
        "environment": "dev",
        "path": "/other",
        "import": {"environment": "dev", "path": "/app/db"},
    }
    client = service.client(service.login(member))
    refused = client.json("POST", "/api/v2/secret-imports", status=403, json=body)
    assert refused["error"] == "PermissionDenied"
    client.json(
        "POST", "/api/v2/secret-imports", json={**body, "import": {"environment": "dev", "path": "/app"}}
    )


def test_what_no_rule_allows_is_told_with_the_place(
    service: Service, project: Project, outsider: Credentials
) -> None:
    refused = view(service, project, outsider).create("KEY", "cnry-x", path="/app", status=403)
    assert (refused["error"], refused["statusCode"]) == ("PermissionDenied", 403)
    assert refused["message"] == "You are not allowed to create on secrets"
    assert refused["details"] == [
        {
            "action": "create",
            "inverted": False,
            "subject": "secrets",
            "conditions": {"environment": "dev", "secretPath": "/app"},
        }
    ]


def test_a_list_shows_names_without_values_where_only_names_may_be_read(
    service: Service, project: Project, filled: ProjectSecrets, outsider: Credentials, grant: Granting
) -> None:
    filled.create("REF", "${dev.other.OTHER}", path="/app")
    grant(outsider, "read", secretPath="/**")
    grant(outsider, "read-value", secretPath="/app/db")
    mine = view(service, project, outsider)
    shown = {one["secretKey"]: one for one in mine.list(recursive="true")}
    hidden = {key: (one["secretValue"], one["secretValueHidden"]) for key, one in shown.items()}
    mask = ("<hidden-by-infisical>", True)
    assert hidden == {
        "ROOT": mask,
        "APP": mask,
        "REF": mask,
        "OTHER": mask,
        "APP_DB": ("cnry-app-db", False),
    }
    refused = mine.get("APP", path="/app", status=403)
    assert refused["error"] == "ForbiddenReadSecretError"
    assert refused["message"] == "You do not have permission to view secret value on secret with name 'APP'"
    names_only = mine.get("APP", path="/app", viewSecretValue="false")
    assert (names_only["secretValue"], names_only["secretValueHidden"]) == mask


def test_a_reference_to_a_forbidden_place_is_refused_in_the_published_words(
    service: Service, project: Project, filled: ProjectSecrets, outsider: Credentials, grant: Granting
) -> None:
    filled.create("REF", "${dev.other.OTHER}", path="/app")
    grant(outsider, "read", "read-value", secretPath="/app")
    grant(outsider, "read", secretPath="/other")
    mine = view(service, project, outsider)
    text = (
        "You do not have permission to read secret 'OTHER' in environment 'dev' at path '/other', "
        "which is referenced by secret 'REF' in environment 'dev' at path '/app'."
    )
    assert mine.get("REF", path="/app", status=403)["message"] == text
    listed = mine.client.json("GET", "/api/v4/secrets", status=403, params=mine.at(path="/app"))
    assert listed["message"] == "Failed to expand one or more secret references"
    assert listed["details"] == [text]
    unexpanded = mine.values(path="/app", expandSecretReferences="false")
    assert unexpanded["REF"] == "${dev.other.OTHER}"


def test_imports_drop_what_may_not_be_read(
    service: Service, project: Project, filled: ProjectSecrets, outsider: Credentials, grant: Granting
) -> None:
    for source in ("/other", "/app/db"):
        body = {
            "projectId": project.id,
            "environment": "dev",
            "path": "/app",
            "import": {"environment": "dev", "path": source},
        }
        filled.client.json("POST", "/api/v2/secret-imports", json=body)
    grant(outsider, "read", "read-value", secretPath="/app/**")
    mine = view(service, project, outsider)
    params = {**mine.at(path="/app"), "includeImports": "true"}
    blocks = mine.client.json("GET", "/api/v4/secrets", params=params)["imports"]
    brought = {block["secretPath"]: [one["secretKey"] for one in block["secrets"]] for block in blocks}
    assert brought == {"/other": [], "/app/db": ["APP_DB"]}
    mine.get("OTHER", path="/app", includeImports="true", status=404)


def test_writing_asks_at_each_place(
    service: Service, project: Project, filled: ProjectSecrets, outsider: Credentials, grant: Granting
) -> None:
    grant(outsider, "create", "edit", "delete", secretPath="/app")
    mine = view(service, project, outsider)
    mine.create("NEW", "cnry-new", path="/app")
    assert mine.update("NEW", path="/app", secretValue="cnry-newer")["version"] == 2
    removed = mine.delete("NEW", path="/app")
    assert (removed["secretValue"], removed["secretValueHidden"]) == ("<hidden-by-infisical>", True)
    mine.create("NEW", "cnry-new", path="/app/db", status=403)
    metadata = [{"key": "team", "value": "a"}]
    filled.update("APP", path="/app", secretComment="a note", secretMetadata=metadata)
    shown = mine.update("APP", path="/app", skipMultilineEncoding=True)
    assert (shown["secretComment"], shown["secretMetadata"]) == ("", [])
    items = [{"secretKey": "APP", "secretValue": "cnry-a"}, {"secretKey": "OTHER", "secretPath": "/other"}]
    body = {**mine.at(path="/app"), "secrets": items}
    mine.client.json("PATCH", "/api/v4/secrets/batch", status=403, json=body)
    assert filled.get("APP", path="/app")["secretValue"] == "cnry-app"
    body = {**mine.at(), "secrets": [{"secretKey": "APP", "secretValue": "cnry-b", "secretPath": "/app"}]}
    mine.client.json("PATCH", "/api/v4/secrets/batch", json=body)
    assert filled.get("APP", path="/app")["secretValue"] == "cnry-b"


@pytest.mark.usefixtures("filled")
def test_folders_are_shown_and_changed_where_a_grant_says(
    service: Service, project: Project, outsider: Credentials, grant: Granting
) -> None:
    grant(outsider, "read", "create", "edit", "delete", subjects=["secret-folders"], secretPath="/app/**")
    client = view(service, project, outsider).client
    at = {"projectId": project.id, "environment": "dev"}
    listed = client.json("GET", "/api/v2/folders", params={**at, "path": "/", "recursive": "true"})["folders"]
    assert {folder["path"] for folder in listed} == {"/app", "/app/db"}
    made = client.json("POST", "/api/v2/folders", json={**at, "path": "/app", "name": "new"})["folder"]
    client.json("POST", "/api/v2/folders", status=403, json={**at, "path": "/other", "name": "new"})
    client.json("POST", "/api/v2/folders", status=403, json={**at, "path": "/", "name": "new"})
    # A folder carries its secrets along, and those the grant doesn't speak of.
    change = {**at, "path": "/app", "name": "renamed"}
    client.json("PATCH", f"/api/v2/folders/{made['id']}", status=403, json=change)
    client.json("DELETE", "/api/v2/folders/db", status=403, json={**at, "path": "/app", "forceDelete": True})
    grant(outsider, *ALL, subjects=["secrets"], secretPath="/app/**")
    client.json("PATCH", f"/api/v2/folders/{made['id']}", json=change)
    client.json("DELETE", "/api/v2/folders/renamed", json={**at, "path": "/app"})


def test_a_denial_is_not_escaped_by_moving_what_it_guards(
    service: Service, project: Project, filled: ProjectSecrets, grant: Granting
) -> None:
    member = service.create_identity(roles={project.id: "member"})
    grant(member, "read-value", "delete", effect="deny", secretPath="/app/db")
    mine = view(service, project, member)
    at = {"projectId": project.id, "environment": "dev"}
    above = filled.client.json("GET", "/api/v2/folders", params=at)["folders"]
    folder = next(folder for folder in above if folder["path"] == "/app")
    body = {**at, "path": "/", "name": "moved"}
    mine.client.json("PATCH", f"/api/v2/folders/{folder['id']}", status=403, json=body)
    mine.client.json("DELETE", "/api/v2/folders/app", status=403, json={**at, "forceDelete": True})
    project_view = filled.client.json("GET", f"/api/v1/projects/{project.id}")["project"]
    environment = next(one["id"] for one in project_view["environments"] if one["slug"] == "dev")
    path = f"/api/v1/projects/{project.id}/environments/{environment}"
    mine.client.json("DELETE", path, status=403)
    whole = service.create_identity(roles={project.id: "admin"})
    grant(whole, "delete", effect="deny", environment="prod", secretPath="/**")
    view(service, project, whole).client.json("DELETE", f"/api/v1/projects/{project.id}", status=403)
    mine.client.json("PATCH", path, status=403, json={"slug": "renamed"})
    filled.client.json("PATCH", path, json={"slug": "renamed"})
    mine.get("APP_DB", environment="renamed", path="/app/db", status=403)


@pytest.mark.usefixtures("filled")
def test_the_tag_changes_when_a_grant_changes_what_is_shown(
    service: Service, project: Project, outsider: Credentials, grant: Granting
) -> None:
    grant(outsider, "read", secretPath="/**")
    mine = view(service, project, outsider)
    params = {**mine.at(), "recursive": "true"}
    seen: dict[str, str] = {}
    tag = None
    for change in (
        lambda: None,
        lambda: grant(outsider, "read-value", secretPath="/app"),
        lambda: grant(outsider, "read", effect="deny", secretPath="/other"),
        lambda: grant(outsider, "read-value", secretPath="/**"),
    ):
        change()
        headers: dict[str, str] = {} if tag is None else {"if-none-match": tag}
        answer = mine.client.get("/api/v4/secrets", params=params, headers=headers)
        assert answer.status_code == 200
        tag = answer.headers["etag"]
        assert tag not in seen
        assert answer.text not in seen.values()
        seen[tag] = answer.text
        again = mine.client.get("/api/v4/secrets", params=params, headers={"if-none-match": tag})
        assert again.status_code == 304


def test_a_grant_of_the_project_lets_its_slug_be_looked_up(
    service: Service, project: Project, outsider: Credentials, grant: Granting
) -> None:
    client = view(service, project, outsider).client
    client.json("GET", f"/api/v1/projects/slug/{project.slug}", status=403)
    assert client.json("GET", "/api/v1/projects")["projects"] == []
    grant(outsider, "read", subjects=["workspace"], environment="*", secretPath="/**")
    assert client.json("GET", f"/api/v1/projects/slug/{project.slug}")["id"] == project.id
    assert [one["id"] for one in client.json("GET", "/api/v1/projects")["projects"]] == [project.id]


def test_a_grant_of_a_part_lets_the_project_be_looked_up_with_the_environments_it_speaks_of(
    service: Service, project: Project, outsider: Credentials, grant: Granting
) -> None:
    other = service.create_project()
    client = view(service, project, outsider).client
    grant(outsider, "read", effect="deny", environment="prod", secretPath="/x/**")
    client.json("GET", f"/api/v1/projects/slug/{project.slug}", status=403)
    grant(outsider, "read", environment="staging", secretPath="/app")
    client.json("GET", f"/api/v1/projects/slug/{other.slug}", status=403)
    listed = client.json("GET", "/api/v1/projects")["projects"]
    for shown in (client.json("GET", f"/api/v1/projects/slug/{project.slug}"), *listed):
        assert shown["id"] == project.id
        assert [one["slug"] for one in shown["environments"]] == ["staging"]
    assert len(listed) == 1
    grant(outsider, "edit", environment="*", secretPath="/app")
    shown = client.json("GET", f"/api/v1/projects/{project.id}")["project"]
    assert [one["slug"] for one in shown["environments"]] == ["dev", "staging", "prod"]
    # What it lets see is no more: the project isn't its to change, nor are its members its to know.
    client.json("PATCH", f"/api/v1/projects/{project.id}", status=403, json={"name": "n"})
    client.json("GET", f"/api/v1/projects/{project.id}/memberships/identities", status=403)
    grant(outsider, "read", effect="deny", subjects=["workspace"], environment="*", secretPath="/**")
    client.json("GET", f"/api/v1/projects/slug/{project.slug}", status=403)
    assert client.json("GET", "/api/v1/projects")["projects"] == []


def test_a_grant_goes_with_the_membership(
    service: Service, admin: Client, project: Project, outsider: Credentials, grant: Granting
) -> None:
    grant(outsider, "read", secretPath="/**")
    membership = f"/api/v1/projects/{project.id}/memberships/identities/{outsider.identity_id}"
    admin.json("DELETE", membership)
    assert admin.json("GET", f"/api/v1/projects/{project.id}/grants")["grants"] == []
    admin.json("POST", membership, json={"roles": [{"role": "no-access"}]})
    mine = view(service, project, outsider)
    mine.client.json("GET", "/api/v4/secrets", status=403, params=mine.at())


@pytest.mark.parametrize("role", ["member", "viewer", "no-access"])
def test_only_admins_of_the_project_handle_grants(
    service: Service, project: Project, outsider: Credentials, grant: Granting, role: str
) -> None:
    made = grant(outsider, "read")
    client = service.client(service.login(service.create_identity(roles={project.id: role})))
    path = f"/api/v1/projects/{project.id}/grants"
    body = {"identityId": outsider.identity_id, "actions": ["read"], "environment": "dev"}
    client.json("POST", path, status=403, json=body)
    client.json("GET", path, status=403)
    for method in ("GET", "PATCH", "DELETE"):
        client.json(method, f"{path}/{made['id']}", status=403, json={} if method == "PATCH" else None)


@pytest.mark.usefixtures("filled")
def test_nobody_grants_more_than_they_may_do_themselves(
    service: Service, project: Project, outsider: Credentials, grant: Granting
) -> None:
    bound = service.create_identity(roles={project.id: "admin"})
    client = service.client(service.login(bound))
    grant(outsider, "read", client=client, secretPath="/app/**")
    denial = grant(bound, "read-value", effect="deny", secretPath="/app/**")
    path = f"/api/v1/projects/{project.id}/grants"
    for body in (
        {"secretPath": "/app/db"},
        {"secretPath": "/**"},
        {"environment": "*", "secretPath": "/**/db"},
    ):
        refused = grant(outsider, "read-value", client=client, status=403, **body)
        assert refused["error"] == "PermissionBoundaryError"
    grant(outsider, "read-value", client=client, secretPath="/other")
    for method, change in (("DELETE", None), ("PATCH", {"effect": "allow"}), ("PATCH", {"secretPath": "/x"})):
        refused = client.json(method, f"{path}/{denial['id']}", status=403, json=change)
        assert refused["error"] == "PermissionBoundaryError"
    membership = f"/api/v1/projects/{project.id}/memberships/identities/{outsider.identity_id}"
    refused = client.json("POST", membership, status=403, json={"roles": [{"role": "viewer"}]})
    assert refused["error"] == "PermissionBoundaryError"
    client.json("POST", membership, json={"roles": [{"role": "no-access"}]})


def test_grants_bind_no_admin_of_the_organization(
    service: Service, filled: ProjectSecrets, grant: Granting
) -> None:
    admin = service.admin
    grant(admin, "read", effect="deny", secretPath="/**")
    assert filled.get("ROOT")["secretValue"] == "cnry-root"


def test_a_member_has_at_most_a_hundred_grants(outsider: Credentials, grant: Granting) -> None:
    for number in range(100):
        grant(outsider, "read", secretPath=f"/f{number}")
    assert "at most 100 grants" in grant(outsider, "read", status=400)["message"]
