"""Clients of plain HTTP: to read the system's certificates for each takes longer than most requests."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

import httpx

from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["KEPT", "TRUSTS_NOBODY", "plain_client"]

TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Verifies, and has no authority to verify by: over TLS nothing would be reached with it."""
KEPT = httpx.Limits(keepalive_expiry=3)
"""Idle connections of clients: the service closes them after 5 s, and a request must not meet that."""


def plain_client(
    url: str,
    headers: Mapping[str, str] | None = None,
    timeout: float = PATIENCE_SECONDS,
) -> httpx.Client:
    """Return a client of a program on this machine; whoever asks for it closes it.

    Args:
        url: of the program.
        headers: of every request.
        timeout: in seconds.
    """
    return httpx.Client(
        base_url=url, headers=headers, timeout=timeout, trust_env=False, verify=TRUSTS_NOBODY, limits=KEPT
    )
