"""Whose agreement certificate requests need, and who gave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Select, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.columns import record_columns, select_record
from keybearer.store.tables.certificate_approvals import (
    ApprovalPolicyRow,
    ApprovalRequestRow,
    ApprovalVoteRow,
)
from keybearer.store.tables.certificate_profiles import CertificateProfileRow
from keybearer.store.tables.certificates import CertificateRequestRow

__all__ = ["ApprovalPolicy", "ApprovalRequest", "ApprovalRequestView", "ApprovalVote", "CertificateApprovals"]


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """Whose agreement requests of a profile need.

    Attributes:
        approver_ids: none of them is whoever may approve at all.
        bypass_identity_ids: whose requests need no agreement.
        request_ttl: in seconds; None: requests wait for ever.
    """

    id: str
    project_id: ProjectId
    profile_id: str
    name: str
    is_enabled: bool
    required_approvals: int
    approver_ids: tuple[str, ...]
    bypass_identity_ids: tuple[str, ...]
    allow_self_approval: bool
    request_ttl: int | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A certificate request that needs agreement, on the terms that held when it was made.

    Attributes:
        request_id: of the certificate request.
        status: pending, approved, rejected, expired or cancelled.
    """

    id: str
    project_id: ProjectId
    request_id: str
    policy_id: str | None
    status: str
    required_approvals: int
    approver_ids: tuple[str, ...]
    allow_self_approval: bool
    expires_at: datetime | None
    closed_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ApprovalVote:
    """What one person said; the verdict is approve or reject."""

    approval_request_id: str
    voter_id: str
    voter_name: str
    verdict: str
    comment: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApprovalRequestView:
    """A request with what it is about and who said what; `asked` is that of the certificate request."""

    approval: ApprovalRequest
    request_status: str
    profile_id: str | None
    profile_slug: str | None
    common_name: str | None
    alt_names: str | None
    requester_id: str | None
    requester_name: str
    asked: Mapping[str, JsonValue]
    votes: tuple[ApprovalVote, ...] = ()


_POLICIES = select_record(ApprovalPolicyRow, ApprovalPolicy)
_VOTES = select_record(ApprovalVoteRow, ApprovalVote)
_VIEWS: Select[*tuple[Any, ...]] = (
    select(
        CertificateRequestRow.status,
        CertificateRequestRow.profile_id,
        CertificateProfileRow.slug,
        CertificateRequestRow.common_name,
        CertificateRequestRow.alt_names,
        CertificateRequestRow.requested_by,
        CertificateRequestRow.requester_name,
        CertificateRequestRow.asked,
        *record_columns(ApprovalRequestRow, ApprovalRequest),
    )
    .select_from(ApprovalRequestRow)
    .join(CertificateRequestRow, CertificateRequestRow.id == ApprovalRequestRow.request_id)
    .outerjoin(CertificateProfileRow, CertificateProfileRow.id == CertificateRequestRow.profile_id)
)
_OF_REQUEST = 8
"""How many columns of a view are not the approval's own."""


