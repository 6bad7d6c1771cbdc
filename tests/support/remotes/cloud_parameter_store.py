"""How the suite runs `cloud-parameter-store`: two paths of one region."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from keybearer.destinations.cloud_parameter_store import CLOUD_PARAMETER_STORE
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


def _path(cloud: CloudFixture, path: str) -> PlaceUnderTest:
    def values() -> dict[str, str]:
        held = cloud.parameter_values()
        return {name.removeprefix(path): held[name] for name in held if name.startswith(path)}

    return PlaceUnderTest(
        {"region": REGION, "path": path},
        values,
        lambda name, value: cloud.put_parameter(f"{path}{name}", value),
    )


@asynccontextmanager
async def _start(surroundings: Surroundings) -> AsyncIterator[RunningRemote]:
    cloud: CloudFixture = surroundings.request.getfixturevalue("cloud")
    yield RunningRemote(
        method="access-key",
        right=cloud.credentials,
        wrong=with_another_secret(cloud.credentials),
        here=_path(cloud, "/shop/web/"),
        elsewhere=_path(cloud, "/depot/web/"),
        endpoints={"cloud": cloud.proxy.url},
    )


UNDER_TEST = RemoteUnderTest(
    kind=CLOUD_PARAMETER_STORE,
    start=_start,
    forms=FORMS["cloud-parameter-store"],
    kind_of=call_kind,
    page=10,
    bad_keys=tuple(f"BAD {number}" for number in range(10)),
)
