"""Writes kubeconfig files: one cluster, one user, everything inside the file."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tools.controlplane.certificates import KeyPair

__all__ = ["write_certificate_kubeconfig", "write_token_kubeconfig"]


def write_certificate_kubeconfig(path: Path, server_url: str, ca_pem: bytes, client: KeyPair) -> None:
    """The file, mode 0600, lets its reader in as the holder of the client certificate."""
    user = {
        "client-certificate-data": _encoded(client.certificate.read_bytes()),
        "client-key-data": _encoded(client.key.read_bytes()),
    }
    _write(path, server_url, ca_pem, user, namespace="default")


def write_token_kubeconfig(path: Path, server_url: str, ca_pem: bytes, token: str, namespace: str) -> None:
    """The file, mode 0600, lets its reader in with the bearer token; requests default to the namespace."""
    _write(path, server_url, ca_pem, {"token": token}, namespace)


def _write(path: Path, server_url: str, ca_pem: bytes, user: Mapping[str, str], namespace: str) -> None:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "local",
                "cluster": {"server": server_url, "certificate-authority-data": _encoded(ca_pem)},
            }
        ],
        "users": [{"name": "local", "user": dict(user)}],
        "contexts": [
            {"name": "local", "context": {"cluster": "local", "user": "local", "namespace": namespace}}
        ],
        "current-context": "local",
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(document, sort_keys=False))


def _encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode("ascii")
