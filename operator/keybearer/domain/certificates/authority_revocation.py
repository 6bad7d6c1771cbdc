"""Revoking a certificate of an authority of ours, which another one of ours signed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from keybearer.base.certificate_terms import AuthorityStatus, RevocationReason
from keybearer.base.clock import Clock
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.certificates.authority_lookup import authority_event, internal_authority
from keybearer.domain.certificates.lifecycle import RevokedAt
from keybearer.domain.certificates.records import record_of
from keybearer.domain.certificates.signing import first_of
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.pki.certificates import parse_certificate
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority
from keybearer.store.certificates import Certificate
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["AuthorityRevocation"]


class AuthorityRevocation:
    """Revokes certificates of authorities."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def revoke(
        self, principal: Principal, authority_id: str, certificate_id: str, reason: RevocationReason
    ) -> RevokedAt:
        """Revoke a certificate of an authority; the list of the one that signed it says so from now on.

        From then on it stands among all other certificates, where it stays if the authority is deleted. An authority
        that signed with it signs nothing until it is given another one.

        Raises:
            NotFoundError: there is no such authority, or it has no such certificate.
            ForbiddenError: the principal may not change it.
            InvalidError: it was revoked before, it signed itself, or who signed it isn't here.
        """
        async with self._database.writing() as unit:
            authority = await internal_authority(unit, principal, authority_id, Action.EDIT, for_change=True)
            certificate = await unit.certificate_authorities.certificate(certificate_id)
            if certificate is None or certificate.authority_id != authority.id:
                raise NotFoundError("Certificate authority certificate not found")
            before = await unit.certificates.get(certificate.id)
            if before is not None:
                raise InvalidError(f"The certificate was revoked before: {before.revocation_reason}")
            if certificate.parent_id is None:
                raise InvalidError(
                    "No certificate authority here signed this certificate: have it revoked by the one that did, or "
                    "have clients trust it no more where it is a root"
                )
            now = self._clock.now()
            signed_with = await _signed_with(unit, certificate.parent_id, certificate)
            await unit.certificates.add(_revoked(authority, certificate, signed_with, reason, now))
            await unit.certificate_authorities.outdate_revocation_list(certificate.parent_id)
            if authority.certificate_id == certificate.id:
                authority = _without_certificate(authority, now)
                await unit.certificate_authorities.update(authority)
            await unit.audit(
                authority_event(
                    principal,
                    EventType.REVOKE_CERTIFICATE,
                    authority,
                    certificateId=certificate.id,
                    serialNumber=certificate.serial_number,
                    parentCaId=certificate.parent_id,
                    reason=reason.value,
                )
            )
        return RevokedAt(certificate.serial_number, now)


def _without_certificate(authority: CertificateAuthority, now: datetime) -> CertificateAuthority:
    is_disabled = authority.status == AuthorityStatus.DISABLED
    return replace(
        authority,
        status=authority.status if is_disabled else AuthorityStatus.PENDING_CERTIFICATE,
        certificate_id=None,
        updated_at=now,
    )


async def _signed_with(unit: UnitOfWork, parent_id: str, certificate: AuthorityCertificate) -> str | None:
    """Return the id of the parent's certificate that the chain begins with."""
    above = first_of(certificate.chain)
    had = await unit.certificate_authorities.certificates_of(parent_id)
    return next((one.id for one in had if one.certificate == above), None)


def _revoked(
    authority: CertificateAuthority,
    certificate: AuthorityCertificate,
    signed_with: str | None,
    reason: RevocationReason,
    now: datetime,
) -> Certificate:
    read = parse_certificate(certificate.certificate)
    return replace(
        record_of(read, authority.project_id, certificate.chain, now),
        id=certificate.id,
        authority_id=certificate.parent_id,
        authority_certificate_id=signed_with,
        is_revoked=True,
        revoked_at=now,
        revocation_reason=reason.value,
    )
