"""A service with two organizations, in this process; each test makes a world of its own in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.service_fixtures import PUBLIC_URL, Client
from support.service_in_process import InProcessService, service_in_process
from support.value_roads.world import World, other_organization


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    with service_in_process(tmp_path_factory.mktemp("roads") / "data", PUBLIC_URL) as running:
        yield running


@pytest.fixture(scope="module")
def foreign(standing: InProcessService) -> Client:
    """Return the admin of the other organization."""
    return other_organization(standing)


@pytest.fixture
def world(standing: InProcessService, foreign: Client) -> World:
    return World.made(standing, foreign)
