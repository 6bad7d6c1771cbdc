"""Vault in memory, and in front of it a proxy that tests can put words into.

It is the copy of `vault_copy`, or a real server where `KEYBEARER_TEST_VAULT` names the program of one, Vault's or any
other that speaks its API.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from keybearer.wire.connections.hashicorp_vault import AccessTokenCredentials, AppRoleCredentials
from keybearer.wire.destinations.hashicorp_vault import VaultConfig
from support.remotes.beside import served_beside
from support.remotes.vault_copy import VaultCopy
from support.service_proxy import ServiceProxy
from tools.controlplane.ports import free_port
from tools.controlplane.process import Process
from tools.local.waiting import GRACE, PATIENCE, PATIENCE_SECONDS, eventually

__all__ = ["VERSION_1", "VERSION_2", "VaultPlace", "VaultServer", "vault_place", "vault_server"]

VERSION_1, VERSION_2 = "legacy", "team/kv"
"""Mounts of a key-value engine, by its version."""


@dataclass
class VaultServer:
    """A server in development mode: unsealed, in memory, gone with its process."""

    url: str
    root: httpx.Client = field(repr=False)

    def call(self, method: str, path: str, body: object = None, *, status: int = 200) -> dict[str, object]:
        """Return what is answered to the root token, which must come with that status."""
        answer = self.root.request(method, f"/v1/{path}", json=body)
        assert answer.status_code == status, f"{answer.status_code}: {answer.text}"
        content: dict[str, object] = answer.json() if answer.content else {}
        return content

    def token(self, policy: str, *, lasts: str = "1h") -> str:
        """Return a new token that may do what the policy of this text says."""
        name = f"policy-{secrets.token_hex(4)}"
        self.call("PUT", f"sys/policies/acl/{name}", {"policy": policy}, status=204)
        body = {"policies": [name], "ttl": lasts, "no_default_policy": False}
        auth = self.call("POST", "auth/token/create", body)["auth"]
        assert isinstance(auth, dict)
        return str(auth["client_token"])

    def role(self, policy: str) -> tuple[str, str]:
        """Return roleId and secretId of a new role that may do what the policy of this text says."""
        name = f"role-{secrets.token_hex(4)}"
        self.call("PUT", f"sys/policies/acl/{name}", {"policy": policy}, status=204)
        path = f"auth/approle/role/{name}"
        self.call("POST", path, {"token_policies": [name], "token_ttl": "1h"}, status=204)
        role_id = self.call("GET", f"{path}/role-id")["data"]
        secret_id = self.call("POST", f"{path}/secret-id")["data"]
        assert isinstance(role_id, dict)
        assert isinstance(secret_id, dict)
        return str(role_id["role_id"]), str(secret_id["secret_id"])


@dataclass
class VaultPlace:
    """One secret of an engine, and whose credentials reach it through the proxy."""

    server: VaultServer
    proxy: ServiceProxy
    config: VaultConfig
    credentials: AppRoleCredentials = field(repr=False)
    token: AccessTokenCredentials = field(repr=False)

    @property
    def is_versioned(self) -> bool:
        """Whether the engine keeps versions."""
        return self.config.mount == VERSION_2

    @property
    def path(self) -> str:
        """Where the secret is read and written."""
        return f"{self.config.mount}/{'data/' if self.is_versioned else ''}{self.config.path}"

    @property
    def values(self) -> dict[str, object] | None:
        """What is there; None where there is no secret."""
        answer = self.server.root.get(f"/v1/{self.path}")
        if answer.status_code == 404:
            return None
        data: dict[str, object] = answer.json()["data"]
        inner = data["data"] if self.is_versioned else data
        assert isinstance(inner, dict)
        return inner

    def put(self, values: Mapping[str, object]) -> None:
        """Write the secret as somebody else."""
        body = {"data": values} if self.is_versioned else values
        answer = self.server.root.post(f"/v1/{self.path}", json=body)
        assert answer.is_success, answer.text

    def writes(self, *, since: int = 0) -> list[str]:
        """Methods of the requests that change something, since the mark."""
        asked = self.proxy.requests(lambda request: "login" not in request.path, since=since)
        return [request.method for request in asked if request.method != "GET"]


@pytest.fixture(scope="session")
def vault_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultServer]:
    """Yield the one server that tests share; they keep apart by paths of their own."""
    program = os.environ.get("KEYBEARER_TEST_VAULT")  # noqa: TID251 - what people say about a run of tests
    token = secrets.token_hex(16)
    running = _copied(token) if program is None else _real(program, tmp_path_factory.mktemp("vault"), token)
    with (
        running as url,
        httpx.Client(
            base_url=url, headers={"X-Vault-Token": token}, timeout=PATIENCE_SECONDS, trust_env=False
        ) as root,
    ):
        server = VaultServer(url, root)
        for mount, version in ((VERSION_1, "1"), (VERSION_2, "2")):
            body = {"type": "kv", "options": {"version": version}}
            server.call("POST", f"sys/mounts/{mount}", body, status=204)
        server.call("POST", "sys/auth/approle", {"type": "approle"}, status=204)
        # Version 2 takes a moment after it was mounted.
        absent = f"/v1/{VERSION_2}/data/absent"
        eventually(lambda: root.get(absent).status_code == 404, awaited="an engine that was just mounted")
        yield server


@pytest.fixture(params=[VERSION_1, VERSION_2], ids=["version 1", "version 2"])
def vault_place(vault_server: VaultServer, request: pytest.FixtureRequest) -> Iterator[VaultPlace]:
    """Yield a place where there is no secret yet, in an engine of each version."""
    config = VaultConfig(mount=request.param, path=f"app/{secrets.token_hex(6)}")
    inner = f"{config.mount}/{'data/' if config.mount == VERSION_2 else ''}{config.path}"
    policy = f'path "{inner}" {{ capabilities = ["create", "read", "update", "delete"] }}'
    role_id, secret_id = vault_server.role(policy)
    with ServiceProxy(vault_server.url) as proxy:
        yield VaultPlace(
            vault_server,
            proxy,
            config,
            AppRoleCredentials(instance_url=proxy.url, role_id=role_id, secret_id=secret_id),
            AccessTokenCredentials(instance_url=proxy.url, access_token=vault_server.token(policy)),
        )


@contextmanager
def _copied(token: str) -> Iterator[str]:
    copy = VaultCopy(token)
    with served_beside(copy):
        yield copy.url


@contextmanager
def _real(program: str, directory: Path, token: str) -> Iterator[str]:
    address = f"127.0.0.1:{free_port()}"
    flags = ["-dev", "-dev-no-store-token", f"-dev-listen-address={address}"]
    # Nothing of the user's own server reaches it.
    environment = {"HOME": str(directory), "VAULT_DEV_ROOT_TOKEN_ID": token, "BAO_DEV_ROOT_TOKEN_ID": token}
    command = [program, "server", *flags]
    process = Process("vault", command, directory / "vault.log", environment=environment)
    process.start()
    try:
        process.wait_until(lambda: _is_ready(f"http://{address}"), awaited="get ready", within=PATIENCE)
        yield f"http://{address}"
    finally:
        process.terminate(grace=GRACE)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/v1/sys/health", trust_env=False).is_success
    except httpx.TransportError:
        return False
