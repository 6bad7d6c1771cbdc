from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contract.client.house import Client, House, close
from keybearer.client import AsyncKeybearer, Keybearer
from support.command_line import CommandLine
from support.service_fixtures import Credentials, Project, ProjectSecrets, ServiceProcess


@pytest.fixture(params=[AsyncKeybearer, Keybearer], ids=["asynchronous", "blocking"])
async def house(request: pytest.FixtureRequest, service: ServiceProcess) -> AsyncIterator[House]:
    project = service.create_project()
    made = House(request.param, service, project, service.create_identity(roles={project.id: "admin"}))
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
