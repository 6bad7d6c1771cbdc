"""Authorities of kind ACME as they are stored, and the way from there to a client that speaks for their account."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue

from keybearer.destinations.remote import RemoteUnavailableError
from keybearer.domain.errors import InvalidError
from keybearer.outbound.acme.account_key import AccountKey
from keybearer.outbound.acme.client import AcmeClient
from keybearer.outbound.acme.way import AcmeWay
from keybearer.store.acme_accounts import OpenedAcmeAccount
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.unit import UnitOfWork

__all__ = ["AcmeConfiguration", "AcmeSessions", "awaited"]

_PATIENCE = timedelta(seconds=25)
"""Of somebody who waits for the answer to a request; what takes longer is no matter of one."""


@dataclass(frozen=True, slots=True)
class AcmeConfiguration:
    """What an ACME authority is, without secrets.

    Attributes:
        directory_url: where everything begins (RFC 8555 section 7.1.1).
        account_email: whom it may write to; None for nobody.
        ca_certificates: PEM, that its server may prove itself with beside the system's; empty for none.
        terms_of_service: the address of the terms that were agreed to; None where it has none.
    """

    directory_url: str
    account_email: str | None = None
    ca_certificates: str = ""
    terms_of_service: str | None = None

    def kept(self) -> dict[str, JsonValue]:
        """Return it as it is stored."""
        return {
            "directory_url": self.directory_url,
            "account_email": self.account_email,
            "ca_certificates": self.ca_certificates,
            "terms_of_service": self.terms_of_service,
        }

    @classmethod
    def of(cls, authority: CertificateAuthority) -> AcmeConfiguration:
        """Return the configuration as it was stored."""
        kept = authority.configuration
        return cls(
            directory_url=str(kept["directory_url"]),
            account_email=_text(kept.get("account_email")),
            ca_certificates=_text(kept.get("ca_certificates")) or "",
            terms_of_service=_text(kept.get("terms_of_service")),
        )


class AcmeSessions:
    """Opens clients for the accounts of authorities."""

    def __init__(self, way: AcmeWay) -> None:
        self._way = way

    async def account(self, unit: UnitOfWork, authority: CertificateAuthority) -> OpenedAcmeAccount:
        """Return the account of an authority.

        Raises:
            InvalidError: it has none.
            UnsealError: its key doesn't open; the database is damaged.
        """
        found = await unit.acme_accounts.opened(authority.id)
        if found is None:
            raise InvalidError(f"Certificate authority {authority.name} has no account: make it anew")
        return found

    def client(
        self, authority: CertificateAuthority, account: OpenedAcmeAccount
    ) -> AbstractAsyncContextManager[AcmeClient]:
        """Return a client that is open within."""
        return self.open(AcmeConfiguration.of(authority), account.private_key, account.account.url)

    def open(
        self, configuration: AcmeConfiguration, private_key: bytes, account_url: str | None = None
    ) -> AbstractAsyncContextManager[AcmeClient]:
        """Return a client that is open within, of an account that isn't stored yet."""
        return self._way.client(
            configuration.directory_url,
            AccountKey(private_key),
            account_url=account_url,
            ca_certificates=configuration.ca_certificates,
        )


@asynccontextmanager
async def awaited() -> AsyncIterator[None]:
    """Bound what is done while somebody waits for an answer.

    Raises:
        RemoteUnavailableError: it takes too long.
    """
    try:
        async with asyncio.timeout(_PATIENCE.total_seconds()):
            yield
    except TimeoutError as error:
        raise RemoteUnavailableError("it takes too long to answer") from error


def _text(kept: JsonValue) -> str | None:
    return kept if isinstance(kept, str) else None
