from __future__ import annotations

import re
from typing import Any

import pytest

from keybearer.interface.environments import (
    EnvironmentAnswer,
    EnvironmentDetails,
    SingleEnvironment,
    WorkspaceEnvironmentAnswer,
)
from keybearer.interface.tags import TagAnswer, TagList, WorkspaceTagAnswer, WorkspaceTagList
from keybearer.wire.identities import MembershipAnswer, MembershipList
from keybearer.wire.projects import (
    Project as WireProject,
)
from keybearer.wire.projects import (
    ProjectAnswer,
    ProjectList,
    WorkspaceAnswer,
    WorkspaceList,
)
from support.rows import each_row
from support.service_fixtures import Client, Project, ProjectSecrets, Service, Strict

pytestmark = pytest.mark.every_database

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize("path", ["/api/v1/projects", "/api/v2/workspace"])
def test_a_fresh_project_has_three_environments(admin: Client, strict: Strict, path: str) -> None:
    answer = admin.json("POST", path, json={"projectName": "My Project", "projectDescription": "d"})
    made = strict(ProjectAnswer, answer).project
    assert [(e.name, e.slug) for e in made.environments] == [
        ("Development", "dev"),
        ("Staging", "staging"),
        ("Production", "prod"),
    ]
    assert (made.name, made.description, made.type) == ("My Project", "d", "secret-manager")
    assert re.fullmatch(r"my-project-[a-z0-9]{5}", made.slug)


def test_a_project_may_start_without_environments(admin: Client) -> None:
    body = {"projectName": "bare", "shouldCreateDefaultEnvs": False, "type": "cert-manager"}
    made = admin.json("POST", "/api/v1/projects", json=body)["project"]
    assert (made["environments"], made["type"]) == ([], "cert-manager")


def test_a_taken_slug_is_refused(admin: Client, project: Project) -> None:
    body = {"projectName": "again", "slug": project.slug}
    answer = admin.json("POST", "/api/v1/projects", status=400, json=body)
    assert "already exists" in answer["message"]


@each_row(
    ("body", "path"),
    [
        pytest.param({}, "projectName", id="no name"),
        pytest.param({"projectName": ""}, "projectName", id="an empty name"),
        pytest.param({"projectName": "x" * 65}, "projectName", id="a long name"),
        pytest.param({"projectName": "x", "slug": "four"}, "slug", id="a short slug"),
        pytest.param({"projectName": "x", "slug": "x" * 37}, "slug", id="a long slug"),
        pytest.param({"projectName": "x", "slug": "with space"}, "slug", id="a slug with a space"),
        pytest.param(
            {"projectName": "x", "projectDescription": "x" * 1025}, "projectDescription", id="a long text"
        ),
    ],
)
def test_what_a_project_may_be_called_is_bounded(admin: Client, body: dict[str, Any], path: str) -> None:
    answer = admin.json("POST", "/api/v1/projects", status=422, json=body)
    assert [issue["path"] for issue in answer["message"]] == [[path]]


def test_a_project_is_found_by_every_published_path(admin: Client, project: Project, strict: Strict) -> None:
    whole = strict(ProjectAnswer, admin.json("GET", f"/api/v1/projects/{project.id}")).project
    old = strict(WorkspaceAnswer, admin.json("GET", f"/api/v1/workspace/{project.id}")).workspace
    bare = [
        strict(WireProject, admin.json("GET", f"{path}/{project.slug}"))
        for path in ("/api/v1/projects/slug", "/api/v1/workspace/slug", "/api/v2/workspace")
    ]
    assert all(found == whole for found in (old, *bare))
    listed = strict(ProjectList, admin.json("GET", "/api/v1/projects")).projects
    assert whole in listed
    assert whole in strict(WorkspaceList, admin.json("GET", "/api/v1/workspace")).workspaces


@pytest.mark.parametrize(
    "path",
    [
        f"/api/v1/projects/{UNKNOWN}",
        f"/api/v1/workspace/{UNKNOWN}",
        "/api/v1/projects/slug/no-such-slug",
        "/api/v1/workspace/slug/no-such-slug",
        "/api/v2/workspace/no-such-slug",
    ],
)
def test_an_unknown_project_is_not_found(admin: Client, path: str) -> None:
    assert admin.json("GET", path, status=404)["error"] == "NotFound"


def test_projects_are_listed_by_type(admin: Client) -> None:
    body = {"projectName": "certificates", "type": "cert-manager"}
    made = admin.json("POST", "/api/v1/projects", json=body)["project"]["id"]
    found = admin.json("GET", "/api/v1/projects", params={"type": "cert-manager"})["projects"]
    assert made in {item["id"] for item in found}
    assert {item["type"] for item in found} == {"cert-manager"}


