"""What the tests of the client share: a service that answers as a test says, and clients of either kind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from unit.client.harness import FakeClock, FakeService, Runner
from unit.client.real_service import Ask, ask_async, ask_blocking


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


@pytest.fixture(params=["asynchronous", "blocking"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Return how to ask a service for its state with a client of either kind."""
    if request.param == "asynchronous":
        return ask_async
    return lambda url, options: asyncio.to_thread(ask_blocking, url, options)
