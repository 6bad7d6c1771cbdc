"""Opens clients of ACME authorities, each with its own trusted CAs, through the gate."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from keybearer.base.clock import Clock
from keybearer.outbound.acme.account_key import AccountKey
from keybearer.outbound.acme.client import AcmeClient
from keybearer.outbound.gate import Gate
from keybearer.outbound.remote import RemoteHttp
from keybearer.outbound.trust import trust_as_well

__all__ = ["AcmeWay"]

_BODY_LIMIT_BYTES = 1024 * 1024
"""A chain has a few kilobytes, an order of a hundred names a few tens of kilobytes."""


class AcmeWay:
    """Opens clients.

    Args:
        gate: for all of them.
        clock: for dates that authorities name.
        trusted: for TLS where an authority names no certificates; the system's CAs by default.
    """

    def __init__(self, gate: Gate, clock: Clock, trusted: ssl.SSLContext | None = None) -> None:
        self._gate = gate
        self._clock = clock
        self._trusted = trusted

    @asynccontextmanager
    async def client(
        self, directory_url: str, key: AccountKey, *, account_url: str | None, ca_certificates: str
    ) -> AsyncIterator[AcmeClient]:
        """Yield a client of one account; its connections are closed at the end.

        Args:
            directory_url: of the authority.
            key: of the account.
            account_url: what the authority calls it, once it is known.
            ca_certificates: PEM, trusted for its server in addition to the system's; empty for none.

        Raises:
            ValueError: these are no PEM certificates.
        """
        http = RemoteHttp(
            self._gate,
            self._clock,
            trust_as_well(ca_certificates) if ca_certificates else self._trusted,
            body_limit_bytes=_BODY_LIMIT_BYTES,
        )
        try:
            yield AcmeClient(http, directory_url, key, account_url)
        finally:
            await http.close()