def test_a_member_sees_its_own_projects_alone(service: Service, project: Project) -> None:
    service.create_project()
    client = service.client(service.login(service.create_identity(roles={project.id: "viewer"})))
    assert [item["id"] for item in client.json("GET", "/api/v1/projects")["projects"]] == [project.id]
    assert client.json("GET", f"/api/v1/projects/{project.id}")["project"]["slug"] == project.slug


def test_a_project_is_not_listed_to_who_may_not_read_it(service: Service, project: Project) -> None:
    seen = service.create_project()
    identity = service.create_identity(roles={project.id: "no-access", seen.id: "viewer"})
    client = service.client(service.login(identity))
    assert [item["id"] for item in client.json("GET", "/api/v1/projects")["projects"]] == [seen.id]
    assert client.json("GET", f"/api/v1/projects/{project.id}", status=403)["error"] == "PermissionDenied"


def test_a_project_changes(admin: Client, project: Project, strict: Strict) -> None:
    change = {"name": "renamed", "slug": f"new-{project.slug[-8:]}", "description": "why"}
    changed = strict(
        ProjectAnswer, admin.json("PATCH", f"/api/v1/projects/{project.id}", json=change)
    ).project
    assert (changed.name, changed.slug, changed.description) == tuple(change.values())
    assert admin.get(f"/api/v1/projects/slug/{project.slug}").status_code == 404
    assert admin.json("GET", f"/api/v1/projects/slug/{change['slug']}")["id"] == project.id


def test_a_deleted_project_takes_its_secrets_along(admin: Client, secrets: ProjectSecrets) -> None:
    secret_id = secrets.create("A", "cnry-a")["id"]
    path = f"/api/v1/projects/{secrets.project.id}"
    assert admin.json("DELETE", path)["project"]["id"] == secrets.project.id
    assert admin.get(path).status_code == 404
    assert admin.get(f"/api/v4/secrets/id/{secret_id}").status_code == 404


def test_a_protected_project_stays(admin: Client) -> None:
    body = {"projectName": "precious", "hasDeleteProtection": True}
    path = f"/api/v1/projects/{admin.json('POST', '/api/v1/projects', json=body)['project']['id']}"
    assert "delete protection" in admin.json("DELETE", path, status=400)["message"]
    admin.json("PATCH", path, json={"hasDeleteProtection": False})
    admin.json("DELETE", path)


@pytest.mark.parametrize("role", ["member", "viewer", "no-access"])
def test_only_an_admin_changes_projects_and_members(service: Service, project: Project, role: str) -> None:
    identity = service.create_identity(roles={project.id: role})
    client = service.client(service.login(identity))
    path = f"/api/v1/projects/{project.id}"
    member = f"{path}/memberships/identities/{identity.identity_id}"
    roles = {"roles": [{"role": "admin"}]}
    for method, target, body in (
        ("PATCH", path, {"name": "x"}),
        ("DELETE", path, {}),
        ("POST", member, roles),
    ):
        assert client.json(method, target, status=403, json=body)["error"] == "PermissionDenied"


@pytest.mark.parametrize(("role", "status"), [("admin", 200), ("member", 200), ("no-access", 403)])
def test_the_organizations_role_decides_who_makes_projects(service: Service, role: str, status: int) -> None:
    client = service.client(service.login(service.create_identity(organization_role=role)))
    answer = client.json("POST", "/api/v1/projects", status=status, json={"projectName": "mine"})
    if status == 200:
        assert client.json("DELETE", f"/api/v1/projects/{answer['project']['id']}")


def test_members_come_change_and_go(
    service: Service, admin: Client, project: Project, strict: Strict
) -> None:
    identity = service.create_identity()
    base = f"/api/v1/projects/{project.id}/memberships/identities"
    path = f"{base}/{identity.identity_id}"
    client = service.client(service.login(identity))
    params = {"projectId": project.id, "environment": "dev"}

    def reads() -> int:
        return client.get("/api/v4/secrets", params=params).status_code

    assert reads() == 403
    made = admin.json("POST", path, json={"roles": [{"role": "no-access"}, {"role": "viewer"}]})
    strict(MembershipAnswer, made)
    assert reads() == 200
    admin.json("PATCH", path, json={"roles": [{"role": "no-access"}]})
    assert reads() == 403
    listed = strict(MembershipList, admin.json("GET", base))
    assert identity.identity_id in {member.identity_id for member in listed.identity_memberships}
    strict(MembershipAnswer, admin.json("DELETE", path))
    assert admin.json("DELETE", path, status=404)["error"] == "NotFound"
    assert reads() == 403


