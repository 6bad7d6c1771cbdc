"""Our own client at a service that limits it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from contract.client.house import House, close, of
from keybearer.client import AsyncKeybearer, ClientOptions, Keybearer, RateLimited
from support.service_fixtures import ServiceProcess, Starter

Limited = Callable[[str], House]


@pytest.fixture
async def limited(
    client_kind: type[AsyncKeybearer | Keybearer], start: Starter, tmp_path: Path
) -> AsyncIterator[Limited]:
    started: list[tuple[ServiceProcess, House]] = []

    def limit(text: str) -> House:
        service = start(tmp_path / "data", "--rate-limit", text)
        house = House(client_kind, service, service.create_project(), service.admin)
        started.append((service, house))
        return house

    yield limit
    for service, house in started:
        for client in house.clients:
            await close(client)
        service.stop()


async def test_a_limited_client_comes_again_when_it_was_told_to(limited: Limited) -> None:
    house = limited("secrets=1/3s")
    client = house.client(house.credentials, ClientOptions(process_env={}))
    for _ in range(2):
        assert not await of(client.secrets.list(**house.place))


async def test_a_client_that_does_not_retry_is_told_for_how_long(limited: Limited) -> None:
    house = limited("secrets=1/1h")
    client = house.client(house.credentials)
    await of(client.secrets.list(**house.place))
    with pytest.raises(RateLimited, match="Rate limit exceeded") as refused:
        await of(client.secrets.list(**house.place))
    assert refused.value.retry_after is not None
    assert timedelta(minutes=58) < refused.value.retry_after <= timedelta(hours=1)
