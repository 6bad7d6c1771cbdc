from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from contract.client.house import Client, House, close
from keybearer.client import AsyncKeybearer, Keybearer
from support.service_fixtures import ServiceProcess


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
