"""Projects, who may use them, their environments and folders."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Integer, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, OrderedText, Revision, Texts, Uuid
from keybearer.store.tables.base import Row

__all__ = ["EnvironmentRow", "FolderRow", "FormerSlugRow", "MembershipRow", "ProjectRow"]


class ProjectRow(Row):
    """A project. `revision` moves in the transaction of whatever changes an answer about it.

    `places` is an envelope with the sum of the marks of its environments and folders; see `place_seals`.
    """

    __tablename__ = "projects"
    __table_args__ = (UniqueConstraint("organization_id", "slug"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    organization_id: Mapped[str] = mapped_column(Uuid, ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(64))
    slug: Mapped[str] = mapped_column(String(36))
    description: Mapped[str | None] = mapped_column(Text)
    type: Mapped[str] = mapped_column(String(32))
    auto_capitalization: Mapped[bool] = mapped_column(Boolean)
    has_delete_protection: Mapped[bool] = mapped_column(Boolean)
    revision: Mapped[int] = mapped_column(Revision)
    places: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class FormerSlugRow(Row):
    """A slug that a project gave up; the project may be gone."""

    __tablename__ = "former_project_slugs"

    organization_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True
    )
    slug: Mapped[str] = mapped_column(String(36), primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid)
    owner_id: Mapped[str | None] = mapped_column(Uuid)
    given_up_at: Mapped[datetime] = mapped_column(Instant)


class MembershipRow(Row):
    """The roles of an identity, a machine's or a user's, in a project."""

    __tablename__ = "project_memberships"
    __table_args__ = (UniqueConstraint("project_id", "identity_id"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    identity_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("identities.id", ondelete="CASCADE"), index=True
    )
    roles: Mapped[tuple[str, ...]] = mapped_column(Texts)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class EnvironmentRow(Row):
    """An environment of a project; `position` counts from 1."""

    __tablename__ = "environments"
    __table_args__ = (UniqueConstraint("project_id", "slug"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(64))
    slug: Mapped[str] = mapped_column(String(64))
    position: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class FolderRow(Row):
    """A folder with its whole path, so that a subtree is one range; `/` is the root of its environment.

    `seal` is an envelope with the sum of the marks of its secrets; see `folder_seals`.
    """

    __tablename__ = "folders"
    __table_args__ = (UniqueConstraint("environment_id", "path"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    environment_id: Mapped[str] = mapped_column(Uuid, ForeignKey("environments.id", ondelete="CASCADE"))
    parent_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("folders.id", ondelete="CASCADE"), index=True
    )
    name: Mapped[str] = mapped_column(String(255))
    path: Mapped[str] = mapped_column(OrderedText)
    description: Mapped[str | None] = mapped_column(Text)
    version: Mapped[int] = mapped_column(Integer)
    is_reserved: Mapped[bool] = mapped_column(Boolean)
    seal: Mapped[bytes | None] = mapped_column(LargeBinary)
    last_secret_modified: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)
