"""What tests of certificates make in a service: a project for them, authorities, policies, profiles."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from support.service_fixtures import Client, Service

__all__ = ["PKI", "Pki", "later", "pki_of"]

PKI = "/api/v1/cert-manager"
Json = dict[str, Any]


def later(days: float = 365) -> str:
    """Return an instant so many days from now, as bodies write it."""
    return (datetime.now(UTC) + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@dataclass(frozen=True)
class Pki:
    """A client and a project of type cert-manager."""

    client: Client
    project_id: str

    def call(self, method: str, path: str, *, status: int = 200, **options: object) -> Any:  # noqa: ANN401 - JSON
        """Return what a route of certificates answers."""
        response = self.client.request(method, f"{PKI}{path}", **options)  # type: ignore[arg-type] # httpx's own keywords
        assert response.status_code == status, f"{response.status_code}: {response.text}"
        return response.json()

    def authority(self, name: str | None = None, *, status: int = 200, **configuration: Any) -> Json:  # noqa: ANN401 - fields of a configuration
        """Make an authority; by default a root on P-256 that is active for ten years."""
        body = {
            "projectId": self.project_id,
            "name": name or _name("ca"),
            "status": "active",
            "configuration": {
                "type": "root",
                "commonName": "Root of Tests",
                "keyAlgorithm": "EC_prime256v1",
                "maxPathLength": -1,
                **({"notAfter": later(3650)} if configuration.get("type", "root") == "root" else {}),
                **configuration,
            },
        }
        made: Json = self.call("POST", "/ca/internal", status=status, json=body)
        return made

    def intermediate(self, parent_id: str, *, days: float = 1825, **configuration: Any) -> Json:  # noqa: ANN401 - same
        """Make an intermediate that the parent signs."""
        made = self.authority(
            **{"type": "intermediate", "commonName": "Intermediate of Tests", **configuration}
        )
        body = {"notAfter": later(days), "parentCaId": parent_id}
        self.call("POST", f"/ca/internal/{made['id']}/certificate", json=body)
        signed: Json = self.call("GET", f"/ca/internal/{made['id']}")
        return signed

    def policy(self, *, status: int = 200, **fields: object) -> Json:
        """Make a policy; by default it allows anything."""
        body = {"projectId": self.project_id, "name": _name("policy"), **fields}
        answer = self.call("POST", "/certificate-policies", status=status, json=body)
        found: Json = answer["certificatePolicy"] if status == 200 else answer
        return found

    def profile(self, *, status: int = 200, **fields: Any) -> Json:  # noqa: ANN401 - fields of a body
        """Make a profile; policy and authority are made with it unless they are given."""
        body: Json = {"projectId": self.project_id, "slug": _name("profile"), **fields}
        if "certificatePolicyId" not in body:
            body["certificatePolicyId"] = self.policy()["id"]
        if "caId" not in body and body.get("issuerType") != "self-signed":
            body["caId"] = self.authority()["id"]
        answer = self.call("POST", "/certificate-profiles", status=status, json=body)
        found: Json = answer["certificateProfile"] if status == 200 else answer
        return found

    def application(self, *profile_ids: str, **fields: object) -> Json:
        """Make an application to which the profiles are attached."""
        body = {
            "projectId": self.project_id,
            "name": _name("application"),
            "profileIds": [*profile_ids],
            **fields,
        }
        found: Json = self.call("POST", "/applications", json=body)["application"]
        return found

    def issue(self, profile_id: str, *, status: int = 200, **fields: object) -> Json:
        """Issue a certificate for www.example.com, for an hour."""
        body = {
            "profileId": profile_id,
            "attributes": {"commonName": "www.example.com", "ttl": "1h", "keyAlgorithm": "EC_prime256v1"},
            **fields,
        }
        found: Json = self.call("POST", "/certificates", status=status, json=body)
        return found


def pki_of(service: Service, client: Client | None = None) -> Pki:
    """Return a fresh project for certificates, of the admin unless another client is given."""
    client = client or service.admin_client()
    body = {"projectName": _name("pki"), "type": "cert-manager"}
    project = client.json("POST", "/api/v1/projects", json=body)["project"]
    return Pki(client, project["id"])


def _name(what: str) -> str:
    return f"{what}-{secrets.token_hex(4)}"
