"""Keys: those of the service itself, one line of data keys per project, and what rotates them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, LargeBinary, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Uuid
from keybearer.store.tables.base import Row

__all__ = ["DataKeyRow", "KeyHolderRow", "KeyRotationRow", "RootKeyRow", "ServerKeyRow"]


class ServerKeyRow(Row):
    """A key that the service itself needs (signing tokens, digests), wrapped by the root key."""

    __tablename__ = "server_keys"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    id: Mapped[str] = mapped_column(Uuid)
    wrapped: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Instant)


class DataKeyRow(Row):
    """A key that seals the values of one project, wrapped by the root key. The highest version seals."""

    __tablename__ = "data_keys"
    __table_args__ = (UniqueConstraint("project_id", "version"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    version: Mapped[int] = mapped_column(Integer)
    wrapped: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Instant)


class RootKeyRow(Row):
    """A root key that wrapped here at some time, by the name that it makes of itself; never the key.

    `state` is active (it wraps), retiring (it only opens what isn't wrapped anew yet) or retired (nothing needs it).
    """

    __tablename__ = "root_keys"

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    activated_at: Mapped[datetime] = mapped_column(Instant)
    retired_at: Mapped[datetime | None] = mapped_column(Instant)


class KeyHolderRow(Row):
    """A process holds a root key; said again every few seconds, so that an old line is of a process that is gone.

    `keeps_marks` is false for processes of earlier versions, which don't know it; see `seal_conversion`.
    """

    __tablename__ = "key_holders"

    process_id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    root_key_id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(Instant)
    keeps_marks: Mapped[bool] = mapped_column(server_default=false())


class KeyRotationRow(Row):
    """A project's values are being sealed anew with its latest data key; gone when they are.

    Everything up to `after` in the order of the table that `phase` names was looked at.
    """

    __tablename__ = "key_rotations"

    project_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True
    )
    phase: Mapped[str] = mapped_column(String(16))
    after: Mapped[str] = mapped_column(String(64))
    resealed: Mapped[int] = mapped_column(Integer)
    started_at: Mapped[datetime] = mapped_column(Instant)
