"""What tests of an installation have besides `house`, which each module installs in its own way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.helm_house import HelmHouse
from support.installed_service import guest, reached_from_outside
from support.tenant import Tenant
from tools.local.secrets_service import ServiceAdmin


@pytest.fixture(scope="module")
def admin(house: HelmHouse) -> Iterator[ServiceAdmin]:
    """Yield the administrator of the module's installation."""
    with reached_from_outside(house) as service, ServiceAdmin(service) as opened:
        yield opened


@pytest.fixture
def tenant(house: HelmHouse, admin: ServiceAdmin, request: pytest.FixtureRequest) -> Iterator[Tenant]:
    """Yield a tenant for one test."""
    with guest(house, admin, request.node.name) as opened:
        yield opened
