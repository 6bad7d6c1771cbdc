from __future__ import annotations

from typing import Any

import pytest

from keybearer.wire.users import UserMembershipAnswer, UserMembershipList
from support.rows import each_row
from support.service_fixtures import Client, Person, Project, Service, Strict

pytestmark = pytest.mark.every_database


@pytest.fixture
def person(service: Service) -> Person:
    return service.create_user()


@pytest.fixture
def client(service: Service, person: Person) -> Client:
    return service.client(service.login_user(person))


@pytest.mark.parametrize("path", ["/api/v1/projects/{}/memberships", "/api/v2/workspace/{}/memberships"])
@pytest.mark.parametrize("word", ["emails", "usernames"])
def test_users_come_into_a_project_by_email_under_either_name(
    admin: Client, project: Project, person: Person, client: Client, strict: Strict, path: str, word: str
) -> None:
    read = {"projectId": project.id, "environment": "dev"}
    client.json("GET", "/api/v4/secrets", status=403, params=read)
    body = {word: [person.email.upper()], "roleSlugs": ["viewer"]}
    answer = strict(UserMembershipList, admin.json("POST", path.format(project.id), json=body))
    [member] = answer.memberships
    assert (member.user_id, member.project_id, member.user.email) == (
        person.user_id,
        project.id,
        person.email,
    )
    assert [item.role for item in member.roles] == ["viewer"]
    client.json("GET", "/api/v4/secrets", params=read)
    assert admin.json("DELETE", path.format(project.id), json={word: [person.email]})["memberships"]
    client.json("GET", "/api/v4/secrets", status=403, params=read)


def test_memberships_are_read_changed_and_ended_one_by_one(
    admin: Client, project: Project, person: Person, client: Client, strict: Strict
) -> None:
    base = f"/api/v1/projects/{project.id}/memberships"
    body: dict[str, Any] = {"usernames": [person.email]}
    made = admin.json("POST", base, json=body)["memberships"][0]
    assert made["roles"] == [{"role": "member"}]
    path = f"{base}/{made['id']}"
    assert admin.json("GET", path) == {"membership": made}
    assert strict(UserMembershipList, admin.json("GET", base)).memberships[0].id == made["id"]
    assert admin.json("GET", f"/api/v1/workspace/{project.id}/memberships")["memberships"] == [made]
    changed = admin.json("PATCH", path, json={"roles": [{"role": "viewer"}]})
    assert [item.role for item in strict(UserMembershipAnswer, changed).membership.roles] == ["viewer"]
    written = {"projectId": project.id, "environment": "dev", "secretValue": "cnry-1"}
    client.json("POST", "/api/v4/secrets/KEY", status=403, json=written)
    again = admin.json("POST", base, json={**body, "roleSlugs": ["admin", "member"]})["memberships"][0]
    assert (again["id"], again["roles"]) == (made["id"], [{"role": "admin"}, {"role": "member"}])
    client.json("POST", "/api/v4/secrets/KEY", json=written)
    assert strict(UserMembershipAnswer, admin.json("DELETE", path)).membership.id == made["id"]
    admin.json("GET", path, status=404)
    admin.json("DELETE", base, status=404, json=body)


def test_one_unknown_user_and_nobody_comes_in(admin: Client, project: Project, person: Person) -> None:
    base = f"/api/v1/projects/{project.id}/memberships"
    body = {"emails": [person.email], "usernames": ["nobody@example.com"]}
    assert "nobody@example.com" in admin.json("POST", base, status=404, json=body)["message"]
    assert admin.json("GET", base) == {"memberships": []}


def test_machines_and_users_of_a_project_are_listed_apart(
    service: Service, admin: Client, project: Project
) -> None:
    person = service.create_user(roles={project.id: "viewer"})
    identity = service.create_identity(roles={project.id: "viewer"})
    base = f"/api/v1/projects/{project.id}/memberships"
    machines = admin.json("GET", f"{base}/identities")["identityMemberships"]
    users = admin.json("GET", base)["memberships"]
    # Who made the project is a member as well: the admin's machine identity.
    assert {item["identityId"] for item in machines} == {identity.identity_id, service.admin.identity_id}
    assert {item["userId"] for item in users} == {person.user_id}
    member = next(item["id"] for item in machines if item["identityId"] == identity.identity_id)
    admin.json("DELETE", f"{base}/{member}", status=404)
    admin.json("DELETE", f"{base}/identities/{person.user_id}", status=404)
    body = {"roles": [{"role": "admin"}]}
    admin.json("POST", f"{base}/identities/{person.user_id}", status=404, json=body)


@pytest.mark.parametrize("role", ["member", "viewer", "no-access"])
def test_only_an_admin_of_the_project_decides_about_its_users(
    service: Service, project: Project, person: Person, role: str
) -> None:
    client = service.client(service.login_user(service.create_user(roles={project.id: role})))
    base = f"/api/v1/projects/{project.id}/memberships"
    named = {"emails": [person.email]}
    client.json("POST", base, status=403, json={**named, "roleSlugs": ["admin"]})
    client.json("DELETE", base, status=403, json=named)
    client.json("GET", base, status=403 if role == "no-access" else 200)


@each_row(
    "body",
    [
        pytest.param({}, id="nobody"),
        pytest.param({"emails": [], "usernames": []}, id="two empty lists"),
        pytest.param({"emails": ["x@example.com"], "roleSlugs": ["owner"]}, id="an unknown role"),
        pytest.param({"emails": ["x@example.com"], "roleSlugs": []}, id="no role"),
        pytest.param({"emails": ["x@example.com"] * 101}, id="too many"),
        pytest.param({"emails": ["nobody"]}, id="no email"),
    ],
)
def test_what_a_membership_is_made_of_is_checked(
    admin: Client, project: Project, body: dict[str, Any]
) -> None:
    admin.json("POST", f"/api/v1/projects/{project.id}/memberships", status=422, json=body)
