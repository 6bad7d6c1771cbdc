"""App connections: how the service proves itself to other stores. Credentials only sealed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Boolean, ForeignKey, Index, Integer, LargeBinary, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Texts, Uuid
from keybearer.store.tables.base import Row

__all__ = ["AppConnectionRow"]


class AppConnectionRow(Row):
    """A connection of an organization, or of one of its projects.

    `credentials` is an envelope bound to the id. `credentials_hash` is of the envelope that was last written by a
    person, so that sealing it anew with another key changes nothing that anybody sees. `retiring` are credentials
    that were replaced but are not yet worthless at the remote. Until `rotation_held_until` some process is busy with
    its rotation; whoever ends one clears it.
    """

    __tablename__ = "app_connections"
    # A null project would not be unique.
    __table_args__ = (
        Index(
            "uq_app_connections_name_of_organization",
            "organization_id",
            "name",
            unique=True,
            sqlite_where=text("project_id IS NULL"),
            postgresql_where=text("project_id IS NULL"),
        ),
        Index(
            "uq_app_connections_name_of_project",
            "project_id",
            "name",
            unique=True,
            sqlite_where=text("project_id IS NOT NULL"),
            postgresql_where=text("project_id IS NOT NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    organization_id: Mapped[str] = mapped_column(Uuid, ForeignKey("organizations.id", ondelete="CASCADE"))
    project_id: Mapped[str | None] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str | None] = mapped_column(Text)
    app: Mapped[str] = mapped_column(String(64))
    method: Mapped[str] = mapped_column(String(64))
    credentials: Mapped[bytes] = mapped_column(LargeBinary)
    credentials_hash: Mapped[str] = mapped_column(String(64))
    shown: Mapped[dict[str, Any]] = mapped_column(JSON)
    version: Mapped[int] = mapped_column(Integer)
    is_auto_rotation_enabled: Mapped[bool] = mapped_column(Boolean)
    rotation_interval_days: Mapped[int | None] = mapped_column(Integer)
    rotation_hour: Mapped[int | None] = mapped_column(Integer)
    rotation_minute: Mapped[int | None] = mapped_column(Integer)
    rotation_status: Mapped[str | None] = mapped_column(String(16))
    last_rotation_message: Mapped[str | None] = mapped_column(Text)
    next_rotation_at: Mapped[datetime | None] = mapped_column(Instant)
    rotation_held_until: Mapped[datetime | None] = mapped_column(Instant)
    retiring: Mapped[bytes | None] = mapped_column(LargeBinary)
    allowed_project_ids: Mapped[tuple[str, ...] | None] = mapped_column(Texts(none_as_null=True))
    allowed_places: Mapped[tuple[str, ...] | None] = mapped_column(Texts(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)
