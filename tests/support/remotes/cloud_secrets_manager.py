"""How the suite runs `cloud-secrets-manager`: two regions, with a secret for each key and with one for all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from keybearer.destinations.cloud_secrets_manager import CLOUD_SECRETS_MANAGER
from support.conformance.remote_under_test import (
    PlaceUnderTest,
    RemoteUnderTest,
    RunningRemote,
    Surroundings,
)
from support.remotes.cloud_calls import call_kind, with_another_secret
from support.remotes.limits import FORMS
from support.remotes.moto import REGION, CloudFixture

__all__ = ["UNDER_TEST"]

_Placed = Callable[[CloudFixture, str], PlaceUnderTest]


def _each(cloud: CloudFixture, region: str) -> PlaceUnderTest:
    return PlaceUnderTest(
        {"region": region, "mappingBehavior": "one-to-one"},
        lambda: cloud.secret_values(region),
        lambda name, value: cloud.put_secret(name, value, region=region),
    )


def _all(cloud: CloudFixture, region: str) -> PlaceUnderTest:
    def values() -> dict[str, str]:
        # The one secret of the region, whatever a key schema calls it.
        held: dict[str, str] = {}
        for text in cloud.secret_values(region).values():
            held |= json.loads(text)
        return held

    return PlaceUnderTest(
        {"region": region, "mappingBehavior": "many-to-one", "secretName": "app"},
        values,
        lambda name, value: cloud.put_secret("app", json.dumps({**values(), name: value}), region=region),
    )


def _start(placed: _Placed) -> Callable[[Surroundings], AbstractAsyncContextManager[RunningRemote]]:
    @asynccontextmanager
    async def start(surroundings: Surroundings) -> AsyncIterator[RunningRemote]:
        cloud: CloudFixture = surroundings.request.getfixturevalue("cloud")
        yield RunningRemote(
            method="access-key",
            right=cloud.credentials,
            wrong=with_another_secret(cloud.credentials),
            here=placed(cloud, REGION),
            elsewhere=placed(cloud, "eu-central-1"),
            endpoints={"cloud": cloud.proxy.url},
        )

    return start


UNDER_TEST = (
    RemoteUnderTest(
        kind=CLOUD_SECRETS_MANAGER,
        start=_start(_each),
        forms=FORMS["cloud-secrets-manager"],
        label="one-to-one",
        kind_of=call_kind,
        page=20,
        bad_keys=tuple(f"BAD {number}" for number in range(10)),
    ),
    RemoteUnderTest(
        kind=CLOUD_SECRETS_MANAGER,
        start=_start(_all),
        forms=FORMS["cloud-secrets-manager"],
        label="many-to-one",
        kind_of=call_kind,
        batch=0,
    ),
)
