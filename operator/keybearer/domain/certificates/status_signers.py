"""Who signs lists and answers about what was revoked: an authority, disabled or without a certificate by now as well.

What it signed once goes on to be asked about.
"""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.domain.certificates.opened_issuers import OpenedIssuers
from keybearer.domain.errors import NotFoundError
from keybearer.pki.issuance import Issuer
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority
from keybearer.store.unit import UnitOfWork

__all__ = ["StatusSigner", "StatusSigners"]

_NONE = "Certificate authority certificate not found"


@dataclass(frozen=True, slots=True)
class StatusSigner:
    """An authority with one of its certificates and its key."""

    authority: CertificateAuthority
    certificate_id: str
    issuer: Issuer


class StatusSigners:
    """Opens authorities, and keeps those open that are asked about most."""

    def __init__(self) -> None:
        self._issuers = OpenedIssuers()

    async def of_authority(self, unit: UnitOfWork, authority_id: str) -> StatusSigner:
        """Return the authority with the certificate it signs with, or signed with last.

        Raises:
            NotFoundError: there is no such authority, it never had a certificate, or its key is elsewhere.
        """
        authority = await unit.certificate_authorities.get(authority_id)
        if authority is None:
            raise NotFoundError(_NONE)
        if authority.certificate_id is not None:
            return await self.of_certificate(unit, authority.certificate_id)
        had = await unit.certificate_authorities.certificates_of(authority_id)
        if not had:
            raise NotFoundError(_NONE)
        return await self._opened(unit, had[-1])

    async def of_certificate(self, unit: UnitOfWork, certificate_id: str) -> StatusSigner:
        """Return the authority that has this certificate, with it.

        Raises:
            NotFoundError: none has, or its key is elsewhere.
        """
        certificate = await unit.certificate_authorities.certificate(certificate_id)
        if certificate is None:
            raise NotFoundError(_NONE)
        return await self._opened(unit, certificate)

    async def _opened(self, unit: UnitOfWork, certificate: AuthorityCertificate) -> StatusSigner:
        authority = await unit.certificate_authorities.get(certificate.authority_id)
        if authority is None:
            raise NotFoundError(_NONE)
        issuer = self._issuers.get(certificate.id)
        if issuer is None:
            key = await unit.certificate_authorities.private_key(authority)
            if key is None:
                raise NotFoundError(_NONE)
            issuer = self._issuers.open(certificate, key)
        return StatusSigner(authority, certificate.id, issuer)
