"""Agreement to certificate requests: who says what, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from keybearer.base.certificate_terms import RequestStatus
from keybearer.base.clock import Clock
from keybearer.base.errors import KeybearerError
from keybearer.base.logs import get_logger
from keybearer.domain.access import ProjectAccess
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.approval_rules import ApprovalTerms, Ballot, decided, require_voter
from keybearer.domain.certificates.finishing import Finishing, Prepared
from keybearer.domain.certificates.lookup import access_to, certificate_project
from keybearer.domain.certificates.own_actor import service_actor
from keybearer.domain.certificates.transitions import require_move
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.store.attempts import repeated
from keybearer.store.certificate_approvals import ApprovalRequestView, ApprovalVote
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork
from keybearer.wire.certificates.approvals import ApprovalStatus, Verdict

__all__ = ["ApprovalFilter", "Approvals"]

_APPROVAL = "Approval request"
_EXPIRED = "Approval request expired"
_ROUND = timedelta(seconds=30)
_AT_ONCE = 100
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ApprovalFilter:
    """Which approval requests; None says nothing. Of the organization's own project where none is named."""

    project_id: str | None = None
    status: ApprovalStatus | None = None
    profile_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Said:
    """A vote as it comes in."""

    voter: Principal
    verdict: Verdict
    comment: str | None


