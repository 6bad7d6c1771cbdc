"""What the driver sends to a real server, and what that answers, held against the vendor's own description."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator

import pytest

from keybearer.destinations.hashicorp_vault import (
    HASHICORP_VAULT,
    AccessTokenCredentials,
    AppRoleCredentials,
    VaultConfig,
)
from support.remotes.driving import change_of, read, run
from support.remotes.forwarding import Forwarder
from support.remotes.opened import check, opened
from support.remotes.serving import Asked, served
from support.remotes.vault import VaultServer
from support.remotes.vault_description import vault_description
from support.remotes.vendor_description import VendorDescription
from support.remotes.way_out import WayOut

PLACES = {"1": "/kv1/{path}", "2": "/kv2/data/{path}"}
MOUNTS = {"{kv_v1_mount_path}": "kv1", "{kv_v2_mount_path}": "kv2", "{approle_mount_path}": "approle"}


@pytest.fixture(scope="session")
def description(tmp_path_factory: pytest.TempPathFactory) -> VendorDescription:
    """Return what is described of our mounts: with every engine's parameters a path would fit many of them."""
    document = json.loads(vault_description().read_bytes())
    paths = {}
    for path, item in document["paths"].items():
        for parameter, mount in MOUNTS.items():
            if parameter in path:
                paths[path.replace(parameter, mount)] = item
        if "_mount_path}" not in path:
            paths[path] = item
    file = tmp_path_factory.mktemp("vault") / "openapi.json"
    file.write_text(json.dumps({**document, "paths": paths}))
    return VendorDescription(file)


@pytest.fixture
async def server(vault_server: VaultServer) -> AsyncIterator[Forwarder]:
    """Yield what writes down all that is asked of the server, which has an engine of each version."""
    for version in PLACES:
        vault_server.mount(f"kv{version}", version)
    forwarder = Forwarder(vault_server.url)
    async with served(forwarder):
        yield forwarder
    for version in PLACES:
        vault_server.call("DELETE", f"sys/mounts/kv{version}", status=204)


@pytest.fixture
def root(server: Forwarder, vault_server: VaultServer) -> AccessTokenCredentials:
    """Return the root's credentials."""
    token = vault_server.root.headers["X-Vault-Token"]
    return AccessTokenCredentials(instance_url=server.url, access_token=token)


def bare(asked: Asked) -> Asked:
    """Return it as it is described: without the envelope of `data`, without nulls, and no answer where none is."""
    content = json.loads(asked.answered) if asked.answered else {}
    if not content or not asked.path.startswith(("/v1/kv2/", "/v1/sys/")):
        return dataclasses.replace(asked, answered=b"")
    data = {name: value for name, value in content["data"].items() if value is not None}
    return dataclasses.replace(asked, answered=json.dumps(data).encode())


@pytest.mark.parametrize("version", PLACES)
async def test_a_secret_travels_as_the_vendor_describes_it(
    description: VendorDescription, server: Forwarder, root: AccessTokenCredentials, way: WayOut, version: str
) -> None:
    config = VaultConfig(mount=f"kv{version}", path="app")
    await check(HASHICORP_VAULT, root, way.context)
    for change in (change_of({"ONE": "cnry-1"}), change_of({"TWO": "cnry-2"}, "ONE"), change_of(None, "TWO")):
        await run(opened(HASHICORP_VAULT, config, root, way.context), change)
    assert await read(opened(HASHICORP_VAULT, config, root, way.context)) == {}
    good = [one for one in server.visits.asked if one.status < 300]
    asked = {(one.method, description.hold(bare(one), "/v1").path, one.status) for one in good}
    written = {("DELETE", 204), ("POST", 204)} if version == "1" else {("POST", 200)}
    assert asked == {
        ("GET", "/auth/token/lookup-self", 200),
        ("GET", "/sys/internal/ui/mounts/{path}", 200),
        ("GET", PLACES[version], 200),
        *((method, PLACES[version], status) for method, status in written),
    }


async def test_a_role_logs_in_as_the_vendor_describes_it(
    description: VendorDescription, server: Forwarder, vault_server: VaultServer, way: WayOut
) -> None:
    role_id, secret_id = vault_server.role('path "kv1/app" { capabilities = ["read"] }')
    credentials = AppRoleCredentials(instance_url=server.url, role_id=role_id, secret_id=secret_id)
    await check(HASHICORP_VAULT, credentials, way.context)
    (login,) = server.visits.asked
    assert description.hold(bare(login), "/v1").path == "/auth/approle/login"


async def test_what_is_not_as_described_is_found(
    description: VendorDescription, server: Forwarder, root: AccessTokenCredentials, way: WayOut
) -> None:
    config = VaultConfig(mount="kv2", path="app")
    await run(opened(HASHICORP_VAULT, config, root, way.context), change_of({"ONE": "cnry-1"}))
    put = bare(next(one for one in server.visits.asked if one.method == "POST"))
    description.hold(put, "/v1")
    for wrong in (
        dataclasses.replace(put, path="/v1/kv2/nothing/like/it"),
        dataclasses.replace(put, status=204),
        dataclasses.replace(put, sent=b'{"data": ["ONE"]}'),
        dataclasses.replace(put, sent=b'{"values": {"ONE": "1"}}'),
        dataclasses.replace(put, answered=b'{"version": "1"}'),
    ):
        with pytest.raises(AssertionError):
            description.hold(wrong, "/v1")
