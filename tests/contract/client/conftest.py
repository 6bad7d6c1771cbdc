from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contract.client.house import Client, House, close
from keybearer.client import AsyncKeybearer, Keybearer
from support.command_line import CommandLine
from support.databases import on_every_database
from support.service_fixtures import Credentials, Project, ProjectSecrets, ServiceProcess

_NAMES = {AsyncKeybearer: "asynchronous", Keybearer: "blocking"}
KINDS = (("sqlite", AsyncKeybearer), ("sqlite", Keybearer), ("postgresql", AsyncKeybearer))
"""Both clients send the same requests: on PostgreSQL one of them shows what the database makes of those."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests on both databases, but those that are marked `any_database`."""
    if "client_kind" not in metafunc.fixturenames:
        on_every_database(metafunc)
        return
    alike = metafunc.definition.get_closest_marker("any_database") is not None
    kinds = [(database, kind) for database, kind in KINDS if database == "sqlite" or not alike]
    ids = [f"{database}-{_NAMES[kind]}" for database, kind in kinds]
    metafunc.parametrize(("database_kind", "client_kind"), kinds, indirect=True, ids=ids, scope="session")


@pytest.fixture(scope="session")
def client_kind(request: pytest.FixtureRequest) -> type[AsyncKeybearer | Keybearer]:
    """Return the asynchronous client, or the blocking one."""
    kind: type[AsyncKeybearer | Keybearer] = request.param
    return kind


@pytest.fixture
async def house(
    client_kind: type[AsyncKeybearer | Keybearer], service: ServiceProcess
) -> AsyncIterator[House]:
    project = service.create_project()
    made = House(client_kind, service, project, service.create_identity(roles={project.id: "admin"}))
    yield made
    for client in made.clients:
        await close(client)


@pytest.fixture
def client(house: House) -> Client:
    return house.client(house.credentials)


@pytest.fixture
def project(service: ServiceProcess) -> Project:
    return service.create_project()


@pytest.fixture
def who(service: ServiceProcess, project: Project) -> Credentials:
    return service.create_identity(roles={project.id: "admin"})


@pytest.fixture
def keybearer(service: ServiceProcess, project: Project, who: Credentials, tmp_path: Path) -> CommandLine:
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
def secrets(service: ServiceProcess, project: Project) -> ProjectSecrets:
    return ProjectSecrets(service.admin_client(), project)