class CertificateApprovals:
    """Repository of approval policies, approval requests and votes."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add_policy(self, new: ApprovalPolicy) -> None:
        """Store a new policy."""
        await self._connection.execute(insert(ApprovalPolicyRow).values(asdict(new)))

    async def update_policy(self, changed: ApprovalPolicy) -> None:
        """Store the present fields; requests that wait keep their terms."""
        await self._connection.execute(
            update(ApprovalPolicyRow).where(ApprovalPolicyRow.id == changed.id).values(asdict(changed))
        )

    async def policy(self, policy_id: str, *, for_change: bool = False) -> ApprovalPolicy | None:
        """Return the policy of that id, or None; for a change it is kept from other writers."""
        statement = _POLICIES.where(ApprovalPolicyRow.id == policy_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else ApprovalPolicy(*row)

    async def policy_of_profile(self, profile_id: str) -> ApprovalPolicy | None:
        """Return the profile's policy, or None."""
        statement = _POLICIES.where(ApprovalPolicyRow.profile_id == profile_id)
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else ApprovalPolicy(*row)

    async def is_needed_of(self, authority_id: str) -> bool:
        """Return whether requests of any profile of the authority need agreement."""
        profile, policy = CertificateProfileRow, ApprovalPolicyRow
        statement = (
            select(policy.id)
            .join(profile, profile.id == policy.profile_id)
            .where(profile.authority_id == authority_id, policy.is_enabled.is_(True))
        )
        return (await self._connection.execute(statement.limit(1))).first() is not None

    async def policies_of(self, project_id: ProjectId) -> list[ApprovalPolicy]:
        """Return the project's policies, oldest first."""
        statement = _POLICIES.where(ApprovalPolicyRow.project_id == project_id)
        statement = statement.order_by(ApprovalPolicyRow.created_at, ApprovalPolicyRow.id)
        return [ApprovalPolicy(*row) for row in await self._connection.execute(statement)]

    async def delete_policy(self, policy_id: str) -> None:
        """Remove the policy; requests that wait keep their terms."""
        await self._connection.execute(delete(ApprovalPolicyRow).where(ApprovalPolicyRow.id == policy_id))

    async def add(self, new: ApprovalRequest) -> None:
        """Store a request that waits for agreement."""
        await self._connection.execute(insert(ApprovalRequestRow).values(asdict(new)))

    async def get(self, approval_id: str, *, for_change: bool = False) -> ApprovalRequestView | None:
        """Return the approval request of that id, or None; for a change it is kept from other voters."""
        return await self._one(_VIEWS.where(ApprovalRequestRow.id == approval_id), for_change=for_change)

    async def of_request(self, request_id: str, *, for_change: bool = False) -> ApprovalRequestView | None:
        """Return what a certificate request waits, or waited, for; None where it needed no agreement."""
        return await self._one(
            _VIEWS.where(ApprovalRequestRow.request_id == request_id), for_change=for_change
        )

    async def listed(
        self,
        project_id: ProjectId,
        *,
        status: str | None,
        profile_id: str | None,
        offset: int,
        limit: int,
    ) -> tuple[list[ApprovalRequestView], int]:
        """Return a page of the project's approval requests, newest first, and how many there are in all."""
        wanted = [ApprovalRequestRow.project_id == project_id]
        if status is not None:
            wanted.append(ApprovalRequestRow.status == status)
        if profile_id is not None:
            wanted.append(CertificateRequestRow.profile_id == profile_id)
        count = select(func.count()).select_from(_VIEWS.where(*wanted).subquery())
        page = (
            _VIEWS.where(*wanted)
            .order_by(ApprovalRequestRow.created_at.desc(), ApprovalRequestRow.id)
            .offset(offset)
            .limit(limit)
        )
        found = await self._views(page)
        return found, (await self._connection.execute(count)).scalar_one()

    async def expired(self, now: datetime, limit: int) -> list[str]:
        """Return the ids of approval requests that wait although their time is over."""
        row = ApprovalRequestRow
        statement = (
            select(row.id)
            .where(row.status == "pending", row.expires_at <= now)
            .order_by(row.expires_at, row.id)
            .limit(limit)
        )
        return list((await self._connection.execute(statement)).scalars())

    async def close(self, approval_id: str, status: str, now: datetime) -> None:
        """Note how it ended."""
        await self._connection.execute(
            update(ApprovalRequestRow)
            .where(ApprovalRequestRow.id == approval_id)
            .values(status=status, closed_at=now, updated_at=now)
        )

    async def vote(self, vote: ApprovalVote) -> None:
        """Store what one person says; nobody says anything twice."""
        await self._connection.execute(insert(ApprovalVoteRow).values(asdict(vote)))

    async def _one(
        self, statement: Select[*tuple[Any, ...]], *, for_change: bool
    ) -> ApprovalRequestView | None:
        if for_change:
            statement = statement.with_for_update(of=ApprovalRequestRow)
        found = await self._views(statement)
        return found[0] if found else None

    async def _views(self, statement: Select[*tuple[Any, ...]]) -> list[ApprovalRequestView]:
        rows = (await self._connection.execute(statement)).all()
        votes = await self._votes([row[_OF_REQUEST] for row in rows])
        return [_read(row, votes) for row in rows]

    async def _votes(self, approval_ids: Sequence[str]) -> list[ApprovalVote]:
        if not approval_ids:
            return []
        statement = _VOTES.where(ApprovalVoteRow.approval_request_id.in_(approval_ids))
        statement = statement.order_by(ApprovalVoteRow.created_at, ApprovalVoteRow.voter_id)
        return [ApprovalVote(*row) for row in await self._connection.execute(statement)]


def _read(row: Sequence[Any], votes: Sequence[ApprovalVote]) -> ApprovalRequestView:
    approval = ApprovalRequest(*row[_OF_REQUEST:])
    own = tuple(vote for vote in votes if vote.approval_request_id == approval.id)
    status, profile_id, slug, common_name, alt_names, requester_id, requester_name, asked = row[:_OF_REQUEST]
    return ApprovalRequestView(
        approval, status, profile_id, slug, common_name, alt_names, requester_id, requester_name, asked, own
    )
