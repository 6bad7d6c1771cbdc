from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from contract.client.house import Client, House, close
from keybearer.client import AsyncKeybearer, Keybearer
from support.canary import Canary
from support.command_line import CommandLine
from support.remotes.beside import served_beside, tls_of
from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import (
    Credentials,
    Project,
    ProjectSecrets,
    Service,
    ServiceProcess,
    start_service,
)
from support.shared_service import service_process

_KINDS = {"asynchronous": AsyncKeybearer, "blocking": Keybearer}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what asks for a client with each of both."""
    if "client_kind" in metafunc.fixturenames:
        metafunc.parametrize("client_kind", _KINDS.values(), indirect=True, ids=_KINDS, scope="session")


@pytest.fixture(scope="session")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Yield a service that is a process: commands that run in ours would find its logs in their output."""
    with service_process(tmp_path_factory.mktemp("service") / "data", None) as running:
        yield running


@pytest.fixture(scope="session")
def client_kind(request: pytest.FixtureRequest) -> type[AsyncKeybearer | Keybearer]:
    """Return the asynchronous client, or the blocking one."""
    kind: type[AsyncKeybearer | Keybearer] = request.param
    return kind


@pytest.fixture(scope="session")
def provider_and_ca(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[IdentityProviderCopy, Path]]:
    """Yield an identity provider, and the file of who vouches for it."""
    tls, ca_file = tls_of(tmp_path_factory.mktemp("provider"))
    copy = IdentityProviderCopy()
    with served_beside(copy, tls):
        yield copy, ca_file


@pytest.fixture
def identity_provider(provider_and_ca: tuple[IdentityProviderCopy, Path]) -> IdentityProviderCopy:
    return provider_and_ca[0]


@pytest.fixture(scope="session")
def calling_process(
    provider_and_ca: tuple[IdentityProviderCopy, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServiceProcess]:
    """Yield a service that may call loopback: itself, as another server of this API; its syncs begin at once."""
    running = start_service(
        tmp_path_factory.mktemp("calling") / "data",
        *("--outbound-ca", str(provider_and_ca[1])),
        *("--allow-outbound", "127.0.0.0/8", "--sync-start-delay", "0", "--sync-retry-delay", "0.1"),
    )
    yield running
    running.stop()


@pytest.fixture
def calling_service(calling_process: ServiceProcess, canary: Canary) -> ServiceProcess:
    """Return that service; its log is searched for marked values after the test."""
    canary.watch("log of keybearer serve", calling_process.log.read_text)
    return calling_process


@pytest.fixture
async def house(client_kind: type[AsyncKeybearer | Keybearer], service: Service) -> AsyncIterator[House]:
    project = service.create_project()
    made = House(client_kind, service, project, service.create_identity(roles={project.id: "admin"}))
    yield made
    for client in made.clients:
        await close(client)


@pytest.fixture
def client(house: House) -> Client:
    return house.client(house.credentials)


@pytest.fixture
def project(service: Service) -> Project:
    return service.create_project()


@pytest.fixture
def who(service: Service, project: Project) -> Credentials:
    return service.create_identity(roles={project.id: "admin"})


@pytest.fixture
def keybearer(service: Service, project: Project, who: Credentials, tmp_path: Path) -> CommandLine:
    """Somebody with the credentials of an identity in the environment, as in CI."""
    return CommandLine(
        tmp_path,
        {
            "KEYBEARER_URL": service.url,
            "KEYBEARER_CLIENT_ID": who.client_id,
            "KEYBEARER_CLIENT_SECRET": who.client_secret,
            "KEYBEARER_PROJECT": project.slug,
            "KEYBEARER_ENVIRONMENT": "dev",
        },
    )


@pytest.fixture
def secrets(service: Service, project: Project) -> ProjectSecrets:
    return ProjectSecrets(service.admin_client(), project)
