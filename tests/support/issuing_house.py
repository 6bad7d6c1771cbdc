"""A project with an authority, a policy and a profile, and requests for certificates of it, over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from keybearer.base.certificate_terms import KeyAlgorithm, NameType
from keybearer.pki.keys import PrivateKey, generate_private_key
from keybearer.pki.names import Subject, alternative_name
from keybearer.pki.signing_requests import build_signing_request
from support.service_fixtures import Client, Service

__all__ = ["ALL", "PKI", "REQUESTS", "IssuingHouse", "csr_of"]

PKI = "/api/v1/cert-manager"
ALL = f"{PKI}/certificates"
REQUESTS = f"{ALL}/certificate-requests"
_EC = "EC_prime256v1"


def csr_of(*names: str, common_name: str | None = None, key: PrivateKey | None = None) -> str:
    """Return a signing request for these hosts."""
    return build_signing_request(
        key or generate_private_key(KeyAlgorithm.EC_P256),
        Subject.of(common_name),
        alternative_names=[alternative_name(NameType.DNS_NAME, name) for name in names],
    )


@dataclass
class IssuingHouse:
    """A project of its own; made with `build`."""

    client: Client
    project_id: str
    authority_id: str
    policy_id: str
    profile_id: str

    @classmethod
    def build(
        cls,
        service: Service,
        *,
        rules: dict[str, Any] | None = None,
        defaults: dict[str, Any] | None = None,
        **profile: object,
    ) -> IssuingHouse:
        """Make all of it as the admin."""
        client = service.admin_client()
        body = {"projectName": "certificates", "slug": f"c-{uuid4().hex[:12]}", "type": "cert-manager"}
        project_id = client.json("POST", "/api/v1/projects", json=body)["project"]["id"]
        house = cls(client, project_id, "", "", "")
        house.authority_id = house.authority()
        house.policy_id = house.policy(rules or {})
        given = {"ttlDays": 30, "keyAlgorithm": _EC} if defaults is None else defaults
        house.profile_id = house.profile(defaults=given, **profile)
        return house

    def authority(self, *, days: float = 3650, key_algorithm: str = _EC, **more: object) -> str:
        """Make a root that is good for so long, and return its id."""
        until = (datetime.now(UTC) + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = {
            "name": f"ca-{uuid4().hex[:12]}",
            "status": "active",
            "projectId": self.project_id,
            "configuration": {
                "type": "root",
                "commonName": "House Root",
                "keyAlgorithm": key_algorithm,
                "maxPathLength": -1,
                "notAfter": until,
                **more,
            },
        }
        return str(self.client.json("POST", f"{PKI}/ca/internal", json=body)["id"])

    def policy(self, rules: dict[str, Any]) -> str:
        """Make a policy of these rules, and return its id."""
        body = {"name": f"p-{uuid4().hex[:12]}", "projectId": self.project_id, **rules}
        answer = self.client.json("POST", f"{PKI}/certificate-policies", json=body)
        return str(answer["certificatePolicy"]["id"])

    def profile(self, **more: object) -> str:
        """Make a profile, and return its id."""
        body: dict[str, Any] = {
            "slug": f"s-{uuid4().hex[:12]}",
            "projectId": self.project_id,
            "certificatePolicyId": self.policy_id,
            "caId": self.authority_id,
            **more,
        }
        body = {name: value for name, value in body.items() if value is not None}
        answer = self.client.json("POST", f"{PKI}/certificate-profiles", json=body)
        return str(answer["certificateProfile"]["id"])

    def issue(
        self,
        attributes: dict[str, Any] | None = None,
        *,
        status: int = 200,
        client: Client | None = None,
        **more: object,
    ) -> dict[str, Any]:
        """Ask for a certificate and return the answer."""
        body: dict[str, Any] = {"profileId": self.profile_id, **more}
        if attributes is not None:
            body["attributes"] = attributes
        return (client or self.client).json("POST", ALL, json=body, status=status)

    def search(self, *, answered: int = 200, **wanted: object) -> dict[str, Any]:
        """Search the project's requests."""
        body = {"projectId": self.project_id, **wanted}
        return self.client.json("POST", f"{REQUESTS}/search", json=body, status=answered)

    def request(self, request_id: str, *, status: int = 200) -> dict[str, Any]:
        """Return one request."""
        shown: dict[str, Any] = self.client.json("GET", f"{REQUESTS}/{request_id}", status=status)
        return shown

    def certificate(self, certificate_id: str, *, status: int = 200) -> dict[str, Any]:
        """Return a certificate without its text."""
        answer = self.client.json("GET", f"{ALL}/{certificate_id}", status=status)
        shown: dict[str, Any] = answer["certificate"] if status == 200 else answer
        return shown

    def approval_policy(self, **more: object) -> dict[str, Any]:
        """Have certificates of the profile need agreement."""
        body = {"profileId": self.profile_id, **more}
        answer = self.client.json("POST", f"{PKI}/approval-policies", json=body)
        made: dict[str, Any] = answer["approvalPolicy"]
        return made

    def approval_id(self, request_id: str) -> str:
        """Return what a request waits for."""
        [found] = [
            one["approvalRequestId"]
            for one in self.search(limit=100)["certificateRequests"]
            if one["id"] == request_id
        ]
        return str(found)

    def vote(
        self, approval_id: str, word: str, *, client: Client | None = None, status: int = 200, **body: object
    ) -> dict[str, Any]:
        """Approve or reject."""
        path = f"{PKI}/approval-requests/{approval_id}/{word}"
        answer = (client or self.client).json("POST", path, json=body, status=status)
        shown: dict[str, Any] = answer["approvalRequest"] if status == 200 else answer
        return shown
