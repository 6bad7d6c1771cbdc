"""What certificates need in a service: a project for them, an authority, a policy, and who asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tools.bench.service import Admin, Viewer

__all__ = ["Pki", "create_issuer", "create_pki"]

_PKI = "/api/v1/cert-manager"
_LIFETIME = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Pki:
    """Ids of what is there."""

    organization_id: str
    project_id: str
    ca_id: str
    policy_id: str


async def create_pki(admin: Admin) -> Pki:
    """A project with an EC P-256 root and a policy that allows anything exists."""
    project = (await admin.ask("POST", "/api/v1/projects", {"projectName": "pki", "type": "cert-manager"}))[
        "project"
    ]
    place = {"projectId": project["id"], "name": "bench"}
    configuration = {
        "type": "root",
        "commonName": "Bench",
        "keyAlgorithm": "EC_prime256v1",
        "maxPathLength": 0,
        "notAfter": (datetime.now(UTC) + _LIFETIME).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    authority = {**place, "status": "active", "configuration": configuration}
    ca = await admin.ask("POST", f"{_PKI}/ca/internal", authority)
    policy = await admin.ask("POST", f"{_PKI}/certificate-policies", place)
    policy_id = policy["certificatePolicy"]["id"]
    # Issuers are members, and make profiles of it.
    await admin.ask(
        "PATCH", f"{_PKI}/certificate-policies/{policy_id}/binding", {"profilesBoundBy": "members"}
    )
    return Pki(project["orgId"], project["id"], ca["id"], policy_id)


async def create_issuer(admin: Admin, pki: Pki) -> Viewer:
    """A machine identity exists that is a member of that project, with fresh Universal Auth credentials."""
    return await admin.create_viewer(pki.organization_id, pki.project_id, role="member")
