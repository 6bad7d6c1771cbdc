"""Certificates by id: shown, with or without their keys (wire.md section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from keybearer.base.clock import Clock
from keybearer.domain.access import ProjectAccess
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.lookup import access_to, certificate_project
from keybearer.domain.certificates.private_keys import readable_key, shown_key
from keybearer.domain.errors import NotFoundError
from keybearer.store.certificates import Certificate, CertificateFilter
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["Bundle", "CertificatePage", "Certificates", "ShownCertificate", "open_certificate"]

_NO_KEY = "The service doesn't hold the private key of this certificate: who asked for it with a CSR has it"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A certificate with its key, PEM; None where the service hasn't got it, or it isn't to be read."""

    certificate: Certificate
    private_key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class ShownCertificate:
    """A certificate, and the instant at which its status holds."""

    certificate: Certificate
    now: datetime


@dataclass(frozen=True, slots=True)
class CertificatePage:
    """Certificates, how many there are in all, and the instant at which their status holds."""

    certificates: Sequence[Certificate]
    total: int
    now: datetime


class Certificates:
    """Shows certificates.

    Every method raises NotFoundError for a certificate that isn't there, and ForbiddenError where the principal may
    not.
    """

    def __init__(self, database: Database, audit: AuditTrail, clock: Clock) -> None:
        self._database = database
        self._audit = audit
        self._clock = clock

    async def get(self, principal: Principal, certificate_id: str) -> ShownCertificate:
        """Return a certificate."""
        async with self._database.reading() as unit:
            certificate, _ = await open_certificate(unit, principal, certificate_id, Action.READ)
        return ShownCertificate(certificate, self._clock.now())

    async def bundle(self, principal: Principal, certificate_id: str) -> Bundle:
        """Return a certificate with its key; without it for who may not read keys."""
        async with self._database.reading() as unit:
            certificate, access = await open_certificate(unit, principal, certificate_id, Action.READ)
            kept = await readable_key(unit, access, certificate)
        return Bundle(certificate, await shown_key(self._audit, principal, certificate, kept))

    async def private_key(self, principal: Principal, certificate_id: str) -> str:
        """Return the key of a certificate, PEM."""
        async with self._database.reading() as unit:
            certificate, access = await open_certificate(
                unit, principal, certificate_id, Action.READ, Action.READ_PRIVATE_KEY
            )
            kept = await readable_key(unit, access, certificate)
        shown = await shown_key(self._audit, principal, certificate, kept)
        if shown is None:
            raise NotFoundError(_NO_KEY)
        return shown

    async def list(
        self,
        principal: Principal,
        wanted: CertificateFilter,
        *,
        project_id: str | None,
        offset: int,
        limit: int,
    ) -> CertificatePage:
        """Return a page of the project's certificates, newest first."""
        now = self._clock.now()
        async with self._database.reading() as unit:
            access = await certificate_project(unit, principal, project_id, Action.READ, Subject.CERTIFICATES)
            found, total = await unit.certificates.listed(
                access.project.id, wanted, now, offset=offset, limit=limit
            )
        return CertificatePage(found, total, now)


async def open_certificate(
    unit: UnitOfWork, principal: Principal, certificate_id: str, *actions: Action, for_change: bool = False
) -> tuple[Certificate, ProjectAccess]:
    """Return a certificate to which the principal may do all that.

    Raises:
        NotFoundError: the principal's organization has no such certificate.
        ForbiddenError: it may not.
    """
    found = await unit.certificates.get(certificate_id, for_change=for_change)
    first, *others = actions
    certificate, access = await access_to(unit, principal, found, "Certificate", first, Subject.CERTIFICATES)
    for action in others:
        access.require(action, Subject.CERTIFICATES)
    return certificate, access
