"""What an identity may or may not do in a part of a project, beside its roles."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKeyConstraint, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Texts, Uuid
from keybearer.store.tables.base import Row

__all__ = ["GrantRow"]


class GrantRow(Row):
    """A grant; it goes with the membership that it narrows or widens, and with the environment that it names.

    `environment` is kept in step with the slug of that environment, so that reading grants needs no join. Nothing
    in the database links the id: SQLite can't add that to a table. What deletes an environment deletes its grants.
    """

    __tablename__ = "project_grants"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "identity_id"],
            ["project_memberships.project_id", "project_memberships.identity_id"],
            ondelete="CASCADE",
        ),
        Index(None, "project_id", "identity_id"),
        Index(None, "identity_id"),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid)
    identity_id: Mapped[str] = mapped_column(Uuid)
    effect: Mapped[str] = mapped_column(String(8))
    subjects: Mapped[tuple[str, ...]] = mapped_column(Texts)
    actions: Mapped[tuple[str, ...]] = mapped_column(Texts)
    environment: Mapped[str] = mapped_column(String(64))
    environment_id: Mapped[str | None] = mapped_column(Uuid, index=True)
    secret_path: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)
