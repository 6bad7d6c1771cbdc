"""Older paths that Terraform's provider asks, and what it reads of their answers."""

from __future__ import annotations

from typing import Any

import pytest

from keybearer.interface.environments import EnvironmentDetails
from keybearer.wire.identities import (
    IdentityDetailAnswer,
    MembershipAnswer,
    MembershipDetailAnswer,
    MembershipRoles,
    OwnDetailsAnswer,
)
from keybearer.wire.users import SubOrganizationList, UserMembershipAnswer
from support.rows import each_row
from support.service_fixtures import Client, Project, Service, Strict

pytestmark = pytest.mark.every_database

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def role(slug: str, **more: object) -> dict[str, object]:
    """A role as the provider sends it: what nobody set is there as well."""
    unset = {
        "isTemporary": False,
        "temporaryMode": "",
        "temporaryRange": "",
        "temporaryAccessStartTime": "0001-01-01T00:00:00Z",
    }
    return {"role": slug, **unset, **more}


def test_identities_come_into_a_project_change_and_go(
    service: Service, admin: Client, project: Project, strict: Strict
) -> None:
    identity = service.create_identity()
    ids = {"projectId": project.id, "identityId": identity.identity_id}
    path = f"/api/v2/workspace/{project.id}/identity-memberships/{identity.identity_id}"
    assert admin.json("GET", path, status=404)["error"] == "NotFound"
    made = admin.json("POST", path, json={**ids, "roles": [role("viewer")]})
    membership = strict(MembershipAnswer, made).identity_membership
    found = strict(MembershipDetailAnswer, admin.json("GET", path)).identity_membership
    assert (found.id, found.identity_id) == (membership.id, identity.identity_id)
    assert [given.role for given in found.roles] == ["viewer"]
    assert (found.identity.id, found.identity.auth_methods) == (identity.identity_id, ["universal-auth"])
    assert (found.project.id, found.project.name) == (project.id, "project")
    by_id = admin.json("GET", f"/api/v2/workspace/identity-memberships/{membership.id}")
    assert strict(MembershipDetailAnswer, by_id).identity_membership == found
    changed = admin.json("PATCH", path, json={**ids, "roles": [role("member"), role("member")]})
    assert [given.role for given in strict(MembershipRoles, changed).roles] == ["member"]
    strict(MembershipAnswer, admin.json("DELETE", path, json=ids))
    assert admin.json("GET", path, status=404)["error"] == "NotFound"
    missing = f"/api/v2/workspace/identity-memberships/{membership.id}"
    assert admin.json("GET", missing, status=404)["error"] == "NotFound"


def test_a_role_for_a_time_is_refused_and_not_given_for_good(
    service: Service, admin: Client, project: Project
) -> None:
    identity = service.create_identity()
    body = {"roles": [role("viewer"), role("admin", isTemporary=True, temporaryRange="1h")]}
    for path in (
        f"/api/v2/workspace/{project.id}/identity-memberships/{identity.identity_id}",
        f"/api/v1/projects/{project.id}/memberships/identities/{identity.identity_id}",
    ):
        [issue] = admin.json("POST", path, status=422, json=body)["message"]
        assert issue["path"] == ["roles", 1, "isTemporary"]
        assert issue["message"].startswith("Roles for a time are not offered")


@pytest.mark.parametrize("role_of_asker", ["member", "viewer", "no-access"])
def test_who_may_not_decide_about_members_may_not_on_older_paths(
    service: Service, project: Project, role_of_asker: str
) -> None:
    identity = service.create_identity(roles={project.id: role_of_asker})
    person = service.create_user(roles={project.id: "viewer"})
    client = service.client(service.login(identity))
    base = f"/api/v2/workspace/{project.id}/identity-memberships"
    member = service.client(service.login(service.admin)).json("GET", f"{base}/{identity.identity_id}")
    roles = {"roles": [role("admin")]}
    users = f"/api/v1/workspace/{project.id}/memberships"
    [user] = service.client(service.login(service.admin)).json("GET", users)["memberships"]
    for method, path, body in (
        ("POST", f"{base}/{identity.identity_id}", roles),
        ("PATCH", f"{base}/{identity.identity_id}", roles),
        ("DELETE", f"{base}/{identity.identity_id}", {}),
        ("PATCH", f"{users}/{user['id']}", roles),
    ):
        assert client.json(method, path, status=403, json=body)["error"] == "PermissionDenied"
    if role_of_asker == "no-access":
        for method, path, asked in (
            ("GET", f"{base}/{identity.identity_id}", {}),
            ("GET", f"/api/v2/workspace/identity-memberships/{member['identityMembership']['id']}", {}),
            ("POST", f"{users}/details", {"json": {"username": person.email}}),
            ("GET", f"/api/v1/projects/{project.id}/user/{person.user_id}/membership", {}),
        ):
            client.json(method, path, status=403, **asked)


