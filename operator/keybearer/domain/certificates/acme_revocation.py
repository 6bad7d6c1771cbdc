"""Revocation of certificates that an ACME authority issued: it is told first, and noted here once it agrees."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from keybearer.base.certificate_terms import AuthorityKind, RevocationReason
from keybearer.destinations.remote import RemoteError
from keybearer.domain.certificates.acme_accounts import AcmeSessions, awaited
from keybearer.domain.errors import InvalidError
from keybearer.pki.certificates import parse_certificate
from keybearer.store.certificates import Certificate
from keybearer.store.database import Database

__all__ = ["AcmeRevocation"]

_CODES: Mapping[RevocationReason, int] = MappingProxyType(
    {
        RevocationReason.UNSPECIFIED: 0,
        RevocationReason.KEY_COMPROMISE: 1,
        RevocationReason.CA_COMPROMISE: 2,
        RevocationReason.AFFILIATION_CHANGED: 3,
        RevocationReason.SUPERSEDED: 4,
        RevocationReason.CESSATION_OF_OPERATION: 5,
        RevocationReason.CERTIFICATE_HOLD: 6,
        RevocationReason.PRIVILEGE_WITHDRAWN: 9,
        RevocationReason.A_A_COMPROMISE: 10,
    }
)
"""RFC 5280 section 5.3.1."""


class AcmeRevocation:
    """Tells authorities elsewhere."""

    def __init__(self, database: Database, sessions: AcmeSessions) -> None:
        self._database = database
        self._sessions = sessions

    async def revoke(self, certificate: Certificate, reason: RevocationReason) -> None:
        """Return when the authority that issued it counts the certificate as revoked; at once for those of ours.

        Raises:
            InvalidError: it can't be reached, or refuses.
        """
        if certificate.authority_id is None or certificate.authority_certificate_id is not None:
            return
        async with self._database.reading() as unit:
            authority = await unit.certificate_authorities.get(certificate.authority_id)
            if authority is None or authority.kind != AuthorityKind.ACME:
                return
            account = await self._sessions.account(unit, authority)
        try:
            async with awaited(), self._sessions.client(authority, account) as client:
                await client.revoke(parse_certificate(certificate.certificate).der, _CODES[reason])
        except RemoteError as error:
            raise InvalidError(
                f"Certificate authority {authority.name} did not revoke the certificate: {error}"
            ) from error
