"""The audit log."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, BigInteger, Index, Integer, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Uuid
from keybearer.store.tables.base import Row

__all__ = ["AuditChainRow", "AuditLogRow", "AuditRegisterRow"]


class AuditLogRow(Row):
    """One thing that somebody did or was refused. Refers to nothing: it outlives whatever it speaks of.

    `chain`, `sequence` and `mac` are the line's place in a chain; null for lines of versions without chains.
    """

    __tablename__ = "audit_log"
    __table_args__ = (
        Index(None, "organization_id", "created_at"),
        Index(None, "project_id", "created_at"),
        Index(None, "created_at"),
        Index(None, "chain", "sequence", unique=True),
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
    chain: Mapped[int | None] = mapped_column(Integer)
    sequence: Mapped[int | None] = mapped_column(BigInteger)
    mac: Mapped[bytes | None] = mapped_column(LargeBinary)


class AuditChainRow(Row):
    """Where a chain of the audit log ends: the number and MAC of its last line, and a MAC over both."""

    __tablename__ = "audit_chains"

    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    sequence: Mapped[int] = mapped_column(BigInteger)
    mac: Mapped[bytes] = mapped_column(LargeBinary)
    end_mac: Mapped[bytes] = mapped_column(LargeBinary)


class AuditRegisterRow(Row):
    """The sealed register of the chains: one row."""

    __tablename__ = "audit_register"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    content: Mapped[bytes] = mapped_column(LargeBinary)
