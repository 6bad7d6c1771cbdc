"""A service that may call the identity provider beside it, and connections to that one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.service.app_connections.provider_connections import Connections
from support.canary import Canary
from support.databases import new_database
from support.remotes.beside import served_beside, tls_of
from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import Client, ServiceProcess, start_service


@pytest.fixture(scope="session")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[IdentityProviderCopy, Path]]:
    """Yield an identity provider with TLS, and the file of who vouches for it."""
    tls, ca_file = tls_of(tmp_path_factory.mktemp("provider"))
    copy = IdentityProviderCopy()
    with served_beside(copy, tls):
        yield copy, ca_file


@pytest.fixture(scope="session")
def outgoing_process(
    provider: tuple[IdentityProviderCopy, Path],
    database_kind: str,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServiceProcess]:
    running = start_service(
        tmp_path_factory.mktemp("outgoing") / "data",
        *("--allow-outbound", "127.0.0.0/8", "--outbound-ca", str(provider[1])),
        database_url=new_database(database_kind, request).url,
    )
    yield running
    running.stop()


@pytest.fixture
def service(outgoing_process: ServiceProcess, canary: Canary) -> ServiceProcess:
    """Return a service that may call loopback; its log is searched for marked values after the test."""
    outgoing_process.show_log_to(canary)
    return outgoing_process


@pytest.fixture
def idp(provider: tuple[IdentityProviderCopy, Path]) -> Iterator[IdentityProviderCopy]:
    copy = provider[0]
    copy.visits.asked.clear()
    yield copy
    copy.visits.get_well()
    copy.token_type = "Bearer"


@pytest.fixture
def connections(admin: Client, idp: IdentityProviderCopy) -> Connections:
    return Connections(admin, idp)