class Approvals:
    """Takes what approvers say.

    Every method for callers raises NotFoundError for a request or project that isn't there, and ForbiddenError where
    the principal may not.
    """

    def __init__(self, database: Database, finishing: Finishing, clock: Clock) -> None:
        self._database = database
        self._finishing = finishing
        self._clock = clock

    async def get(self, principal: Principal, approval_id: str) -> ApprovalRequestView:
        """Return what a certificate request waits, or waited, for."""
        async with self._database.reading() as unit:
            return (await self._open(unit, principal, approval_id))[0]

    async def list(
        self, principal: Principal, wanted: ApprovalFilter, *, offset: int, limit: int
    ) -> tuple[Sequence[ApprovalRequestView], int]:
        """Return a page of the project's approval requests, newest first, and how many there are in all."""
        async with self._database.reading() as unit:
            access = await certificate_project(
                unit, principal, wanted.project_id, Action.READ, Subject.CERTIFICATE_APPROVALS
            )
            return await unit.certificate_approvals.listed(
                access.project.id,
                status=None if wanted.status is None else wanted.status.value,
                profile_id=wanted.profile_id,
                offset=offset,
                limit=limit,
            )

    async def vote(
        self, principal: Principal, approval_id: str, verdict: Verdict, comment: str | None
    ) -> ApprovalRequestView:
        """Take what an approver says; with the last agreement that is needed the certificate is issued.

        The policy of the profile is asked again then: a request that was approved may still fail.

        Raises:
            InvalidError: nothing can be said any more, or this principal said something before.
        """
        said = _Said(principal, verdict, comment)
        answered = await repeated(lambda: self._vote(approval_id, said))
        if answered is None or answered.approval.status == ApprovalStatus.EXPIRED:
            raise InvalidError(_EXPIRED)
        return answered

    async def _vote(self, approval_id: str, said: _Said) -> ApprovalRequestView | None:
        prepared = await self._prepared(approval_id, said)
        async with self._database.writing() as unit:
            found = await self._open_for_vote(unit, said.voter, approval_id)
            view, request = await self._locked(unit, found)
            if self._is_over(view):
                await self._expire(unit, view, request)
            else:
                await self._take(unit, said, view, request, prepared)
            return await unit.certificate_approvals.get(approval_id)

    async def _prepared(self, approval_id: str, said: _Said) -> Prepared | None:
        """Return what becomes of the certificate request with this vote; None where it decides nothing yet."""
        async with self._database.reading() as unit:
            view = await self._open_for_vote(unit, said.voter, approval_id)
            request = await unit.certificate_requests.get(view.approval.request_id)
            if request is None or self._is_over(view) or _outcome(view, said) is not ApprovalStatus.APPROVED:
                return None
            try:
                order = await self._finishing.resumed(unit, request)
            except InvalidError as refusal:
                return Prepared(refusal=refusal.message)
        return await self._finishing.prepared(order)

    def _is_over(self, view: ApprovalRequestView) -> bool:
        expires_at = view.approval.expires_at
        return (
            view.approval.status == ApprovalStatus.PENDING
            and expires_at is not None
            and self._clock.now() >= expires_at
        )

    async def run(self) -> None:
        """End requests whose time is over, and look for more twice a minute, until cancelled."""
        while True:
            try:
                await self.expire_due()
            except KeybearerError as error:
                _log.warning("approval_requests_wait", kind=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - what nobody foresaw must not end the rounds for ever
                _log.error("approval_requests_not_ended", kind=type(error).__name__)
            await asyncio.sleep(_ROUND.total_seconds())

    async def expire_due(self) -> int:
        """End the requests whose time is over, and return how many that were."""
        done = 0
        async with self._database.reading() as unit:
            due = await unit.certificate_approvals.expired(self._clock.now(), _AT_ONCE)
        for approval_id in due:
            async with self._database.writing() as unit:
                found = await unit.certificate_approvals.get(approval_id)
                if found is None:
                    continue
                view, request = await self._locked(unit, found)
                if view.approval.status == ApprovalStatus.PENDING:
                    await self._expire(unit, view, request)
                    done += 1
        return done

    async def _open(
        self, unit: UnitOfWork, principal: Principal, approval_id: str
    ) -> tuple[ApprovalRequestView, ProjectAccess]:
        found = await unit.certificate_approvals.get(approval_id)
        if found is None:
            raise NotFoundError(f"{_APPROVAL} not found")
        _, access = await access_to(
            unit, principal, found.approval, _APPROVAL, Action.READ, Subject.CERTIFICATE_APPROVALS
        )
        return found, access

    async def _open_for_vote(
        self, unit: UnitOfWork, principal: Principal, approval_id: str
    ) -> ApprovalRequestView:
        found, access = await self._open(unit, principal, approval_id)
        if not found.approval.approver_ids:
            access.require(Action.APPROVE, Subject.CERTIFICATE_APPROVALS)
        return found

    async def _locked(
        self, unit: UnitOfWork, found: ApprovalRequestView
    ) -> tuple[ApprovalRequestView, CertificateRequest]:
        """Keep others from the certificate request and from its approval, in this order as everybody does."""
        request = await unit.certificate_requests.get(found.approval.request_id, for_change=True)
        view = await unit.certificate_approvals.get(found.approval.id, for_change=True)
        if request is None or view is None:
            raise InvalidError("The certificate request was deleted meanwhile")
        return view, request

    async def _take(
        self,
        unit: UnitOfWork,
        said: _Said,
        view: ApprovalRequestView,
        request: CertificateRequest,
        prepared: Prepared | None,
    ) -> None:
        approval, voter = view.approval, said.voter
        outcome, now = _outcome(view, said), self._clock.now()
        await unit.certificate_approvals.vote(
            ApprovalVote(approval.id, voter.identity_id, voter.name, said.verdict.value, said.comment, now)
        )
        event = (
            EventType.APPROVE_CERTIFICATE_REQUEST
            if said.verdict is Verdict.APPROVE
            else EventType.REJECT_CERTIFICATE_REQUEST
        )
        await unit.audit(
            audited(
                voter,
                event,
                approval.project_id,
                approvalRequestId=approval.id,
                certificateRequestId=request.id,
                commonName=request.common_name,
            )
        )
        if outcome is ApprovalStatus.PENDING:
            return
        await unit.certificate_approvals.close(approval.id, outcome.value, now)
        if outcome is ApprovalStatus.APPROVED:
            await self._finishing.finish(unit, request, voter, prepared)
        else:
            name = voter.name or voter.identity_id
            reason = f"Rejected by {name}: {said.comment}" if said.comment else f"Rejected by {name}"
            await self._reject(unit, request, reason)

    async def _expire(self, unit: UnitOfWork, view: ApprovalRequestView, request: CertificateRequest) -> None:
        await unit.certificate_approvals.close(
            view.approval.id, ApprovalStatus.EXPIRED.value, self._clock.now()
        )
        await self._reject(unit, request, _EXPIRED)
        await unit.audit(
            audited(
                await service_actor(unit, request.project_id),
                EventType.EXPIRE_CERTIFICATE_REQUEST,
                request.project_id,
                approvalRequestId=view.approval.id,
                certificateRequestId=request.id,
                commonName=request.common_name,
            )
        )

    async def _reject(self, unit: UnitOfWork, request: CertificateRequest, reason: str) -> None:
        require_move(RequestStatus(request.status), RequestStatus.REJECTED)
        rejected = replace(
            request,
            status=RequestStatus.REJECTED.value,
            error_message=reason,
            pending_message=None,
            due_at=None,
            updated_at=self._clock.now(),
        )
        await unit.certificate_requests.update(rejected)
        await unit.certificate_requests.drop_private_key(request.id)


def _outcome(view: ApprovalRequestView, said: _Said) -> ApprovalStatus:
    """Return what becomes of the request for approval with this vote.

    Raises:
        InvalidError, ForbiddenError: see `require_voter`.
    """
    approval = view.approval
    terms = ApprovalTerms(approval.required_approvals, approval.approver_ids, approval.allow_self_approval)
    ballots = [Ballot(vote.voter_id, Verdict(vote.verdict)) for vote in view.votes]
    voter_id = said.voter.identity_id
    require_voter(terms, ApprovalStatus(approval.status), voter_id, view.requester_id, ballots)
    return decided(terms, [*ballots, Ballot(voter_id, said.verdict)])
