"""Policies and authorities by name, which the interface lists, but can't be asked for by name."""

from __future__ import annotations

from keybearer.client.auth import perform
from keybearer.client.certificate_authorities import CertificateAuthority
from keybearer.client.certificate_policies import CertificatePolicy
from keybearer.client.operations.certificate_authorities import ListCertificateAuthorities
from keybearer.client.operations.certificate_policies import ListCertificatePolicies
from keybearer.client.session import Session
from keybearer.client.steps import Steps

__all__ = ["find_authority", "find_policy"]

_PAGE = 100


def find_policy(
    session: Session, name: str, *, project_id: str | None = None
) -> Steps[CertificatePolicy | None]:
    """Return the policy of that name, or None; without a project, of the organization's own."""
    offset = 0
    while True:
        asked = ListCertificatePolicies(project_id=project_id, search=name, offset=offset, limit=_PAGE)
        page = yield from perform(session, asked)
        for policy in page.certificate_policies:
            if policy.name == name:
                return policy
        offset += len(page.certificate_policies)
        if not page.certificate_policies or offset >= page.total_count:
            return None


def find_authority(
    session: Session, name: str, *, project_id: str | None = None
) -> Steps[CertificateAuthority | None]:
    """Return the authority of that name, or None; without a project, of the organization's own."""
    found = yield from perform(session, ListCertificateAuthorities(project_id=project_id))
    return next((authority for authority in found if authority.name == name), None)
