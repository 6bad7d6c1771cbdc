"""Private keys on their way to who may read them; each time one is shown, the audit log says so."""

from __future__ import annotations

from keybearer.domain.access import ProjectAccess
from keybearer.domain.audit import EventType, audited
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.pki.keys import load_private_key
from keybearer.store.certificates import Certificate
from keybearer.store.unit import UnitOfWork

__all__ = ["readable_key", "shown_key"]


async def readable_key(unit: UnitOfWork, access: ProjectAccess, certificate: Certificate) -> bytes | None:
    """Return a certificate's key, PKCS#8; None where the service hasn't got it, or the principal may not read it."""
    if not access.allows(Action.READ_PRIVATE_KEY, Subject.CERTIFICATES):
        return None
    return await unit.certificates.private_key(certificate)


async def shown_key(
    audit: AuditTrail, principal: Principal, certificate: Certificate, kept: bytes | None
) -> str | None:
    """Return a key as it is answered, PEM, once it is noted that it is shown; None where there is none.

    Raises:
        BusyError: it can't be noted, and the audit log is strict.
    """
    if kept is None:
        return None
    audit.read(
        audited(
            principal,
            EventType.GET_CERTIFICATE_PRIVATE_KEY,
            certificate.project_id,
            certificateId=certificate.id,
            serialNumber=certificate.serial_number,
            commonName=certificate.common_name,
        )
    )
    await audit.settle()
    return load_private_key(kept).pem()
