"""Secrets: the present version, all versions, their tags, and whom they refer to. Values only sealed."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, Integer, LargeBinary, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Uuid
from keybearer.store.tables.base import Row

__all__ = ["ReferenceBindingRow", "SecretReferenceRow", "SecretRow", "SecretTagRow", "SecretVersionRow"]


class SecretRow(Row):
    """The present version of a secret.

    `value` and `details` (comment, metadata, reminder) are envelopes bound to (project, id, version,
    folder, key).
    `owner` is the user of a personal override, empty for a shared secret: a null would not be unique.
    """

    __tablename__ = "secrets"
    __table_args__ = (
        UniqueConstraint("folder_id", "key", "owner"),
        # Few secrets are personal; whose are all of a user's is asked for with the same condition.
        Index(
            "ix_secrets_owner",
            "owner",
            sqlite_where=text("owner <> ''"),
            postgresql_where=text("owner <> ''"),
        ),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    folder_id: Mapped[str] = mapped_column(Uuid, ForeignKey("folders.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(String(512))
    owner: Mapped[str] = mapped_column(String(36))
    version: Mapped[int] = mapped_column(Integer)
    value: Mapped[bytes] = mapped_column(LargeBinary)
    details: Mapped[bytes | None] = mapped_column(LargeBinary)
    skip_multiline_encoding: Mapped[bool | None] = mapped_column(Boolean)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class SecretVersionRow(Row):
    """What a secret was at one version, the present one included.

    `folder_id` is the folder that the secret was in then; its envelopes are bound to it, and it may be deleted. It is
    null for what an earlier version sealed, until that is sealed anew.
    """

    __tablename__ = "secret_versions"

    secret_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("secrets.id", ondelete="CASCADE"), primary_key=True
    )
    version: Mapped[int] = mapped_column(Integer, primary_key=True)
    folder_id: Mapped[str | None] = mapped_column(Uuid)
    key: Mapped[str] = mapped_column(String(512))
    value: Mapped[bytes] = mapped_column(LargeBinary)
    details: Mapped[bytes | None] = mapped_column(LargeBinary)
    skip_multiline_encoding: Mapped[bool | None] = mapped_column(Boolean)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class SecretTagRow(Row):
    """A secret carries a tag."""

    __tablename__ = "secret_tags"

    secret_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("secrets.id", ondelete="CASCADE"), primary_key=True
    )
    tag_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("tags.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class SecretReferenceRow(Row):
    """A secret's stored text names another one (wire.md section 2.6): found again when that one changes.

    `folder` is a digest of (project slug or empty for the same project, environment, path): paths are too
    long for an index of PostgreSQL.
    """

    __tablename__ = "secret_references"
    __table_args__ = (Index(None, "folder", "key"),)

    secret_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("secrets.id", ondelete="CASCADE"), primary_key=True
    )
    folder: Mapped[str] = mapped_column(String(32), primary_key=True)
    key: Mapped[str] = mapped_column(String(512), primary_key=True)


class ReferenceBindingRow(Row):
    """An environment that a secret's stored text names, other than its own, with the ids that the name stood for.

    `project_slug` is empty for the same project. Without ids the name stood for nothing when the text was written.
    `is_loose` says that the name doesn't stand for these ids now: most do, and then nobody reads their rows. The ids
    are not linked, for they say what was meant also when that is gone.
    """

    __tablename__ = "reference_bindings"
    __table_args__ = (
        Index(None, "project_id"),
        Index(
            "ix_reference_bindings_loose",
            "secret_id",
            sqlite_where=text("is_loose"),
            postgresql_where=text("is_loose"),
        ),
    )

    secret_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("secrets.id", ondelete="CASCADE"), primary_key=True
    )
    project_slug: Mapped[str] = mapped_column(String(36), primary_key=True)
    environment: Mapped[str] = mapped_column(String(64), primary_key=True)
    project_id: Mapped[str | None] = mapped_column(Uuid)
    environment_id: Mapped[str | None] = mapped_column(Uuid)
    is_loose: Mapped[bool] = mapped_column(Boolean)
