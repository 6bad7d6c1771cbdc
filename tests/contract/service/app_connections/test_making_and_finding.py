"""Connections of a project or an app are made, changed, deleted and found again (interface.md 2.3, 4.3 and 4.4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contract.service.app_connections.provider_connections import ALL, IDP, UNKNOWN, Connections
from keybearer.wire.app_connections import (
    AppConnectionAnswer,
    AppConnectionList,
    AppConnectionOptionList,
    AvailableAppConnectionList,
)
from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import Client, Project, Service, Strict

pytestmark = pytest.mark.every_database


def test_a_connection_is_made_read_changed_and_deleted(
    admin: Client, service: Service, connections: Connections, strict: Strict
) -> None:
    body = connections.body(
        description="a tenant", gatewayId=None, App="idp", isPlatformManagedCredentials=False
    )
    made = strict(AppConnectionAnswer, admin.json("POST", IDP, json=body)).app_connection
    assert (made.name, made.description, made.app, made.method) == (
        body["name"],
        "a tenant",
        "idp",
        "client-credentials",
    )
    assert made.credentials == {
        key: value for key, value in body["credentials"].items() if key != "clientSecret"
    }
    assert (made.version, made.org_id, made.project_id) == (1, service.organization_id, None)
    assert (made.is_auto_rotation_enabled, made.rotation) == (False, None)
    path = f"{IDP}/{made.id}"
    assert strict(AppConnectionAnswer, admin.json("GET", path)).app_connection == made
    assert admin.json("GET", f"{IDP}/connection-name/{made.name}")["appConnection"]["id"] == made.id
    change = {"name": f"d-{made.id}", "description": None}
    changed = strict(AppConnectionAnswer, admin.json("PATCH", path, json=change)).app_connection
    assert (changed.name, changed.description, changed.version) == (f"d-{made.id}", None, 2)
    assert changed.credentials_hash == made.credentials_hash
    assert changed.updated_at >= made.updated_at
    assert strict(AppConnectionAnswer, admin.json("DELETE", path)).app_connection == changed
    assert (
        admin.json("GET", path, status=404)["message"] == f"Could not find App Connection with ID {made.id}"
    )


class TestNames:
    def test_a_name_is_taken_once_in_the_organization_and_once_in_each_project(
        self, admin: Client, connections: Connections, project: Project
    ) -> None:
        made = connections.make()
        told = f'An App Connection with the name "{made["name"]}" already exists'
        assert connections.make(status=400, name=made["name"].upper())["message"] == told
        inside = connections.make(name=made["name"], projectId=project.id)
        assert connections.make(status=400, name=made["name"], projectId=project.id)["message"] == told
        other = connections.make()
        change = {"name": made["name"]}
        assert admin.json("PATCH", f"{IDP}/{other['id']}", status=400, json=change)["message"] == told
        admin.json("PATCH", f"{IDP}/{made['id']}", json={"name": made["name"]})
        query = {"projectId": project.id}
        by_name = f"{IDP}/connection-name/{made['name']}"
        assert admin.json("GET", by_name)["appConnection"]["id"] == made["id"]
        assert admin.json("GET", by_name, params=query)["appConnection"]["id"] == inside["id"]

    def test_a_taken_name_is_told_before_the_remote_is_asked(
        self, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        made = connections.make()
        idp.visits.asked.clear()
        connections.make(status=400, name=made["name"])
        assert idp.visits.asked == []


class TestProjects:
    def test_a_connection_of_a_project_tells_its_project(
        self, connections: Connections, project: Project
    ) -> None:
        made = connections.make(projectId=project.id)
        assert made["projectId"] == project.id
        assert made["project"] == {
            "id": project.id,
            "name": "project",
            "type": "secret-manager",
            "slug": project.slug,
        }

    def test_lists_are_of_the_organization_or_of_one_project(
        self, admin: Client, connections: Connections, project: Project, strict: Strict
    ) -> None:
        own = connections.make()
        last, first = (
            f"b-{project.slug}",
            f"a-{project.slug}",
        )  # other tests have connections of the organization
        inside = [connections.make(name=name, projectId=project.id) for name in (last, first)]
        query = {"projectId": project.id}
        for path in (ALL, IDP):
            listed = strict(AppConnectionList, admin.json("GET", path, params=query)).app_connections
            assert [one.id for one in listed] == [one["id"] for one in reversed(inside)]
            found = admin.json("GET", path)["appConnections"]
            assert own["id"] in {one["id"] for one in found}
            assert all("projectId" not in one for one in found)
            assert [one["name"] for one in found] == sorted(one["name"] for one in found)
        assert admin.json("GET", f"{ALL}/cloud", params=query)["appConnections"] == []
        available = strict(AvailableAppConnectionList, admin.json("GET", f"{IDP}/available", params=query))
        names = [one.name for one in available.app_connections]
        assert {first, last, own["name"]} <= set(names)
        assert names == sorted(names)
        of_organization = admin.json("GET", f"{IDP}/available")["appConnections"]
        assert first not in {one["name"] for one in of_organization}

    def test_an_unknown_project_is_not_found(self, admin: Client, connections: Connections) -> None:
        connections.make(status=404, projectId=UNKNOWN)
        admin.json("GET", IDP, status=404, params={"projectId": UNKNOWN})

    def test_connections_go_with_their_project(
        self, admin: Client, connections: Connections, project: Project
    ) -> None:
        made = connections.make(projectId=project.id)
        admin.json("DELETE", f"/api/v1/projects/{project.id}")
        admin.json("GET", f"{IDP}/{made['id']}", status=404)


class TestApps:
    def test_the_published_name_is_answered_in_its_words(
        self, admin: Client, connections: Connections
    ) -> None:
        made = connections.make(path=f"{ALL}/auth0")
        assert made["app"] == "auth0"
        path = f"{ALL}/auth0/{made['id']}"
        assert admin.json("GET", path)["appConnection"] == made
        assert admin.json("GET", f"{IDP}/{made['id']}")["appConnection"] == {**made, "app": "idp"}
        assert admin.json("PATCH", path, json={"description": "x"})["appConnection"]["app"] == "auth0"
        assert {one["app"] for one in admin.json("GET", f"{ALL}/auth0")["appConnections"]} == {"auth0"}
        assert {one["app"] for one in admin.json("GET", f"{ALL}/auth0/available")["appConnections"]} == {
            "auth0"
        }
        assert admin.json("DELETE", path)["appConnection"]["app"] == "auth0"

    def test_a_connection_to_another_app_is_told(self, admin: Client, connections: Connections) -> None:
        made = connections.make()
        for method, path in (
            ("GET", f"{ALL}/cloud/{made['id']}"),
            ("GET", f"{ALL}/cloud/connection-name/{made['name']}"),
            ("DELETE", f"{ALL}/cloud/{made['id']}"),
            ("PATCH", f"{ALL}/cloud/{made['id']}"),
        ):
            body: dict[str, Any] | None = {} if method == "PATCH" else None
            told = admin.json(method, path, status=400, json=body)["message"]
            assert told == f'App Connection with ID {made["id"]} is not for App "cloud"'

    def test_an_app_that_nobody_knows_is_no_route(self, admin: Client) -> None:
        for path in (f"{ALL}/unknown", f"{ALL}/unknown/available", f"{ALL}/unknown/{UNKNOWN}"):
            assert admin.json("GET", path, status=404)["error"] == "Not Found"

    def test_an_id_that_is_none_is_refused(self, admin: Client) -> None:
        assert admin.json("GET", f"{IDP}/x", status=422)["message"][0]["path"] == ["connectionId"]

    def test_options_tell_apps_and_methods(self, admin: Client, strict: Strict) -> None:
        answer = admin.json("GET", f"{ALL}/options", params={"projectType": "secret-manager"})
        options = strict(AppConnectionOptionList, answer).app_connection_options
        assert [option.methods for option in options if option.app == "idp"] == [["client-credentials"]]
        titles = [option.name.lower() for option in options]
        assert titles == sorted(titles)

    def test_an_app_without_rotation_says_so(self, admin: Client, connections: Connections) -> None:
        made = connections.make()
        refusal = admin.json("POST", f"{IDP}/{made['id']}/rotate-credentials", status=400)
        assert refusal["message"] == (
            "Rotation is not supported for Identity Provider Connections with method client-credentials"
        )


def test_instants_are_of_now(connections: Connections) -> None:
    began = datetime.now(UTC) - timedelta(milliseconds=1)  # instants are told in whole ones
    made = connections.make()
    assert made["createdAt"] == made["updatedAt"]
    assert began <= datetime.fromisoformat(made["createdAt"]) <= datetime.now(UTC)
