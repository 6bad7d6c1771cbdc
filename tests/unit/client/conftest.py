from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from unit.client.harness import FakeClock, FakeService, Runner


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["asynchronous", "blocking"])
def runner(request: pytest.FixtureRequest, service: FakeService, clock: FakeClock) -> Iterator[Runner]:
    """Yield the means to make clients of each kind in turn; what holds for one holds for the other."""
    made = Runner(request.param, service, clock)
    yield made
    for http in made.borrowed:
        assert not http.is_closed, "a borrowed client was closed"
        if isinstance(http, httpx.Client):
            http.close()
