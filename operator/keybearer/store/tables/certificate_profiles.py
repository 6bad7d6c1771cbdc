"""What certificates may be issued, and how: policies, profiles, applications, enrollment."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Uuid
from keybearer.store.tables.base import Row

__all__ = [
    "ApplicationProfileRow",
    "CertificateApplicationRow",
    "CertificatePolicyRow",
    "CertificateProfileRow",
    "EnrollmentRow",
]


class CertificatePolicyRow(Row):
    """A policy; `rules` is what it holds beside its name, as it is answered."""

    __tablename__ = "certificate_policies"
    __table_args__ = (UniqueConstraint("project_id", "name"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(255))
    description: Mapped[str | None] = mapped_column(Text)
    rules: Mapped[dict[str, Any]] = mapped_column(JSON)
    profiles_bound_by: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class CertificateProfileRow(Row):
    """A profile: whose certificates, after which policy, with which defaults."""

    __tablename__ = "certificate_profiles"
    __table_args__ = (UniqueConstraint("project_id", "slug"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    # No cascade: what a profile uses is not deleted.
    policy_id: Mapped[str] = mapped_column(Uuid, ForeignKey("certificate_policies.id"), index=True)
    authority_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_authorities.id"), index=True
    )
    slug: Mapped[str] = mapped_column(String(255))
    description: Mapped[str | None] = mapped_column(Text)
    issuer_type: Mapped[str] = mapped_column(String(16))
    enrollment_type: Mapped[str] = mapped_column(String(16))
    external_configs: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    defaults: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class CertificateApplicationRow(Row):
    """An application: who certificates of the profiles attached to it are for."""

    __tablename__ = "certificate_applications"
    __table_args__ = (UniqueConstraint("project_id", "name"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(255))
    description: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class ApplicationProfileRow(Row):
    """A profile that is attached to an application."""

    __tablename__ = "application_profiles"

    application_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_applications.id", ondelete="CASCADE"), primary_key=True
    )
    profile_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_profiles.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class EnrollmentRow(Row):
    """How certificates of a profile are asked for, of the profile itself or within one application.

    `secret` is an envelope bound to the id: a passphrase, a challenge, or the key of an account.
    """

    __tablename__ = "enrollments"
    # A null application would not be unique.
    __table_args__ = (
        Index(
            "uq_enrollments_of_profile",
            "profile_id",
            "kind",
            unique=True,
            sqlite_where=text("application_id IS NULL"),
            postgresql_where=text("application_id IS NULL"),
        ),
        Index(
            "uq_enrollments_of_application",
            "application_id",
            "profile_id",
            "kind",
            unique=True,
            sqlite_where=text("application_id IS NOT NULL"),
            postgresql_where=text("application_id IS NOT NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    profile_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_profiles.id", ondelete="CASCADE"), index=True
    )
    application_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_applications.id", ondelete="CASCADE")
    )
    kind: Mapped[str] = mapped_column(String(16))
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)
