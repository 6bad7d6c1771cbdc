"""A SecretSync that pushes to the far service, and what arrives there."""

from __future__ import annotations

from dataclasses import dataclass

from support.connection_objects import MANAGER, Connections, open_connections
from support.operator_fixtures import Installation
from support.secretsync_objects import condition
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["PUSHING", "Pushing", "open_pushing"]

PUSHING = "web"
"""The SecretSync's name."""


@dataclass(frozen=True)
class Pushing:
    """A SecretSync's surroundings, and what arrives at the far service."""

    tenant: Tenant
    connections: Connections
    installation: Installation

    def spec(self, **changes: object) -> Body:
        """A destination in the far project, through the AppConnection `store`."""
        return {
            "identityRef": {"name": MANAGER},
            "destination": "external-infisical",
            "connectionRef": {"name": "store"},
            "destinationConfig": {
                "projectId": self.connections.far_project.id,
                "environment": "dev",
                "secretPath": "/",
            },
            **changes,
        }

    def connect(self) -> None:
        """The AppConnection exists with what it needs."""
        self.connections.keep_login()
        self.connections.create("store")

    def arrived(self) -> dict[str, str]:
        """What the far project holds."""
        listed = self.installation.far.admin.client.secrets.list(
            project_id=self.connections.far_project.id, environment="dev"
        )
        return {one.secret_key: one.secret_value for one in listed}

    def until_arrived(self, expected: dict[str, str], *, within: float = PATIENCE_SECONDS) -> None:
        """The far project holds this and nothing else."""
        eventually(lambda: self.arrived() == expected, awaited="the pushed secrets", within=within)

    def syncs(self) -> list[Body]:
        """The project's syncs as the service tells of them."""
        found: list[Body] = self.installation.admin.send(
            "GET", f"/api/v1/secret-syncs?projectId={self.tenant.project.id}"
        )["secretSyncs"]
        return found

    def until_succeeded(self) -> Body:
        """The SecretSync is Ready, and its mirror says that the last push succeeded."""
        return self.tenant.until(
            PUSHING,
            lambda sync: (
                (condition(sync, "Ready") or {}).get("status") == "True"
                and sync["status"].get("sync", {}).get("syncStatus") == "succeeded"
            ),
            "a push that succeeded",
        )


def open_pushing(tenant: Tenant, installation: Installation) -> Pushing:
    """Return a project, another one at the far service, and who may push between them."""
    return Pushing(tenant, open_connections(tenant, installation), installation)
