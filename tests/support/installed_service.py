"""The service of an installation, reached from outside of the cluster as docs/installing.md says."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import httpx

from keybearer.client import ClientOptions, Keybearer, UniversalAuth
from support.helm_house import RESTRICTED, HelmHouse
from support.pasted import yaml_with
from support.release_shell import RELEASE_NAMESPACE
from support.secretsync_objects import decoded
from support.tcp_balancer import TcpBalancer
from support.tenant import Tenant, open_tenant
from tools.chart.rendering import ROOT
from tools.local.secrets_service import ServiceAdmin
from tools.local.waiting import PATIENCE, PROBE_SECONDS, eventually

__all__ = ["InstalledService", "guest", "reached_from_outside"]

_PAGE = ROOT / "docs" / "installing.md"
_NAME = "keybearer-outside"
_NAME_LENGTH = 36  # of slugs
_KINDS = ("SecretSync", "CertificateProfile")


@dataclass(frozen=True)
class InstalledService:
    """What `ServiceAdmin` asks of a service; made when the installation is new, for it asks who the administrator is.

    Attributes:
        url: where this machine reaches it.
        ca_pem: who signed its certificate.
    """

    url: str
    ca_pem: bytes = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)

    def admin_file(self) -> dict[str, str]:
        """As the service writes it where it runs without a cluster."""
        return dict(self._administrator)

    @cached_property
    def _administrator(self) -> dict[str, str]:
        login = UniversalAuth(self.client_id, self.client_secret)
        options = ClientOptions(timeout=PATIENCE, ca_pem=self.ca_pem)
        with Keybearer(self.url, login, options=options) as client:
            first, *_ = client.identities.list()
        return {
            "identityId": first.id,
            "organizationId": first.org_id,
            "clientId": self.client_id,
            "clientSecret": self.client_secret,
        }


@contextmanager
def reached_from_outside(house: HelmHouse) -> Iterator[InstalledService]:
    """Yield the service of the release, reached through every node at the port of a Service of our own."""
    house.run("kubectl apply -f -", given=yaml_with(_PAGE, f"name: {_NAME}"))
    exposed = house.api.send("GET", f"/api/v1/namespaces/{RELEASE_NAMESPACE}/services/{_NAME}")
    port = exposed["spec"]["ports"][0]["nodePort"]
    admin = decoded(house.api.get("Secret", RELEASE_NAMESPACE, "keybearer-service-admin"))
    authority = decoded(house.api.get("Secret", RELEASE_NAMESPACE, "keybearer-service-tls"))["ca.crt"]
    nodes = [f"http://{node.address}:{port}" for node in house.nodes.cluster.nodes]
    with TcpBalancer(nodes) as balancer:
        # The chart's certificate is for names inside the cluster, and for this one.
        url = balancer.url.replace("http://127.0.0.1", "https://localhost")
        # The nodes learn of a Service a moment after it was made.
        trust = ssl.create_default_context(cadata=authority)
        eventually(
            lambda: _is_reached(url, trust), awaited=f"a way to the Service {_NAME}", told=house.logs.told
        )
        yield InstalledService(url, authority.encode(), admin["clientId"], admin["clientSecret"])


@contextmanager
def guest(house: HelmHouse, admin: ServiceAdmin, test: str) -> Iterator[Tenant]:
    """Yield a tenant of one test; its namespace, of the name of the test, holds pods to the strictest standard."""
    name = re.sub(r"[^a-z0-9]+", "-", test.removeprefix("test_"))[:_NAME_LENGTH].strip("-")
    project = admin.new_project(name)
    yield open_tenant(house.api, name, project, admin.new_login(project.id), labels=RESTRICTED)
    for kind in _KINDS:
        house.api.delete_all(kind, name)
    house.api.delete("Namespace", "", name)


def _is_reached(url: str, trust: ssl.SSLContext) -> bool:
    try:
        httpx.get(url, verify=trust, timeout=PROBE_SECONDS, trust_env=False)
    except httpx.TransportError:
        return False
    return True
