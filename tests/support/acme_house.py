"""A service with an ACME authority beside it, which looks for answers to challenges by way of a proxy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from support.issuing_house import PKI, IssuingHouse
from support.pebble import BINDING_KEY, BINDING_SECRET, Pebble
from support.service_fixtures import ServiceProcess, start_service
from support.service_proxy import ServiceProxy, ServiceRequest
from tools.controlplane.ports import free_port
from tools.local.waiting import eventually

__all__ = ["ACME", "AcmeHouse", "acme_house", "ended", "is_challenge", "reached"]

ACME = f"{PKI}/ca/acme"


def is_challenge(request: ServiceRequest) -> bool:
    """Whether somebody looks for the answer to a challenge."""
    return request.path.startswith("/.well-known/acme-challenge/")


@dataclass
class AcmeHouse:
    """The service, its authority, and the way from there to its answers."""

    service: ServiceProcess
    pebble: Pebble
    proxy: ServiceProxy
    flags: tuple[str, ...]

    def kill(self) -> None:
        """The service has ended as by a power failure."""
        self.service.kill()

    def start(self) -> None:
        """The service runs again, on the same data and port."""
        self.service = start_service(self.service.data_dir, *self.flags)

    def project(self, *, is_bound: bool = False, **terms: object) -> IssuingHouse:
        """Return a project of its own with an authority at Pebble, a policy and a profile."""
        house = self.bare_project()
        binding: dict[str, Any] = {"eabKid": BINDING_KEY, "eabHmacKey": BINDING_SECRET} if is_bound else {}
        house.authority_id = self.authority(house, **binding)["id"]
        house.policy_id = house.policy({})
        house.profile_id = house.profile(**terms)
        return house

    def bare_project(self) -> IssuingHouse:
        """Return a project of its own with nothing in it."""
        client = self.service.admin_client()
        body = {"projectName": "certificates", "slug": f"c-{uuid4().hex[:12]}", "type": "cert-manager"}
        project_id = client.json("POST", "/api/v1/projects", json=body)["project"]["id"]
        return IssuingHouse(client, project_id, "", "", "")

    def authority(self, house: IssuingHouse, *, status: int = 200, **configuration: object) -> dict[str, Any]:
        """Make an authority at Pebble, and return the answer."""
        given: dict[str, object] = {
            "directoryUrl": self.pebble.directory_url,
            "accountEmail": "ops@example.com",
            "caCertificates": self.pebble.ca_certificates,
            "termsOfServiceAgreed": True,
            **configuration,
        }
        body = {"name": f"ca-{uuid4().hex[:12]}", "projectId": house.project_id, "configuration": given}
        return house.client.json("POST", ACME, json=body, status=status)


def ended(house: IssuingHouse, request_id: str) -> dict[str, Any]:
    """Return a request once it is issued or failed."""
    return reached(house, request_id, "issued", "failed")


def reached(house: IssuingHouse, request_id: str, *statuses: str) -> dict[str, Any]:
    """Return a request once it has one of these statuses."""

    def probe() -> dict[str, Any] | None:
        found = house.request(request_id)
        return found if found["status"] in statuses else None

    return eventually(probe, awaited=f"a request that is {' or '.join(statuses)}")


@contextmanager
def acme_house(
    directory: Path,
    *,
    needs_binding: bool = False,
    refused_nonces: int = 0,
    environment: Mapping[str, str] | None = None,
    database_url: str | None = None,
) -> Iterator[AcmeHouse]:
    """Yield the service with its authority; all of it is gone afterwards.

    Args:
        directory: private to them.
        needs_binding: see `Pebble`.
        refused_nonces: likewise.
        environment: of the service, see `start_service`.
        database_url: likewise.
    """
    port = free_port()
    directory.mkdir(parents=True, exist_ok=True)
    with (
        ServiceProxy(f"http://127.0.0.1:{port}") as proxy,
        Pebble(
            directory,
            int(proxy.url.rpartition(":")[2]),
            needs_binding=needs_binding,
            refused_nonces=refused_nonces,
        ) as pebble,
    ):
        given = (f"--listen=127.0.0.1:{port}", f"--allow-outbound=127.0.0.1:{pebble.port}")
        running = start_service(
            directory / "data", *given, environment=environment, database_url=database_url
        )
        house = AcmeHouse(running, pebble, proxy, given)
        try:
            yield house
        finally:
            house.service.stop()