def test_a_membership_of_an_unknown_identity_is_not_found(admin: Client, project: Project) -> None:
    path = f"/api/v1/projects/{project.id}/memberships/identities/{UNKNOWN}"
    admin.json("POST", path, status=404, json={"roles": [{"role": "viewer"}]})


def test_an_unknown_role_is_a_violation(service: Service, admin: Client, project: Project) -> None:
    identity = service.create_identity()
    path = f"/api/v1/projects/{project.id}/memberships/identities/{identity.identity_id}"
    admin.json("POST", path, status=422, json={"roles": [{"role": "owner"}]})


def environments(admin: Client, project: Project) -> list[str]:
    found = admin.json("GET", f"/api/v1/projects/{project.id}")["project"]["environments"]
    return [item["slug"] for item in found]


def test_environments_come_change_and_go(admin: Client, project: Project, strict: Strict) -> None:
    base = f"/api/v1/projects/{project.id}/environments"
    last = strict(EnvironmentAnswer, admin.json("POST", base, json={"name": "QA", "slug": "qa"}))
    assert (last.environment.position, last.project_id) == (4, project.id)
    first = admin.json("POST", base, json={"name": "First", "slug": "first", "position": 1})["environment"]
    assert environments(admin, project) == ["first", "dev", "staging", "prod", "qa"]
    path = f"{base}/{first['id']}"
    moved = strict(EnvironmentAnswer, admin.json("PATCH", path, json={"position": 3, "slug": "third"}))
    assert moved.environment.position == 3
    assert environments(admin, project) == ["dev", "staging", "third", "prod", "qa"]
    strict(EnvironmentAnswer, admin.json("DELETE", path))
    assert environments(admin, project) == ["dev", "staging", "prod", "qa"]
    assert admin.json("GET", f"{base}/slug/qa")["position"] == 4
    assert admin.json("GET", path, status=404)["error"] == "NotFound"


def test_an_environment_is_found_by_every_published_path(
    admin: Client, project: Project, strict: Strict
) -> None:
    base = f"/api/v1/projects/{project.id}/environments"
    dev = strict(EnvironmentDetails, admin.json("GET", f"{base}/slug/dev"))
    for path in (f"{base}/{dev.id}", f"/api/v1/workspace/environments/{dev.id}"):
        assert strict(SingleEnvironment, admin.json("GET", path)).environment == dev
    assert admin.get(f"/api/v1/workspace/environments/{UNKNOWN}").status_code == 404


def test_the_older_path_speaks_of_a_workspace(admin: Client, project: Project, strict: Strict) -> None:
    path = f"/api/v1/workspace/{project.id}/environments"
    answer = strict(WorkspaceEnvironmentAnswer, admin.json("POST", path, json={"name": "QA", "slug": "qa"}))
    assert answer.workspace == project.id


def test_a_taken_environment_slug_is_refused(admin: Client, project: Project) -> None:
    base = f"/api/v1/projects/{project.id}/environments"
    admin.json("POST", base, status=400, json={"name": "Again", "slug": "dev"})
    staging = admin.json("GET", f"{base}/slug/staging")["id"]
    admin.json("PATCH", f"{base}/{staging}", status=400, json={"slug": "dev"})


