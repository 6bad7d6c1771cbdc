"""Credentials of the ServiceAccount that the service runs as, as the kubelet mounts them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from keybearer.outbound.errors import OutboundFailedError
from keybearer.outbound.urls import OutboundUrl

__all__ = ["AccountCredentials", "OwnAccount"]

_MAX_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class AccountCredentials:
    """A bearer token, and the CA of the API server that it is for."""

    token: str = field(repr=False)
    ca_pem: str


@dataclass(frozen=True, slots=True)
class OwnAccount:
    """Credentials for one API server; they are never sent to another.

    Attributes:
        api: that API server.
        directory: with the files `token` and `ca.crt`.
    """

    api: OutboundUrl
    directory: Path

    async def credentials(self) -> AccountCredentials:
        """Return the present content of the files, since the kubelet renews the token.

        Raises:
            OutboundFailedError: they can't be read.
        """
        try:
            token, ca_pem = await asyncio.to_thread(
                lambda: [_read(self.directory / name) for name in ("token", "ca.crt")]
            )
        except (OSError, UnicodeDecodeError) as error:
            raise OutboundFailedError(
                f"token or ca.crt in {self.directory} can't be read; mount the pod's ServiceAccount token"
            ) from error
        return AccountCredentials(token.strip(), ca_pem)


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MAX_BYTES).decode()
