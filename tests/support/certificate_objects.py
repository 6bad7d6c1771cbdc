"""CertificateProfiles of a tenant, and an authority and a policy of its project to issue from."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from keybearer.pki.certificates import Certificate, parse_certificates
from support.operator_fixtures import Installation
from support.secretsync_objects import identity_secret
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.secrets_service import ServiceAdmin
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["ISSUER", "Certificates", "certificate", "certificates_of", "open_certificates"]

ISSUER = "issuer-identity"
"""The identity Secret of who may ask for certificates in the project."""


@dataclass(frozen=True)
class Certificates:
    """What tests of certificates work with.

    Attributes:
        tenant: whose namespace and project they are.
        admin: of the service.
        authority_id: of the intermediate that signs.
        root_id: of who signed that.
        policy_id: of a policy that allows names under example.com.
        root: PEM of the root.
    """

    tenant: Tenant
    admin: ServiceAdmin
    authority_id: str
    root_id: str
    policy_id: str
    root: str
    _serial: itertools.count[int] = field(default_factory=itertools.count)

    def manifest(self, name: str, *certificates: Body, **spec: object) -> Body:
        """A CertificateProfile, but for what the spec says; None leaves a field out."""
        whole: Body = {
            "identityRef": {"name": ISSUER},
            "projectId": self.tenant.project.id,
            "slug": f"{self.tenant.namespace}-{name}",
            "policyRef": {"name": "web"},
            "caRef": {"name": "issuing"},
            "certificates": list(certificates),
            **spec,
        }
        return {
            "apiVersion": "keybearer.dev/v1alpha1",
            "kind": "CertificateProfile",
            "metadata": {"namespace": self.tenant.namespace, "name": name},
            "spec": {key: value for key, value in whole.items() if value is not None},
        }

    def create(self, name: str, *certificates: Body, **spec: object) -> str:
        """A CertificateProfile exists; return its name."""
        self.tenant.api.create(self.manifest(name, *certificates, **spec))
        return name

    def edit(self, name: str, **spec: object) -> None:
        """The spec is changed by a merge patch; None removes a field."""
        self.tenant.api.patch("CertificateProfile", self.tenant.namespace, name, {"spec": spec})

    def ask(self, name: str, request: str) -> None:
        """A person asks by annotation."""
        annotations = {
            "keybearer.dev/request": request,
            "keybearer.dev/requestedAt": f"request-{next(self._serial)}",
        }
        patch: Body = {"metadata": {"annotations": annotations}}
        self.tenant.api.patch("CertificateProfile", self.tenant.namespace, name, patch)

    def find(self, name: str) -> Body | None:
        """A CertificateProfile, or None."""
        return self.tenant.api.find("CertificateProfile", self.tenant.namespace, name)

    def until(
        self, name: str, holds: Callable[[Body], bool], awaited: str, *, within: float = PATIENCE_SECONDS
    ) -> Body:
        """Return a CertificateProfile once the condition holds."""
        return self.tenant.until(name, holds, awaited, within=within, kind="CertificateProfile")

    def until_reason(
        self, name: str, reason: str, *, saying: str = "", within: float = PATIENCE_SECONDS
    ) -> Body:
        """Return a CertificateProfile once Ready has this reason, for its newest spec."""
        return self.tenant.until_reason(name, reason, saying=saying, within=within, kind="CertificateProfile")

    def entry(self, name: str, of: str) -> Body:
        """What the status says of a certificate."""
        found = self.find(name)
        assert found is not None
        listed = found["status"]["certificateRequests"]
        entry: Body = next(one for one in listed if one["name"] == of)
        return entry

    def data(self, secret: str) -> dict[str, bytes] | None:
        """What a Secret holds, or None."""
        found = self.tenant.secret(secret)
        if found is None:
            return None
        return {key: base64.b64decode(value) for key, value in found["data"].items()}

    def stored(self, secret: str) -> list[Certificate]:
        """What is in `tls.crt` of a Secret."""
        data = self.data(secret)
        assert data is not None, f"no Secret {secret}"
        return list(parse_certificates(data["tls.crt"].decode()))

    def revoke(self, certificate_id: str, reason: str) -> None:
        """The certificate is revoked in the service."""
        path = f"/api/v1/cert-manager/certificates/{certificate_id}/revoke"
        self.admin.send("POST", path, {"revocationReason": reason})

    def count_requests(self) -> int:
        """How many requests the project has."""
        path = "/api/v1/cert-manager/certificates/certificate-requests/search"
        body = {"projectId": self.tenant.project.id, "limit": 1}
        return int(self.admin.send("POST", path, body)["totalCount"])

    def requests(self, **filters: object) -> list[Body]:
        """The requests of the project, as the service tells of them."""
        body = {"projectId": self.tenant.project.id, "limit": 100, **filters}
        path = "/api/v1/cert-manager/certificates/certificate-requests/search"
        listed: list[Body] = self.admin.send("POST", path, body)["certificateRequests"]
        return listed


def certificate(name: str, **fields: object) -> Body:
    """A certificate of a manifest, for `<name>.example.com`."""
    host = f"{name}.example.com"
    attributes = {"commonName": host, "altNames": [{"value": host}], "ttl": "30d"}
    return {"name": name, "attributes": attributes, **fields}


def open_certificates(tenant: Tenant, installation: Installation) -> Certificates:
    """Return what is needed for certificates: a root, an intermediate, a policy, and who may ask."""
    return certificates_of(tenant, installation.admin)


def certificates_of(
    tenant: Tenant, admin: ServiceAdmin, hosts: Sequence[str] = ("*.example.com",)
) -> Certificates:
    """Return the same, given the service's administrator alone, and the names that the policy allows."""
    project = tenant.project.id
    manager = admin.new_login(project, role="member")
    tenant.api.create(identity_secret(tenant.namespace, ISSUER, manager.as_secret()))
    ends = (datetime.now(UTC) + timedelta(days=3650)).strftime("%Y-%m-%dT%H:%M:%SZ")
    earlier = (datetime.now(UTC) + timedelta(days=3600)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def authority(name: str, kind: str, **more: object) -> str:
        configuration = {"type": kind, "commonName": name, "keyAlgorithm": "EC_prime256v1", **more}
        body = {"name": name, "status": "active", "projectId": project, "configuration": configuration}
        return str(admin.send("POST", "/api/v1/cert-manager/ca/internal", body)["id"])

    root_id = authority("root", "root", maxPathLength=1, notAfter=ends)
    authority_id = authority("issuing", "intermediate", maxPathLength=0)
    path = f"/api/v1/cert-manager/ca/internal/{authority_id}/certificate"
    admin.send("POST", path, {"notAfter": earlier, "parentCaId": root_id, "maxPathLength": 0})
    root = admin.send("GET", f"/api/v1/cert-manager/ca/internal/{root_id}/certificate")["certificate"]
    policy = {
        "name": "web",
        "projectId": project,
        "subject": [
            {"type": "common_name", "allowed": list(hosts)},
            {"type": "organization", "allowed": ["Example"]},
        ],
        "sans": [{"type": "dns_name", "allowed": list(hosts)}],
        "validity": {"max": "365d"},
    }
    policies = "/api/v1/cert-manager/certificate-policies"
    policy_id = str(admin.send("POST", policies, policy)["certificatePolicy"]["id"])
    # The tenant's identity is a member, and makes the profiles of its manifests.
    admin.send("PATCH", f"{policies}/{policy_id}/binding", {"profilesBoundBy": "members"})
    return Certificates(tenant, admin, authority_id, root_id, policy_id, str(root))
