"""Who must agree before a certificate is issued, and who did."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Texts, Uuid
from keybearer.store.tables.base import Row

__all__ = ["ApprovalPolicyRow", "ApprovalRequestRow", "ApprovalVoteRow"]


class ApprovalPolicyRow(Row):
    """Whose agreement requests of a profile need; one policy per profile at most. `request_ttl` in seconds."""

    __tablename__ = "approval_policies"

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    profile_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_profiles.id", ondelete="CASCADE"), unique=True
    )
    name: Mapped[str] = mapped_column(String(255))
    is_enabled: Mapped[bool] = mapped_column(Boolean)
    required_approvals: Mapped[int] = mapped_column(Integer)
    approver_ids: Mapped[tuple[str, ...]] = mapped_column(Texts)
    bypass_identity_ids: Mapped[tuple[str, ...]] = mapped_column(Texts)
    allow_self_approval: Mapped[bool] = mapped_column(Boolean)
    request_ttl: Mapped[int | None] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class ApprovalRequestRow(Row):
    """A certificate request that waits, or waited, for agreement, on the terms of the policy at that time."""

    __tablename__ = "approval_requests"
    __table_args__ = (
        Index("ix_approval_requests_project_id_status", "project_id", "status", "created_at"),
        Index("ix_approval_requests_status_expires_at", "status", "expires_at"),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    request_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_requests.id", ondelete="CASCADE"), unique=True
    )
    policy_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("approval_policies.id", ondelete="SET NULL"), index=True
    )
    status: Mapped[str] = mapped_column(String(16))
    required_approvals: Mapped[int] = mapped_column(Integer)
    approver_ids: Mapped[tuple[str, ...]] = mapped_column(Texts)
    allow_self_approval: Mapped[bool] = mapped_column(Boolean)
    expires_at: Mapped[datetime | None] = mapped_column(Instant)
    closed_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class ApprovalVoteRow(Row):
    """What one person said to a request; its name stays readable when it is gone."""

    __tablename__ = "approval_votes"

    approval_request_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("approval_requests.id", ondelete="CASCADE"), primary_key=True
    )
    voter_id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    voter_name: Mapped[str] = mapped_column(Text)
    verdict: Mapped[str] = mapped_column(String(16))
    comment: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Instant)
