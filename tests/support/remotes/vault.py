"""A server that speaks Vault's API, in memory, and in front of it a proxy that tests can put words into.

It is OpenBao, or another where `KEYBEARER_TEST_VAULT` names the program of one, Vault's say.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from keybearer.destinations.hashicorp_vault import AccessTokenCredentials, AppRoleCredentials, VaultConfig
from support.service_proxy import ServiceProxy
from tools.local.openbao import open_bao
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = [
    "VERSION_1",
    "VERSION_2",
    "VaultEngines",
    "VaultPlace",
    "VaultServer",
    "vault_engines",
    "vault_place",
    "vault_running",
    "vault_server",
]

VERSION_1, VERSION_2 = "1", "2"
"""Of a key-value engine."""


@dataclass
class VaultServer:
    """A server in development mode: unsealed, in memory, gone with its process.

    Attributes:
        root: a client with the root token.
        unlimited_url: of a listener that takes JSON with any number of strings; empty where there is none.
        unlimited: a client of it with the root token; `root` where there is none.
    """

    url: str
    root: httpx.Client = field(repr=False)
    unlimited_url: str
    unlimited: httpx.Client = field(repr=False)

    def call(self, method: str, path: str, body: object = None, *, status: int = 200) -> dict[str, object]:
        """Return what is answered to the root token, which must come with that status."""
        answer = self.root.request(method, f"/v1/{path}", json=body)
        assert answer.status_code == status, f"{answer.status_code}: {answer.text}"
        content: dict[str, object] = answer.json() if answer.content else {}
        return content

    def mount(self, path: str, version: str) -> None:
        """Mount a key-value engine, ready to be used."""
        self.call("POST", f"sys/mounts/{path}", {"type": "kv", "options": {"version": version}}, status=204)
        # Version 2 takes a moment after it was mounted.
        absent = f"/v1/{path}/{'data/' if version == VERSION_2 else ''}absent"
        eventually(
            lambda: self.root.get(absent).status_code == 404, awaited="an engine that was just mounted"
        )

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
    """One secret of an engine of its own, and whose credentials reach it through the proxy."""

    version: str
    server: VaultServer
    proxy: ServiceProxy
    config: VaultConfig
    credentials: AppRoleCredentials = field(repr=False)
    token: AccessTokenCredentials = field(repr=False)

    @property
    def is_versioned(self) -> bool:
        """Whether the engine keeps versions."""
        return self.version == VERSION_2

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
        """Write the secret as somebody else, who is bound by no limit."""
        body = {"data": values} if self.is_versioned else values
        answer = self.server.unlimited.post(f"/v1/{self.path}", json=body)
        assert answer.is_success, answer.text

    def writes(self, *, since: int = 0) -> list[str]:
        """Methods of the requests that change something, since the mark."""
        asked = self.proxy.requests(lambda request: "login" not in request.path, since=since)
        return [request.method for request in asked if request.method != "GET"]


@pytest.fixture(scope="session")
def vault_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultServer]:
    """Yield the one server that tests share; they keep apart by mounts of their own."""
    with vault_running(tmp_path_factory.mktemp("vault")) as server:
        yield server


@contextmanager
def vault_running(directory: Path) -> Iterator[VaultServer]:
    """Yield a server; `directory` is for its log and its home."""
    named = os.environ.get("KEYBEARER_TEST_VAULT")  # noqa: TID251 - what people say about a run of tests
    program = None if named is None else Path(named)
    with open_bao(directory, program) as bao, ExitStack() as clients:
        root, unlimited = (
            clients.enter_context(
                httpx.Client(
                    base_url=url,
                    headers={"X-Vault-Token": bao.root_token},
                    timeout=PATIENCE_SECONDS,
                    trust_env=False,
                )
            )
            for url in (bao.url, bao.unlimited_url or bao.url)
        )
        server = VaultServer(bao.url, root, bao.unlimited_url, unlimited)
        server.call("POST", "sys/auth/approle", {"type": "approle"}, status=204)
        yield server


@dataclass
class VaultEngines:
    """An engine of each version, and a token that may do everything below them; tests keep apart by paths."""

    server: VaultServer
    mounts: Mapping[str, str]
    token: str = field(repr=False)


@pytest.fixture(scope="session")
def vault_engines(vault_server: VaultServer) -> VaultEngines:
    """Return them."""
    mounts = {version: f"team/v{version}" for version in (VERSION_1, VERSION_2)}
    policy = ""
    for version, mount in mounts.items():
        vault_server.mount(mount, version)
        policy += f'path "{mount}/*" {{ capabilities = ["create", "read", "update", "patch", "delete"] }}\n'
    return VaultEngines(vault_server, mounts, vault_server.token(policy))


@pytest.fixture(params=[VERSION_1, VERSION_2], ids=["version 1", "version 2"])
def vault_place(vault_server: VaultServer, request: pytest.FixtureRequest) -> Iterator[VaultPlace]:
    """Yield a place where there is no secret yet, in an engine of each version."""
    config = VaultConfig(mount=f"team/{secrets.token_hex(6)}", path=f"app/{secrets.token_hex(6)}")
    vault_server.mount(config.mount, request.param)
    inner = f"{config.mount}/{'data/' if request.param == VERSION_2 else ''}{config.path}"
    policy = f'path "{inner}" {{ capabilities = ["create", "read", "update", "patch", "delete"] }}'
    role_id, secret_id = vault_server.role(policy)
    with ServiceProxy(vault_server.url) as proxy:
        yield VaultPlace(
            request.param,
            vault_server,
            proxy,
            config,
            AppRoleCredentials(instance_url=proxy.url, role_id=role_id, secret_id=secret_id),
            AccessTokenCredentials(instance_url=proxy.url, access_token=vault_server.token(policy)),
        )
    vault_server.call("DELETE", f"sys/mounts/{config.mount}", status=204)
