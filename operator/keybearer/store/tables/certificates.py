"""Certificates, the requests they come from, and subscribers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Texts, Uuid
from keybearer.store.tables.base import Row

__all__ = [
    "AcmeChallengeRow",
    "CertificateRequestRow",
    "CertificateRow",
    "PkiSubscriberRow",
    "RequestMetadataRow",
]


class PkiSubscriberRow(Row):
    """A subscriber: a name with all that its certificates hold."""

    __tablename__ = "pki_subscribers"
    __table_args__ = (UniqueConstraint("project_id", "name"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    authority_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_authorities.id", ondelete="SET NULL"), index=True
    )
    name: Mapped[str] = mapped_column(String(64))
    common_name: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16))
    ttl: Mapped[str] = mapped_column(String(32))
    subject_alternative_names: Mapped[tuple[str, ...]] = mapped_column(Texts)
    key_usages: Mapped[tuple[str, ...]] = mapped_column(Texts)
    extended_key_usages: Mapped[tuple[str, ...]] = mapped_column(Texts)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class CertificateRow(Row):
    """A certificate that was issued here or imported; it outlives its profile.

    `private_key` is an envelope bound to the id, where the service made the key or was given it. `is_revoked` rather
    than a status: that one is over is told by its dates. `renew_at` is when it is to be renewed without being asked,
    null where it isn't. `chain` holds those above it, as PEM.
    """

    __tablename__ = "certificates"
    __table_args__ = (
        Index("ix_certificates_project_id_created_at", "project_id", "created_at"),
        Index("ix_certificates_profile_id_created_at", "profile_id", "created_at"),
        Index("ix_certificates_authority_id_is_revoked", "authority_id", "is_revoked"),
        Index("ix_certificates_subscriber_id_created_at", "subscriber_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    profile_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_profiles.id", ondelete="SET NULL")
    )
    application_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_applications.id", ondelete="SET NULL"), index=True
    )
    subscriber_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("pki_subscribers.id", ondelete="SET NULL")
    )
    authority_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_authorities.id", ondelete="SET NULL")
    )
    authority_certificate_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("authority_certificates.id", ondelete="SET NULL"), index=True
    )
    serial_number: Mapped[str] = mapped_column(String(64), index=True)
    fingerprint: Mapped[str] = mapped_column(String(64), index=True)
    public_key_fingerprint: Mapped[str] = mapped_column(String(64), index=True)
    common_name: Mapped[str] = mapped_column(Text)
    alt_names: Mapped[str] = mapped_column(Text)
    friendly_name: Mapped[str] = mapped_column(Text)
    subject: Mapped[dict[str, Any]] = mapped_column(JSON)
    key_usages: Mapped[tuple[str, ...]] = mapped_column(Texts)
    extended_key_usages: Mapped[tuple[str, ...]] = mapped_column(Texts)
    key_algorithm: Mapped[str] = mapped_column(String(32))
    signature_algorithm: Mapped[str] = mapped_column(String(32))
    is_ca: Mapped[bool] = mapped_column(Boolean)
    path_length: Mapped[int | None] = mapped_column(Integer)
    not_before: Mapped[datetime] = mapped_column(Instant)
    not_after: Mapped[datetime] = mapped_column(Instant, index=True)
    certificate: Mapped[str] = mapped_column(Text)
    chain: Mapped[str] = mapped_column(Text)
    is_revoked: Mapped[bool] = mapped_column(Boolean)
    revoked_at: Mapped[datetime | None] = mapped_column(Instant)
    revocation_reason: Mapped[str | None] = mapped_column(String(32))
    renew_before_days: Mapped[int | None] = mapped_column(Integer)
    renew_at: Mapped[datetime | None] = mapped_column(Instant, index=True)
    renewed_from_id: Mapped[str | None] = mapped_column(Uuid)
    renewed_by_id: Mapped[str | None] = mapped_column(Uuid)
    private_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class CertificateRequestRow(Row):
    """A request and how far it came.

    `asked` is what was asked for once defaults were filled in. `private_key` is an envelope bound to the id: a key
    that the service made, until the certificate has it. `order_state` is what is known of an order at an authority
    elsewhere. A request that the service works on by itself is due at `due_at`; `claimed_by` names the process that
    does, which must say so again before `lease_ends_at`.
    """

    __tablename__ = "certificate_requests"
    __table_args__ = (
        Index("ix_certificate_requests_project_id_created_at", "project_id", "created_at"),
        Index("ix_certificate_requests_profile_id_created_at", "profile_id", "created_at"),
        Index("ix_certificate_requests_project_id_status", "project_id", "status"),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    profile_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_profiles.id", ondelete="SET NULL")
    )
    application_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_applications.id", ondelete="SET NULL"), index=True
    )
    authority_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_authorities.id", ondelete="SET NULL"), index=True
    )
    certificate_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificates.id", ondelete="SET NULL"), index=True
    )
    # The certificate that this one is to replace; it may be gone.
    renews_id: Mapped[str | None] = mapped_column(Uuid)
    status: Mapped[str] = mapped_column(String(32))
    common_name: Mapped[str | None] = mapped_column(Text)
    alt_names: Mapped[str | None] = mapped_column(Text)
    asked: Mapped[dict[str, Any]] = mapped_column(JSON)
    csr: Mapped[str | None] = mapped_column(Text)
    remove_roots_from_chain: Mapped[bool] = mapped_column(Boolean)
    # Who asked may be gone; its name stays readable.
    requested_by: Mapped[str | None] = mapped_column(Uuid)
    requester_name: Mapped[str] = mapped_column(Text)
    error_message: Mapped[str | None] = mapped_column(Text)
    pending_message: Mapped[str | None] = mapped_column(Text)
    private_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    order_state: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    attempt: Mapped[int] = mapped_column(Integer)
    due_at: Mapped[datetime | None] = mapped_column(Instant, index=True)
    claimed_by: Mapped[str | None] = mapped_column(Uuid)
    lease_ends_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class RequestMetadataRow(Row):
    """A key and a value beside a request; found by `digest`, of both: an index has no room for long texts."""

    __tablename__ = "certificate_request_metadata"
    __table_args__ = (Index("ix_certificate_request_metadata_digest_request_id", "digest", "request_id"),)

    request_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_requests.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    key: Mapped[str] = mapped_column(Text)
    value: Mapped[str] = mapped_column(Text)
    digest: Mapped[bytes] = mapped_column(LargeBinary)


class AcmeChallengeRow(Row):
    """What answers a challenge of an authority elsewhere, for all who know its token (RFC 8555 section 8.3)."""

    __tablename__ = "acme_challenges"

    token: Mapped[str] = mapped_column(String(128), primary_key=True)
    request_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_requests.id", ondelete="CASCADE"), index=True
    )
    key_authorization: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Instant)
