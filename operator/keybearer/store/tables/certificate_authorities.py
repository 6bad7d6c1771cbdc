"""Certificate authorities: their certificates, their revocation lists, and accounts at those of others."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    ForeignKey,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Uuid
from keybearer.store.tables.base import Row

__all__ = ["AcmeAccountRow", "AuthorityCertificateRow", "CertificateAuthorityRow", "RevocationListRow"]


class CertificateAuthorityRow(Row):
    """A certificate authority of a project: our own, or one elsewhere.

    `private_key` is an envelope bound to the id; one elsewhere has none. `certificate_id` names the certificate it
    signs with at present: a renewal keeps the key.
    """

    __tablename__ = "certificate_authorities"
    __table_args__ = (UniqueConstraint("project_id", "name"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(32))
    status: Mapped[str] = mapped_column(String(32))
    enable_direct_issuance: Mapped[bool] = mapped_column(Boolean)
    configuration: Mapped[dict[str, Any]] = mapped_column(JSON)
    # No foreign key: certificates refer to their authority already.
    certificate_id: Mapped[str | None] = mapped_column(Uuid)
    private_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    # Without a foreign key, which SQLite can't add to a table: a policy that an authority has is not deleted.
    policy_id: Mapped[str | None] = mapped_column(Uuid, index=True)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class AuthorityCertificateRow(Row):
    """A certificate of an authority; `version` counts from 1, and `chain` holds those above it, as PEM."""

    __tablename__ = "authority_certificates"
    __table_args__ = (UniqueConstraint("authority_id", "version"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    authority_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_authorities.id", ondelete="CASCADE")
    )
    parent_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("certificate_authorities.id", ondelete="SET NULL"), index=True
    )
    version: Mapped[int] = mapped_column(Integer)
    certificate: Mapped[str] = mapped_column(Text)
    chain: Mapped[str] = mapped_column(Text)
    serial_number: Mapped[str] = mapped_column(String(64))
    fingerprint: Mapped[str] = mapped_column(String(64))
    max_path_length: Mapped[int | None] = mapped_column(Integer)
    not_before: Mapped[datetime] = mapped_column(Instant)
    not_after: Mapped[datetime] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)


class RevocationListRow(Row):
    """The list of what an authority revoked, as it was signed last; `number` only grows.

    `is_stale` says that something was revoked since.
    """

    __tablename__ = "revocation_lists"

    authority_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_authorities.id", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(Uuid)
    number: Mapped[int] = mapped_column(BigInteger)
    this_update: Mapped[datetime] = mapped_column(Instant)
    next_update: Mapped[datetime] = mapped_column(Instant)
    is_stale: Mapped[bool] = mapped_column(Boolean)
    der: Mapped[bytes] = mapped_column(LargeBinary)


class AcmeAccountRow(Row):
    """The account that an authority elsewhere knows us by (RFC 8555); both secrets are envelopes bound to the id."""

    __tablename__ = "acme_accounts"

    authority_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("certificate_authorities.id", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(Uuid)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    url: Mapped[str | None] = mapped_column(Text)
    eab_key_id: Mapped[str | None] = mapped_column(Text)
    eab_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    private_key: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)
