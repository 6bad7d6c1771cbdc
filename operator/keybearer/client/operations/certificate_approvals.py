"""Approval of certificate requests: an addition of Keybearer, since the interface shows no routes for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import Field

from keybearer.client.certificate_approvals import ApprovalPolicy, ApprovalRequest, ApprovalRequestPage
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.certificate_bodies import without_none
from keybearer.client.operations.certificate_listings import ListingOfProject
from keybearer.wire.base import WireModel

__all__ = [
    "ApproveCertificateRequest",
    "CreateApprovalPolicy",
    "DeleteApprovalPolicy",
    "GetApprovalPolicy",
    "GetApprovalRequest",
    "ListApprovalPolicies",
    "ListApprovalRequests",
    "RejectCertificateRequest",
    "UpdateApprovalPolicy",
]

_POLICIES = "/api/v1/cert-manager/approval-policies"
_POLICY = f"{_POLICIES}/{{}}"
_REQUESTS = "/api/v1/cert-manager/approval-requests"
_REQUEST = f"{_REQUESTS}/{{}}"


@from_wire
@dataclass(frozen=True, slots=True)
class _PolicyAnswer:
    """`{approvalPolicy}`."""

    approval_policy: ApprovalPolicy


@from_wire
@dataclass(frozen=True, slots=True)
class _PoliciesAnswer:
    """`{approvalPolicies}`."""

    approval_policies: tuple[ApprovalPolicy, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _RequestAnswer:
    """`{approvalRequest}`."""

    approval_request: ApprovalRequest


class _Written(WireModel):
    """Both bodies; what isn't given isn't sent."""

    profile_id: str | None = None
    name: Annotated[str, Field(min_length=1)] | None = None
    enabled: bool | None = None
    required_approvals: Annotated[int, Field(ge=1)] | None = None
    approver_ids: list[str] | None = None
    bypass_identity_ids: list[str] | None = None
    allow_self_approval: bool | None = None
    request_ttl: str | None = None


class _Vote(WireModel):
    comment: Annotated[str, Field(max_length=1000)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListApprovalPolicies(ListingOfProject[list[ApprovalPolicy]]):
    """List who must agree to what.

    Attributes:
        project_id: None for the organization's own project for certificates.
        profile_id: only that of this profile.
    """

    profile_id: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        return self.asked(_POLICIES, {"profileId": self.profile_id})

    def read(self, response: Response) -> list[ApprovalPolicy]:
        """Return them in the service's order."""
        return list(decode(response, _PoliciesAnswer).approval_policies)


class _OnePolicy(Operation[ApprovalPolicy]):
    __slots__ = ()

    def read(self, response: Response) -> ApprovalPolicy:
        """Return the policy."""
        return decode(response, _PolicyAnswer).approval_policy


@dataclass(frozen=True, slots=True)
class GetApprovalPolicy(_OnePolicy):
    """Return an approval policy by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    policy_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_POLICY, self.policy_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    name: str | None = None
    enabled: bool | None = None
    required_approvals: int | None = None
    approver_ids: Sequence[str] | None = None
    bypass_identity_ids: Sequence[str] | None = None
    allow_self_approval: bool | None = None
    request_ttl: str | None = None

    def terms(self) -> dict[str, Any]:
        """Return what is given, as bodies take it."""
        approvers, bypassing = self.approver_ids, self.bypass_identity_ids
        given = {
            "name": self.name,
            "enabled": self.enabled,
            "required_approvals": self.required_approvals,
            "approver_ids": None if approvers is None else list(approvers),
            "bypass_identity_ids": None if bypassing is None else list(bypassing),
            "allow_self_approval": self.allow_self_approval,
            "request_ttl": self.request_ttl,
        }
        return without_none(given.items())


@dataclass(frozen=True, slots=True)
class CreateApprovalPolicy(_Terms, _OnePolicy):
    """Have requests of a profile wait for agreement, and return the policy.

    Attributes:
        required_approvals: how many must agree; one where it isn't given.
        approver_ids: users and identities who may; whoever may approve at all where none is given.
        bypass_identity_ids: identities whose requests need no agreement.
        allow_self_approval: who asks may agree too.
        request_ttl: how long a request may wait, such as `7d`; for ever where it isn't given.
    """

    profile_id: str

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _Written(profile_id=self.profile_id, **self.terms()))
        return Request("POST", _POLICIES, body=body)


@dataclass(frozen=True, slots=True)
class UpdateApprovalPolicy(_Terms, _OnePolicy):
    """Change an approval policy, and return it; what isn't given stays. An empty `request_ttl` is for ever.

    Requests that wait do so on the terms they began with.
    """

    policy_id: str

    def request(self) -> Request:
        """Return what to send."""
        changes = self.terms()
        if self.request_ttl == "":
            changes["request_ttl"] = None
        body = json_body(lambda: _Written(**changes), nulls=True)
        return Request("PATCH", fill(_POLICY, self.policy_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteApprovalPolicy(_OnePolicy):
    """Have requests of a profile need no agreement from now on, and return what the policy was."""

    policy_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_POLICY, self.policy_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListApprovalRequests(ListingOfProject[ApprovalRequestPage]):
    """List requests that wait for agreement, or waited.

    Attributes:
        project_id: None for the organization's own project for certificates.
        status: `pending`, `approved`, `rejected`, `expired` or `cancelled`.
        offset, limit: of those found, leave out so many, and return so many, 1 to 100.
    """

    status: str | None = None
    profile_id: str | None = None
    offset: int = 0
    limit: int = 20

    def request(self) -> Request:
        """Return what to send."""
        more = {
            "status": self.status,
            "profileId": self.profile_id,
            "offset": self.offset,
            "limit": self.limit,
        }
        return self.asked(_REQUESTS, more)

    def read(self, response: Response) -> ApprovalRequestPage:
        """Return the page."""
        return decode(response, ApprovalRequestPage)


@dataclass(frozen=True, slots=True)
class _OneRequest(Operation[ApprovalRequest]):
    approval_request_id: str

    def read(self, response: Response) -> ApprovalRequest:
        """Return the request."""
        return decode(response, _RequestAnswer).approval_request


@dataclass(frozen=True, slots=True)
class GetApprovalRequest(_OneRequest):
    """Return a request for approval by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_REQUEST, self.approval_request_id))


@dataclass(frozen=True, slots=True)
class ApproveCertificateRequest(_OneRequest):
    """Agree to a request; the last one who must has the certificate issued."""

    comment: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _Vote(comment=self.comment))
        return Request("POST", fill(f"{_REQUEST}/approve", self.approval_request_id), body=body)


@dataclass(frozen=True, slots=True)
class RejectCertificateRequest(_OneRequest):
    """Say no to a request, which ends it."""

    comment: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _Vote(comment=self.comment))
        return Request("POST", fill(f"{_REQUEST}/reject", self.approval_request_id), body=body)
