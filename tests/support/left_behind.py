"""A namespace with all that has to be taken back in the service when it goes, and what is left of it there."""

from __future__ import annotations

from dataclasses import dataclass

from support.certificate_objects import Certificates, certificate, certificates_of
from support.connection_objects import MANAGER, Connections, connections_of
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.secrets_service import ServiceAdmin
from tools.local.waiting import eventually

__all__ = ["ENDS_WITHIN_SECONDS", "Leaving", "open_leaving"]

ENDS_WITHIN_SECONDS = 60.0
"""How soon a namespace is gone that is deleted while the service can be reached; a deadline is ten times that."""
_CERTIFICATES = 3
_PUSHED = {"ONE": "cnry-1"}


@dataclass(frozen=True)
class Leaving:
    """A connection `store`, a push `web` through it and a profile `web` with certificates, and their surroundings."""

    tenant: Tenant
    admin: ServiceAdmin
    far: ServiceAdmin
    connections: Connections
    certificates: Certificates

    def fill(self) -> None:
        """All is made, and asks to be taken back."""
        tenant, certificates = self.tenant, self.certificates
        tenant.project.store(_PUSHED)
        self.connections.keep_login()
        self.connections.create("store")
        place = {"projectId": self.connections.far_project.id, "environment": "dev", "secretPath": "/"}
        tenant.sync(
            "web",
            identityRef={"name": MANAGER},
            destination="external-infisical",
            connectionRef={"name": "store"},
            destinationConfig=place,
            destinationDeletionPolicy="RemoveSecrets",
        )
        names = (f"front-{number}" for number in range(_CERTIFICATES))
        certificates.create("web", *(certificate(name, revokeOnDelete=True) for name in names))
        certificates.until_reason("web", "Issued")
        eventually(lambda: self._pushed() == sorted(_PUSHED), awaited="the pushed secrets")
        tenant.until_ready("web")
        self._require_left(
            {
                "connections": ["store"],
                "syncs": ["external-infisical"],
                "pushed": sorted(_PUSHED),
                "profiles": [f"{tenant.namespace}-web"],
                "certificates": ["active"] * _CERTIFICATES,
            }
        )

    def until_clean(self) -> None:
        """The namespace has gone, sooner than by any deadline, and nothing of it is left in the services."""
        tenant = self.tenant
        eventually(
            lambda: tenant.api.find("Namespace", "", tenant.namespace) is None,
            awaited="an end of the namespace",
            within=ENDS_WITHIN_SECONDS,
            told=lambda: f"left: {self.left()}",
        )
        self._require_left(
            {
                "connections": [],
                "syncs": [],
                "pushed": [],
                "profiles": [],
                "certificates": ["revoked"] * _CERTIFICATES,
            }
        )

    def left(self) -> dict[str, list[str]]:
        """What there is of it in the services."""
        requests = self.certificates.requests()
        return {
            "connections": [one["name"] for one in self._listed("app-connections", "appConnections")],
            "syncs": [one["destination"] for one in self._listed("secret-syncs", "secretSyncs")],
            "pushed": self._pushed(),
            "profiles": [
                one["slug"]
                for one in self._listed("cert-manager/certificate-profiles", "certificateProfiles")
            ],
            "certificates": [one["certificate"]["status"] for one in requests],
        }

    def _require_left(self, expected: dict[str, list[str]]) -> None:
        left = self.left()
        assert left == expected, f"{left}, not {expected}"

    def _listed(self, path: str, what: str) -> list[Body]:
        listed: list[Body] = self.admin.send("GET", f"/api/v1/{path}?projectId={self.tenant.project.id}")[
            what
        ]
        return listed

    def _pushed(self) -> list[str]:
        project_id = self.connections.far_project.id
        listed = self.far.client.secrets.list(project_id=project_id, environment="dev")
        return sorted(_PUSHED.keys() & {one.secret_key for one in listed})


def open_leaving(tenant: Tenant, admin: ServiceAdmin, far: ServiceAdmin, far_url: str) -> Leaving:
    """Return who may make all that; `far` is where it pushes to, and may be the same service."""
    return Leaving(
        tenant, admin, far, connections_of(tenant, admin, far, far_url), certificates_of(tenant, admin)
    )
