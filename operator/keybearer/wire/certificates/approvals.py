"""Approval of certificate requests: routes of ours, since the interface shows none."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, RequestStatus
from keybearer.wire.base import WHOLE, Flag, WireInstant, WireModel
from keybearer.wire.certificates.attributes import BasicConstraints
from keybearer.wire.certificates.fields import OptionalProject, QueryLimit, QueryOffset, Ttl
from keybearer.wire.limits import CERTIFICATE_APPROVERS_MAX, CERTIFICATE_NAME_MAX, CERTIFICATE_PAGE_DEFAULT
from keybearer.wire.strict import NonEmpty

__all__ = [
    "ApprovalPolicy",
    "ApprovalPolicyAnswer",
    "ApprovalPolicyList",
    "ApprovalPolicyQuery",
    "ApprovalRequest",
    "ApprovalRequestAnswer",
    "ApprovalRequestList",
    "ApprovalRequestQuery",
    "ApprovalStatus",
    "ApprovalVote",
    "CreateApprovalPolicy",
    "UpdateApprovalPolicy",
    "Verdict",
    "VoteOnRequest",
]

_COMMENT_MAX = 1000
_Identities = Annotated[list[UUID], Field(max_length=CERTIFICATE_APPROVERS_MAX)]
_Name = Annotated[NonEmpty, Field(max_length=CERTIFICATE_NAME_MAX)]
_Required = Annotated[int, Field(ge=1, le=CERTIFICATE_APPROVERS_MAX), WHOLE]


class ApprovalStatus(StrEnum):
    """What became of a request for approval."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Verdict(StrEnum):
    """What one person said."""

    APPROVE = "approve"
    REJECT = "reject"


class CreateApprovalPolicy(WireModel):
    """POST /api/v1/cert-manager/approval-policies: whose agreement requests of a profile need.

    `approverIds` are users or machine identities; none of them is whoever may approve at all. Requests of
    `bypassIdentityIds` need no approval. `requestTtl` is how long a request may wait, null for ever.
    """

    profile_id: UUID
    name: _Name | None = None
    enabled: Flag = True
    required_approvals: _Required = 1
    approver_ids: _Identities = Field(default_factory=list)
    bypass_identity_ids: _Identities = Field(default_factory=list)
    allow_self_approval: Flag = False
    request_ttl: Ttl | None = None


class UpdateApprovalPolicy(WireModel):
    """PATCH …/{id}: what is absent stays; requestTtl may be null."""

    name: _Name | None = None
    enabled: Flag | None = None
    required_approvals: _Required | None = None
    approver_ids: _Identities | None = None
    bypass_identity_ids: _Identities | None = None
    allow_self_approval: Flag | None = None
    request_ttl: Ttl | None = None


class ApprovalPolicy(WireModel):
    """An approval policy; `requestTtlSeconds` null: requests wait for ever."""

    id: str
    project_id: str
    profile_id: str
    name: str
    enabled: bool
    required_approvals: int
    approver_ids: list[str]
    bypass_identity_ids: list[str]
    allow_self_approval: bool
    request_ttl_seconds: int | None
    created_at: WireInstant
    updated_at: WireInstant


class ApprovalPolicyAnswer(WireModel):
    """`{approvalPolicy}`."""

    approval_policy: ApprovalPolicy


class ApprovalPolicyList(WireModel):
    """`{approvalPolicies}`, oldest first."""

    approval_policies: list[ApprovalPolicy]


class ApprovalPolicyQuery(WireModel):
    """Query of the list of policies."""

    project_id: OptionalProject = None
    profile_id: UUID | None = None


class ApprovalVote(WireModel):
    """What one person said."""

    voter_id: str
    voter_name: str
    verdict: Verdict
    comment: str | None
    created_at: WireInstant


class ApprovalRequest(WireModel):
    """A certificate request that needs agreement, with all that its certificate would say.

    `subject` as RFC 4514 writes it; usages are empty where nobody asked for any; `ttlSeconds` is null where
    `notAfter` says the end.
    """

    id: str
    project_id: str
    status: ApprovalStatus
    certificate_request_id: str
    certificate_request_status: RequestStatus
    profile_id: str | None
    profile_name: str | None
    common_name: str | None
    alt_names: str | None
    subject: str
    key_algorithm: KeyAlgorithm
    key_usages: list[KeyUsage]
    extended_key_usages: list[ExtendedKeyUsage]
    basic_constraints: BasicConstraints
    ttl_seconds: int | None
    not_before: WireInstant | None
    not_after: WireInstant | None
    requester_id: str | None
    requester_name: str
    required_approvals: int
    approver_ids: list[str]
    votes: list[ApprovalVote]
    expires_at: WireInstant | None
    closed_at: WireInstant | None
    created_at: WireInstant
    updated_at: WireInstant


class ApprovalRequestAnswer(WireModel):
    """`{approvalRequest}`."""

    approval_request: ApprovalRequest


class ApprovalRequestList(WireModel):
    """`{approvalRequests, totalCount}`, newest first."""

    approval_requests: list[ApprovalRequest]
    total_count: int


class ApprovalRequestQuery(WireModel):
    """Query of the list of requests."""

    project_id: OptionalProject = None
    status: ApprovalStatus | None = None
    profile_id: UUID | None = None
    offset: QueryOffset = 0
    limit: QueryLimit = CERTIFICATE_PAGE_DEFAULT


class VoteOnRequest(WireModel):
    """POST …/approval-requests/{id}/approve and …/reject; a body may be left out."""

    comment: Annotated[str, Field(max_length=_COMMENT_MAX)] | None = None