def test_a_deleted_environment_takes_its_secrets_along(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.create("A", "cnry-a")
    base = f"/api/v1/projects/{secrets.project.id}/environments"
    admin.json("DELETE", f"{base}/{admin.json('GET', f'{base}/slug/dev')['id']}")
    params = secrets.at()
    assert admin.get("/api/v4/secrets", params=params).status_code == 404


def test_tags_come_and_go_under_both_paths(admin: Client, project: Project, strict: Strict) -> None:
    new, old = f"/api/v1/projects/{project.id}/tags", f"/api/v1/workspace/{project.id}/tags"
    red = strict(TagAnswer, admin.json("POST", new, json={"slug": "red", "color": "#f00"})).tag
    made = admin.json("POST", old, json={"slug": "Blue", "name": "Sky"})
    blue = strict(WorkspaceTagAnswer, made).workspace_tag
    assert (red.name, blue.slug, blue.name, blue.color) == ("red", "blue", "Sky", None)
    assert strict(TagList, admin.json("GET", new)).tags == [blue, red]
    assert strict(WorkspaceTagList, admin.json("GET", old)).workspace_tags == [blue, red]
    for path in (f"/{red.id}", "/slug/red"):
        assert strict(TagAnswer, admin.json("GET", f"{new}{path}")).tag == red
        assert strict(WorkspaceTagAnswer, admin.json("GET", f"{old}{path}")).workspace_tag == red
    changed = admin.json("PATCH", f"{old}/{blue.id}", json={"name": "Sea"})
    assert strict(WorkspaceTagAnswer, changed).workspace_tag.name == "Sea"
    admin.json("POST", new, status=400, json={"slug": "red"})
    strict(TagAnswer, admin.json("DELETE", f"{new}/{red.id}"))
    assert admin.json("GET", f"{new}/slug/red", status=404)["error"] == "NotFound"
    strict(WorkspaceTagAnswer, admin.json("DELETE", f"{old}/{blue.id}"))
    assert admin.json("GET", new) == {"tags": []}


def test_a_viewer_reads_environments_and_tags_but_changes_none(service: Service, project: Project) -> None:
    client = service.client(service.login(service.create_identity(roles={project.id: "viewer"})))
    base = f"/api/v1/projects/{project.id}"
    dev = client.json("GET", f"{base}/environments/slug/dev")["id"]
    client.json("GET", f"{base}/tags")
    for method, path, body in (
        ("POST", f"{base}/environments", {"name": "x", "slug": "x"}),
        ("PATCH", f"{base}/environments/{dev}", {"name": "x"}),
        ("DELETE", f"{base}/environments/{dev}", {}),
        ("POST", f"{base}/tags", {"slug": "x"}),
    ):
        client.json(method, path, status=403, json=body)


def test_references_follow_the_slug_of_an_environment(admin: Client, secrets: ProjectSecrets) -> None:
    secrets.create("KEY", "cnry-key", environment="prod")
    secrets.create("FAR", "<${prod.KEY}>")
    base = f"/api/v1/projects/{secrets.project.id}/environments"
    prod = admin.json("GET", f"{base}/slug/prod")
    admin.json("PATCH", f"{base}/{prod['id']}", json={"slug": "live"})
    assert secrets.values() == {"FAR": "<cnry-key>"}
    assert secrets.values(expandSecretReferences="false") == {"FAR": "<${live.KEY}>"}


def test_a_tag_changes_and_secrets_show_it(admin: Client, secrets: ProjectSecrets, strict: Strict) -> None:
    base = f"/api/v1/projects/{secrets.project.id}/tags"
    tag = admin.json("POST", base, json={"slug": "red", "color": "#f00"})["tag"]
    admin.json("POST", base, json={"slug": "blue"})
    secrets.create("A", "cnry-a", tagIds=[tag["id"]])
    change = {"slug": "crimson", "name": "Deep"}
    changed = strict(TagAnswer, admin.json("PATCH", f"{base}/{tag['id']}", json=change)).tag
    assert (changed.slug, changed.name, changed.color) == ("crimson", "Deep", "#f00")
    assert secrets.list()[0]["tags"][0]["slug"] == "crimson"
    assert admin.json("PATCH", f"{base}/{tag['id']}", status=400, json={"slug": "blue"})["message"] == (
        "Tag with slug 'blue' already exists"
    )
    older = base.replace("projects", "workspace")
    admin.json("PATCH", f"{older}/{tag['id']}", json={"color": "#000"})
    assert admin.json("GET", f"{base}/{tag['id']}")["tag"]["color"] == "#000"


def test_projects_change_and_go_under_the_older_paths_too(
    admin: Client, service: Service, strict: Strict
) -> None:
    first, second = service.create_project(), service.create_project()
    by_id, by_slug = f"/api/v1/workspace/{first.id}", f"/api/v2/workspace/{second.slug}"
    changed = strict(WorkspaceAnswer, admin.json("PATCH", by_id, json={"name": "New"}))
    assert changed.workspace.name == "New"
    assert admin.json("PATCH", by_slug, json={"name": "Newer"})["name"] == "Newer"
    strict(WorkspaceAnswer, admin.json("DELETE", by_id))
    assert admin.json("DELETE", by_slug)["id"] == second.id
    for path in (by_id, by_slug):
        assert admin.get(path).status_code == 404


def test_environments_change_and_go_under_the_older_path_too(
    admin: Client, project: Project, strict: Strict
) -> None:
    base = f"/api/v1/workspace/{project.id}/environments"
    staging = admin.json("GET", f"/api/v1/projects/{project.id}/environments/slug/staging")
    path = f"{base}/{staging['id']}"
    changed = strict(WorkspaceEnvironmentAnswer, admin.json("PATCH", path, json={"position": 1}))
    assert (changed.workspace, changed.environment.position) == (project.id, 1)
    strict(WorkspaceEnvironmentAnswer, admin.json("DELETE", path))
    assert environments(admin, project) == ["dev", "prod"]
