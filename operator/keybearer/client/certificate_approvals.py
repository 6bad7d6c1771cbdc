"""What the client returns of approvals of certificate requests: an addition of Keybearer."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.client.certificates import BasicConstraints
from keybearer.client.lenient import Flag, Several, Text, from_wire

__all__ = [
    "ApprovalPolicy",
    "ApprovalRequest",
    "ApprovalRequestPage",
    "ApprovalVote",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """Whose agreement requests of a profile need.

    Attributes:
        approver_ids: users and identities; empty for whoever may approve at all.
        bypass_identity_ids: identities whose requests need none.
        request_ttl_seconds: how long a request may wait; None for ever.
    """

    id: str
    profile_id: str
    name: Text = ""
    project_id: Text = ""
    enabled: bool = True
    required_approvals: int = 1
    approver_ids: Several[str] = ()
    bypass_identity_ids: Several[str] = ()
    allow_self_approval: Flag = False
    request_ttl_seconds: int | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalVote:
    """What one person said: `approve` or `reject`."""

    voter_id: str
    verdict: str
    voter_name: Text = ""
    comment: str | None = None
    created_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A certificate request that needs agreement.

    Attributes:
        status: `pending`, `approved`, `rejected`, `expired` or `cancelled`.
        certificate_request_status: as of `CertificateIssuance`.
        subject: the whole of it, in one text.
        ttl_seconds: how long the certificate is to be valid; None where `not_after` says until when.
        not_before, not_after: where they were asked for, in ISO 8601.
        approver_ids: who may agree; empty for whoever may approve at all.
        expires_at, closed_at: in ISO 8601; None for never, and for not yet.
    """

    id: str
    status: str
    certificate_request_id: str
    certificate_request_status: Text = ""
    project_id: Text = ""
    profile_id: str | None = None
    profile_name: Text = ""
    common_name: Text = ""
    alt_names: Text = ""
    subject: Text = ""
    key_algorithm: Text = ""
    key_usages: Several[str] = ()
    extended_key_usages: Several[str] = ()
    basic_constraints: BasicConstraints | None = None
    ttl_seconds: int | None = None
    not_before: str | None = None
    not_after: str | None = None
    requester_id: str | None = None
    requester_name: Text = ""
    required_approvals: int = 1
    approver_ids: Several[str] = ()
    votes: Several[ApprovalVote] = ()
    expires_at: str | None = None
    closed_at: str | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequestPage:
    """Some of the requests for approval, the newest first, and how many there are in all."""

    approval_requests: tuple[ApprovalRequest, ...]
    total_count: int