def test_a_user_is_found_by_username_and_id_and_gets_other_roles(
    service: Service, admin: Client, project: Project, strict: Strict
) -> None:
    person = service.create_user(roles={project.id: "member"})
    users = f"/api/v1/workspace/{project.id}/memberships"
    body = {"projectId": project.id, "username": person.email.upper()}
    found = strict(UserMembershipAnswer, admin.json("POST", f"{users}/details", json=body)).membership
    assert (found.user_id, found.user.email) == (person.user_id, person.email)
    by_user = admin.json("GET", f"/api/v1/projects/{project.id}/user/{person.user_id}/membership")
    assert strict(UserMembershipAnswer, by_user).membership == found
    changed = admin.json("PATCH", f"{users}/{found.id}", json={"roles": [role("viewer")]})
    assert [given.role for given in strict(MembershipRoles, changed).roles] == ["viewer"]
    admin.json("POST", f"{users}/details", status=404, json={"username": "nobody@example.com"})
    admin.json("GET", f"/api/v1/projects/{project.id}/user/{UNKNOWN}/membership", status=404)
    admin.json("PATCH", f"{users}/{UNKNOWN}", status=404, json={"roles": [role("viewer")]})


def test_an_identity_is_read_one_level_deeper_with_its_ways_to_log_in(
    service: Service, admin: Client, strict: Strict
) -> None:
    body = {"organizationId": service.organization_id, "name": "ci", "role": "no-access"}
    unset = {"hasDeleteProtection": False, "metadata": []}
    made = admin.json("POST", "/api/v1/identities", json={**body, **unset})["identity"]
    assert (made["hasDeleteProtection"], made["authMethods"], made["metadata"]) == (False, [], [])
    path = f"/api/v1/identities/{made['id']}"
    admin.json("POST", f"/api/v1/auth/universal-auth/identities/{made['id']}", json={})
    found = strict(IdentityDetailAnswer, admin.json("GET", path)).identity
    assert (found.role, found.org_id, found.name) == ("no-access", service.organization_id, "ci")
    assert (found.identity.id, found.identity.name) == (made["id"], "ci")
    assert found.identity.auth_methods == found.auth_methods == ["universal-auth"]
    changed = admin.json("PATCH", path, json={**unset, "identityId": made["id"], "name": "cd"})["identity"]
    assert (changed["name"], changed["authMethods"]) == ("cd", ["universal-auth"])


@each_row(
    ("given", "told"),
    [
        ({"hasDeleteProtection": True}, "Identities have no delete protection"),
        ({"metadata": [{"key": "team", "value": "shop"}]}, "Identities have no metadata"),
    ],
)
def test_what_an_identity_can_not_keep_is_refused_and_not_dropped(
    service: Service, admin: Client, given: dict[str, Any], told: str
) -> None:
    body = {"organizationId": service.organization_id, "name": "ci", **given}
    identity = service.create_identity()
    for method, path in (
        ("POST", "/api/v1/identities"),
        ("PATCH", f"/api/v1/identities/{identity.identity_id}"),
    ):
        [issue] = admin.json(method, path, status=422, json=body)["message"]
        assert issue["path"] == [*given]
        assert issue["message"].startswith(told)


def test_an_identity_may_know_its_organization(service: Service, strict: Strict) -> None:
    client = service.client(service.login(service.create_identity()))
    found = strict(OwnDetailsAnswer, client.json("GET", "/api/v1/identities/details"))
    assert found.identity_details.organization.id == service.organization_id


def test_there_are_no_organizations_below(admin: Client, strict: Strict) -> None:
    pages = {"limit": "1000", "offset": "0"}
    found = strict(SubOrganizationList, admin.json("GET", "/api/v1/sub-organizations", params=pages))
    assert (found.organizations, found.total_count) == ([], 0)


def test_an_environment_is_changed_without_a_position_and_found_bare(
    admin: Client, project: Project, strict: Strict
) -> None:
    slug = f"/api/v1/projects/{project.id}/environments/slug"
    dev = strict(EnvironmentDetails, admin.json("GET", f"{slug}/dev"))
    path = f"/api/v1/workspace/{project.id}/environments/{dev.id}"
    body = {"ID": dev.id, "ProjectID": project.id, "name": "Work", "slug": "work", "position": 0}
    admin.json("PATCH", path, json=body)
    found = strict(EnvironmentDetails, admin.json("GET", f"{slug}/work"))
    assert (found.id, found.name, found.position) == (dev.id, "Work", dev.position)
