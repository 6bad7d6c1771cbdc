"""Certificate requests as callers see them: one, a page of them, and their end (interface.md 2.5, wire.md 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from keybearer.base.certificate_terms import RequestStatus
from keybearer.base.clock import Clock
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.lookup import access_to, certificate_project
from keybearer.domain.certificates.private_keys import readable_key, shown_key
from keybearer.domain.certificates.transitions import CANCELLABLE
from keybearer.store.certificate_request_search import CertificateRequestView, RequestFilter, RequestSort
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.certificates import Certificate
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork
from keybearer.wire.certificates.approvals import ApprovalStatus

__all__ = [
    "CancelledRequest",
    "CertificateRequests",
    "RequestDetail",
    "RequestPage",
    "RequestQuestion",
    "open_request",
]


@dataclass(frozen=True, slots=True)
class RequestDetail:
    """A request with the certificate that came of it, and its key for who may read that; PEM."""

    request: CertificateRequest
    certificate: Certificate | None
    private_key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class RequestQuestion:
    """Which requests are asked for; of the organization's own project where none is named."""

    wanted: RequestFilter
    sort: RequestSort
    offset: int
    limit: int
    project_id: str | None = None
    project_slug: str | None = None


@dataclass(frozen=True, slots=True)
class RequestPage:
    """Requests, how many there are in all, and the instant at which the status of their certificates holds."""

    requests: Sequence[CertificateRequestView]
    total: int
    now: datetime


@dataclass(frozen=True, slots=True)
class CancelledRequest:
    """How a request stands, and whether it was this call that ended it."""

    status: RequestStatus
    cancelled: bool


class CertificateRequests:
    """Decides about certificate requests.

    Every method raises NotFoundError for a request or project that isn't there, and ForbiddenError where the
    principal may not.
    """

    def __init__(self, database: Database, audit: AuditTrail, clock: Clock) -> None:
        self._database = database
        self._audit = audit
        self._clock = clock

    async def get(self, principal: Principal, request_id: str) -> RequestDetail:
        """Return a request."""
        async with self._database.reading() as unit:
            request, access = await open_request(unit, principal, request_id, Action.READ)
            certificate = (
                None
                if request.certificate_id is None
                else await unit.certificates.get(request.certificate_id)
            )
            kept = None if certificate is None else await readable_key(unit, access, certificate)
        if certificate is None:
            return RequestDetail(request, None, None)
        return RequestDetail(request, certificate, await shown_key(self._audit, principal, certificate, kept))

    async def search(self, principal: Principal, question: RequestQuestion) -> RequestPage:
        """Return a page of requests."""
        now = self._clock.now()
        async with self._database.reading() as unit:
            access = await _project(unit, principal, question)
            found, total = await unit.certificate_request_search.page(
                access.project.id,
                question.wanted,
                question.sort,
                offset=question.offset,
                limit=question.limit,
            )
        return RequestPage(found, total, now)

    async def cancel(self, principal: Principal, request_id: str) -> CancelledRequest:
        """End a request that isn't over; one that is stays as it is."""
        async with self._database.writing() as unit:
            request, _ = await open_request(unit, principal, request_id, Action.EDIT, for_change=True)
            status = RequestStatus(request.status)
            if status not in CANCELLABLE:
                return CancelledRequest(status, cancelled=False)
            now = self._clock.now()
            cancelled = replace(
                request,
                status=RequestStatus.FAILED.value,
                error_message=f"Cancelled by {principal.name or principal.identity_id}",
                pending_message=None,
                due_at=None,
                claimed_by=None,
                lease_ends_at=None,
                updated_at=now,
            )
            await unit.certificate_requests.update(cancelled)
            await unit.certificate_requests.drop_private_key(request.id)
            approval = await unit.certificate_approvals.of_request(request.id, for_change=True)
            if approval is not None and approval.approval.status == ApprovalStatus.PENDING:
                await unit.certificate_approvals.close(
                    approval.approval.id, ApprovalStatus.CANCELLED.value, now
                )
            await unit.audit(
                audited(
                    principal,
                    EventType.CANCEL_CERTIFICATE_REQUEST,
                    request.project_id,
                    certificateRequestId=request.id,
                    profileId=request.profile_id,
                    commonName=request.common_name,
                )
            )
            return CancelledRequest(RequestStatus.FAILED, cancelled=True)


async def open_request(
    unit: UnitOfWork, principal: Principal, request_id: str, action: Action, *, for_change: bool = False
) -> tuple[CertificateRequest, ProjectAccess]:
    """Return a request to which the principal may do that.

    Raises:
        NotFoundError: the principal's organization has no such request.
        ForbiddenError: it may not.
    """
    request = await unit.certificate_requests.get(request_id, for_change=for_change)
    return await access_to(
        unit, principal, request, "Certificate request", action, Subject.CERTIFICATE_REQUESTS
    )


async def _project(unit: UnitOfWork, principal: Principal, question: RequestQuestion) -> ProjectAccess:
    if question.project_slug is None or question.project_id is not None:
        return await certificate_project(
            unit, principal, question.project_id, Action.READ, Subject.CERTIFICATE_REQUESTS
        )
    access = await open_project(unit, principal, ProjectRef(slug=question.project_slug))
    access.require(Action.READ, Subject.CERTIFICATE_REQUESTS)
    return access
