"""Who must agree to a certificate request, and when that is decided. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from keybearer.domain.errors import ForbiddenError, InvalidError
from keybearer.wire.certificates.approvals import ApprovalStatus, Verdict

__all__ = ["ApprovalTerms", "Ballot", "decided", "require_voter"]


@dataclass(frozen=True, slots=True)
class ApprovalTerms:
    """What a request needs.

    Attributes:
        required: how many must agree.
        approver_ids: who may say something; empty: whoever may approve at all.
        allow_self: whether who asked may be among them.
    """

    required: int
    approver_ids: Collection[str] = ()
    allow_self: bool = False


@dataclass(frozen=True, slots=True)
class Ballot:
    """What one said."""

    voter_id: str
    verdict: Verdict


def require_voter(
    terms: ApprovalTerms,
    status: ApprovalStatus,
    voter_id: str,
    requester_id: str | None,
    said: Iterable[Ballot],
) -> None:
    """Let pass who may say something to the request now.

    Raises:
        InvalidError: nothing can be said any more, or this one said something before.
        ForbiddenError: it isn't among the approvers, or asked for the certificate itself.
    """
    if status is not ApprovalStatus.PENDING:
        raise InvalidError(f"The approval request is {status}, so that nothing can be said to it any more")
    if terms.approver_ids and voter_id not in terms.approver_ids:
        raise ForbiddenError("You are not among the approvers of this request")
    if voter_id == requester_id and not terms.allow_self:
        raise ForbiddenError("You can't approve or reject what you asked for yourself")
    if any(ballot.voter_id == voter_id for ballot in said):
        raise InvalidError("You have approved or rejected this request before")


def decided(terms: ApprovalTerms, said: Iterable[Ballot]) -> ApprovalStatus:
    """Return what has become of a request: one rejection ends it, enough who agree approve it."""
    listed = list(said)
    if any(ballot.verdict is Verdict.REJECT for ballot in listed):
        return ApprovalStatus.REJECTED
    agreed = {ballot.voter_id for ballot in listed if ballot.verdict is Verdict.APPROVE}
    return ApprovalStatus.APPROVED if len(agreed) >= terms.required else ApprovalStatus.PENDING
