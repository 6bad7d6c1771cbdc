"""Who may see and change connections, and what their use by syncs rules out."""

from __future__ import annotations

import pytest

from contract.service.app_connections.provider_connections import ALL, IDP, Connections
from keybearer.wire.app_connections import AppConnectionUsage
from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import Client, Project, Service, Strict


class TestRights:
    def test_members_of_the_organization_see_its_connections_and_only_admins_change_them(
        self, service: Service, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        made = connections.make()
        path = f"{IDP}/{made['id']}"
        member = service.client(service.login(service.create_identity(organization_role="member")))
        assert member.json("GET", path)["appConnection"] == made
        member.json("GET", IDP)
        idp.visits.asked.clear()
        other = Connections(member, idp)
        assert other.make(status=403)["message"] == "You are not allowed to create on app-connections"
        refusal = member.json("PATCH", path, status=403, json={"credentials": idp.credentials()})
        assert refusal["details"][0]["subject"] == "app-connections"
        member.json("DELETE", path, status=403)
        member.json("POST", f"{path}/rotate-credentials", status=403)
        assert idp.visits.asked == []
        nobody = service.client(service.login(service.create_identity()))
        nobody.json("GET", path, status=403)
        nobody.json("GET", ALL, status=403)

    @pytest.mark.parametrize("role", ["admin", "member", "viewer", "no-access"])
    def test_roles_of_a_project_decide_about_its_connections(
        self,
        service: Service,
        connections: Connections,
        idp: IdentityProviderCopy,
        project: Project,
        role: str,
    ) -> None:
        made = connections.make(projectId=project.id)
        path = f"{IDP}/{made['id']}"
        client = service.client(service.login(service.create_identity(roles={project.id: role})))
        reads = 403 if role == "no-access" else 200
        writes = 200 if role == "admin" else 403
        client.json("GET", path, status=reads)
        client.json("GET", IDP, status=reads, params={"projectId": project.id})
        client.json("GET", f"{IDP}/available", status=reads, params={"projectId": project.id})
        Connections(client, idp).make(status=writes, projectId=project.id)
        client.json("PATCH", path, status=writes, json={"description": "x"})
        client.json("DELETE", path, status=writes)

    def test_grants_speak_of_connections(
        self, service: Service, admin: Client, connections: Connections, project: Project
    ) -> None:
        made = connections.make(projectId=project.id)
        path = f"{IDP}/{made['id']}"
        viewer = service.create_identity(roles={project.id: "viewer"})
        client = service.client(service.login(viewer))
        whole = {"identityId": viewer.identity_id, "environment": "*", "subjects": ["app-connections"]}
        grants = f"/api/v1/projects/{project.id}/grants"
        client.json("PATCH", path, status=403, json={"description": "x"})
        admin.json("POST", grants, json={**whole, "actions": ["edit"]})
        client.json("PATCH", path, json={"description": "x"})
        admin.json("POST", grants, json={**whole, "effect": "deny", "actions": ["read"]})
        client.json("GET", path, status=403)
        client.json("GET", IDP, status=403, params={"projectId": project.id})

    def test_usage_is_for_users(
        self, service: Service, admin: Client, connections: Connections, strict: Strict
    ) -> None:
        made = connections.make()
        path = f"{IDP}/{made['id']}/usage"
        admin.json("GET", path, status=403)
        person = service.client(service.login_user(service.create_user(organization_role="admin")))
        assert strict(AppConnectionUsage, person.json("GET", path)).projects == []

    def test_changes_are_audited_without_credentials(self, admin: Client, connections: Connections) -> None:
        made = connections.make()
        path = f"{IDP}/{made['id']}"
        admin.json("PATCH", path, json={"description": "x"})
        admin.json("DELETE", path)
        lines = admin.json("GET", "/api/v1/organization/audit-logs", params={"limit": "50"})["auditLogs"]
        ours = [line for line in lines if line["event"]["metadata"].get("connectionId") == made["id"]]
        assert {line["event"]["type"] for line in ours} == {
            "create-app-connection",
            "update-app-connection",
            "delete-app-connection",
        }
        assert all("cnry" not in str(line) for line in ours)


class TestUse:
    """By syncs to a second service, which is this one."""

    @pytest.fixture
    def used(self, service: Service, admin: Client, project: Project) -> tuple[str, str]:
        """Return a connection of the project and a sync that uses it."""
        machine = service.create_identity(roles={project.id: "member"})
        body = {
            "name": "other",
            "method": "machine-identity",
            "projectId": project.id,
            "credentials": {
                "instanceUrl": service.url,
                "machineIdentityClientId": machine.client_id,
                "machineIdentityClientSecret": machine.client_secret,
            },
        }
        connection = admin.json("POST", f"{ALL}/external-infisical", json=body)["appConnection"]
        sync = {
            "name": "out",
            "projectId": project.id,
            "connectionId": connection["id"],
            "environment": "dev",
            "secretPath": "/",
            "isAutoSyncEnabled": False,
            "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
            "destinationConfig": {"projectId": project.id, "environment": "prod", "secretPath": "/"},
        }
        path = "/api/v1/secret-syncs/external-infisical"
        return connection["id"], admin.json("POST", path, json=sync)["secretSync"]["id"]

    def test_a_connection_that_a_sync_uses_is_not_deleted(self, admin: Client, used: tuple[str, str]) -> None:
        connection_id, sync_id = used
        path = f"{ALL}/external-infisical/{connection_id}"
        assert admin.json("DELETE", path, status=400)["message"] == (
            "Cannot delete App Connection with existing connections. "
            "Remove all existing connections and try again."
        )
        admin.json("DELETE", f"/api/v1/secret-syncs/external-infisical/{sync_id}")
        admin.json("DELETE", path)

    def test_usage_tells_projects_and_syncs(
        self, service: Service, project: Project, used: tuple[str, str], strict: Strict
    ) -> None:
        connection_id, sync_id = used
        path = f"{ALL}/external-infisical/{connection_id}/usage"
        person = service.client(service.login_user(service.create_user(roles={project.id: "viewer"})))
        (use,) = strict(AppConnectionUsage, person.json("GET", path)).projects
        assert (use.id, use.slug) == (project.id, project.slug)
        assert [(sync.id, sync.name) for sync in use.resources.secret_syncs] == [(sync_id, "out")]

    def test_a_project_goes_with_connections_and_syncs(
        self, admin: Client, project: Project, used: tuple[str, str]
    ) -> None:
        admin.json("DELETE", f"/api/v1/projects/{project.id}")
        admin.json("GET", f"{ALL}/external-infisical/{used[0]}", status=404)
