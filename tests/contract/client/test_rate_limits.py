"""Our own client at a service that limits it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from contract.client.house import House, close, of
from keybearer.client import AsyncKeybearer, ClientOptions, Keybearer, RateLimited
from support.service_fixtures import Starter

KINDS = pytest.mark.parametrize("kind", [AsyncKeybearer, Keybearer], ids=["asynchronous", "blocking"])


def limited(start: Starter, data_dir: Path, kind: type[AsyncKeybearer | Keybearer], limit: str) -> House:
    service = start(data_dir, "--rate-limit", limit)
    return House(kind, service, service.create_project(), service.admin)


@KINDS
async def test_a_limited_client_comes_again_when_it_was_told_to(
    start: Starter, tmp_path: Path, kind: type[AsyncKeybearer | Keybearer]
) -> None:
    house = limited(start, tmp_path / "data", kind, "secrets=1/3s")
    client = house.client(house.credentials, ClientOptions(process_env={}))
    for _ in range(2):
        assert not (await of(client.secrets.list(**house.place))).secrets
    await close(client)
    house.service.stop()


@KINDS
async def test_a_client_that_does_not_retry_is_told_for_how_long(
    start: Starter, tmp_path: Path, kind: type[AsyncKeybearer | Keybearer]
) -> None:
    house = limited(start, tmp_path / "data", kind, "secrets=1/1h")
    client = house.client(house.credentials)
    await of(client.secrets.list(**house.place))
    with pytest.raises(RateLimited, match="Rate limit exceeded") as refused:
        await of(client.secrets.list(**house.place))
    assert refused.value.retry_after is not None
    assert timedelta(minutes=58) < refused.value.retry_after <= timedelta(hours=1)
    await close(client)
    house.service.stop()
