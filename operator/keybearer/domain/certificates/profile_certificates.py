"""The certificates of one profile (wire.md section 5.4)."""

from __future__ import annotations

from dataclasses import replace

from keybearer.base.clock import Clock
from keybearer.domain.access import ProjectAccess
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.certificates import Bundle, CertificatePage
from keybearer.domain.certificates.lookup import access_to
from keybearer.domain.certificates.private_keys import readable_key, shown_key
from keybearer.store.certificates import CertificateFilter
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["ProfileCertificates"]


class ProfileCertificates:
    """Shows certificates of a profile.

    Both methods raise NotFoundError for a profile that isn't there, and ForbiddenError where the principal may not
    see certificates of its project.
    """

    def __init__(self, database: Database, audit: AuditTrail, clock: Clock) -> None:
        self._database = database
        self._audit = audit
        self._clock = clock

    async def list(
        self, principal: Principal, profile_id: str, wanted: CertificateFilter, *, offset: int, limit: int
    ) -> CertificatePage:
        """Return a page of them, newest first."""
        now = self._clock.now()
        async with self._database.reading() as unit:
            access = await _access(unit, principal, profile_id)
            found, total = await unit.certificates.listed(
                access.project.id, replace(wanted, profile_id=profile_id), now, offset=offset, limit=limit
            )
        return CertificatePage(found, total, now)

    async def latest(self, principal: Principal, profile_id: str) -> Bundle | None:
        """Return the newest that is active, with its key for who may read keys; None where there is none."""
        async with self._database.reading() as unit:
            access = await _access(unit, principal, profile_id)
            certificate = await unit.certificates.latest_active(
                CertificateFilter(profile_id=profile_id), self._clock.now(), access.project.id
            )
            if certificate is None:
                return None
            kept = await readable_key(unit, access, certificate)
        return Bundle(certificate, await shown_key(self._audit, principal, certificate, kept))


async def _access(unit: UnitOfWork, principal: Principal, profile_id: str) -> ProjectAccess:
    found = await unit.certificate_profiles.get(profile_id)
    _, access = await access_to(
        unit, principal, found, "Certificate profile", Action.READ, Subject.CERTIFICATES
    )
    return access
