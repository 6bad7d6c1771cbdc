"""How the suite runs `hashicorp-vault`: two secrets of an engine of the real server, for each of its versions."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT, AccessTokenCredentials
from keybearer.destinations.remote import RemoteRequest
from support.conformance.interposed import CallKind
from support.conformance.remote_under_test import (
    PlaceUnderTest,
    RemoteUnderTest,
    RunningRemote,
    Surroundings,
)
from support.remotes.limits import FORMS
from support.remotes.vault import VERSION_1, VERSION_2, VaultEngines, VaultServer

__all__ = ["UNDER_TEST"]


def _secret(server: VaultServer, mount: str, version: str) -> PlaceUnderTest:
    path = f"app/{secrets.token_hex(6)}"
    url = f"/v1/{mount}/{'data/' if version == VERSION_2 else ''}{path}"

    def values() -> dict[str, str]:
        answer = server.root.get(url)
        if answer.status_code == 404:
            return {}
        data: dict[str, dict[str, str]] = answer.json()
        return dict(data["data"]["data"]) if version == VERSION_2 else data["data"]  # type: ignore[arg-type] # JSON

    def put(name: str, value: str) -> None:
        whole = {**values(), name: value}
        server.unlimited.post(url, json={"data": whole} if version == VERSION_2 else whole).raise_for_status()

    return PlaceUnderTest({"mount": mount, "path": path}, values, put)


def _start(version: str) -> Callable[[Surroundings], AbstractAsyncContextManager[RunningRemote]]:
    @asynccontextmanager
    async def start(surroundings: Surroundings) -> AsyncIterator[RunningRemote]:
        engines: VaultEngines = surroundings.request.getfixturevalue("vault_engines")
        server, mount = engines.server, engines.mounts[version]
        yield RunningRemote(
            method="access-token",
            right=AccessTokenCredentials(instance_url=server.url, access_token=engines.token),
            wrong=AccessTokenCredentials(instance_url=server.url, access_token="s.cnry-revoked"),
            here=_secret(server, mount, version),
            elsewhere=_secret(server, mount, version),
        )

    return start


def _kind_of(request: RemoteRequest) -> CallKind:
    # A removal is a write of the whole too, but where nothing is left.
    return CallKind.READ if request.method == "GET" else CallKind.WRITE


def _under_test(version: str) -> RemoteUnderTest:
    return RemoteUnderTest(
        kind=HASHICORP_VAULT,
        start=_start(version),
        forms=FORMS["hashicorp-vault"],
        label=f"version {version}",
        kind_of=_kind_of,
        batch=0,
        # Two strings for each, of the 1,000 that a listener takes; version 2 is patched in pieces.
        most_keys=500 if version == VERSION_1 else 0,
        remedy="use an engine of version 2",
    )


UNDER_TEST = (_under_test(VERSION_1), _under_test(VERSION_2))
