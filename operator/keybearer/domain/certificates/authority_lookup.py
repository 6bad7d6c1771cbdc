"""How a request comes to an internal certificate authority, and what the audit log tells of one."""

from __future__ import annotations

from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.lookup import access_to
from keybearer.store.audit import AuditDetail, AuditEvent
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.unit import UnitOfWork

__all__ = ["authority_event", "internal_authority"]


async def internal_authority(
    unit: UnitOfWork, principal: Principal, authority_id: str, action: Action, *, for_change: bool = False
) -> CertificateAuthority:
    """Return an internal authority for this action; for a change it is kept from other writers.

    Raises:
        NotFoundError: the principal's organization has no such authority.
        ForbiddenError: the principal may not do this.
    """
    found = await unit.certificate_authorities.get(authority_id, for_change=for_change)
    authority, _ = await access_to(
        unit,
        principal,
        found if found is not None and found.is_internal else None,
        "Certificate authority",
        action,
        Subject.CERTIFICATE_AUTHORITIES,
    )
    return authority


def authority_event(
    principal: Principal, kind: EventType, authority: CertificateAuthority, /, **details: AuditDetail
) -> AuditEvent:
    """Return the event of an authority."""
    return audited(principal, kind, authority.project_id, caId=authority.id, name=authority.name, **details)
