"""The audit log."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Uuid
from keybearer.store.tables.base import Row

__all__ = ["AuditLogRow"]


class AuditLogRow(Row):
    """One thing that somebody did or was refused. Refers to nothing: it outlives whatever it speaks of."""

    __tablename__ = "audit_log"
    __table_args__ = (
        Index(None, "organization_id", "created_at"),
        Index(None, "project_id", "created_at"),
        Index(None, "created_at"),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(Instant)
    organization_id: Mapped[str | None] = mapped_column(Uuid)
    project_id: Mapped[str | None] = mapped_column(Uuid)
    actor_kind: Mapped[str] = mapped_column(String(16))
    actor_id: Mapped[str | None] = mapped_column(Uuid)
    actor_name: Mapped[str] = mapped_column(String(255))
    event_type: Mapped[str] = mapped_column(String(64))
    ip_address: Mapped[str | None] = mapped_column(String(64))
    user_agent: Mapped[str] = mapped_column(String(255))
    request_id: Mapped[str] = mapped_column(String(64))
    details: Mapped[dict[str, object]] = mapped_column(JSON)
