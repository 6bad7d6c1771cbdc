"""Organizations, identities and how machines among them authenticate."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, Integer, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Revision, Texts, Uuid
from keybearer.store.tables.base import Row

__all__ = ["AccessTokenRow", "ClientSecretRow", "IdentityRow", "OrganizationRow", "UniversalAuthRow"]


class OrganizationRow(Row):
    """An organization. `names_revision` moves when a project appears, goes or changes its slug."""

    __tablename__ = "organizations"

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    names_revision: Mapped[int] = mapped_column(Revision)
    created_at: Mapped[datetime] = mapped_column(Instant)


class IdentityRow(Row):
    """A machine identity or a user (`kind`). `permission_revision` moves when what it may do changes."""

    __tablename__ = "identities"

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    organization_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("organizations.id", ondelete="CASCADE"), index=True
    )
    name: Mapped[str] = mapped_column(String(64))
    role: Mapped[str] = mapped_column(String(64))
    permission_revision: Mapped[int] = mapped_column(Revision)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)
    kind: Mapped[str] = mapped_column(String(16), server_default="machine")


class UniversalAuthRow(Row):
    """Universal Auth of one identity (wire.md section 1.2); durations in seconds."""

    __tablename__ = "universal_auths"

    identity_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("identities.id", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(Uuid)
    client_id: Mapped[str] = mapped_column(Uuid, unique=True)
    access_token_ttl: Mapped[int] = mapped_column(Integer)
    access_token_max_ttl: Mapped[int] = mapped_column(Integer)
    access_token_num_uses_limit: Mapped[int] = mapped_column(Integer)
    access_token_period: Mapped[int] = mapped_column(Integer)
    access_token_trusted_ips: Mapped[tuple[str, ...]] = mapped_column(Texts)
    client_secret_trusted_ips: Mapped[tuple[str, ...]] = mapped_column(Texts)
    lockout_enabled: Mapped[bool] = mapped_column(Boolean)
    lockout_threshold: Mapped[int] = mapped_column(Integer)
    lockout_duration_seconds: Mapped[int] = mapped_column(Integer)
    lockout_counter_reset_seconds: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class ClientSecretRow(Row):
    """A client secret: its first four characters in clear, the whole only as keyed digest."""

    __tablename__ = "client_secrets"

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    identity_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("identities.id", ondelete="CASCADE"), index=True
    )
    description: Mapped[str] = mapped_column(String(1024))
    prefix: Mapped[str] = mapped_column(String(4))
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    num_uses: Mapped[int] = mapped_column(Integer)
    num_uses_limit: Mapped[int] = mapped_column(Integer)
    ttl: Mapped[int] = mapped_column(Integer)
    revoked: Mapped[bool] = mapped_column(Boolean)
    last_used_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class AccessTokenRow(Row):
    """What the service remembers of a token it signed; the token itself is kept nowhere.

    `expires_at` is the end of its present lifetime, null for one without end.
    """

    __tablename__ = "access_tokens"
    __table_args__ = (Index(None, "expires_at"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    identity_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("identities.id", ondelete="CASCADE"), index=True
    )
    auth_method: Mapped[str] = mapped_column(String(32))
    client_secret_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("client_secrets.id", ondelete="CASCADE"), index=True
    )
    ttl: Mapped[int] = mapped_column(Integer)
    max_ttl: Mapped[int] = mapped_column(Integer)
    period: Mapped[int] = mapped_column(Integer)
    num_uses: Mapped[int] = mapped_column(Integer)
    num_uses_limit: Mapped[int] = mapped_column(Integer)
    trusted_ips: Mapped[tuple[str, ...]] = mapped_column(Texts)
    created_at: Mapped[datetime] = mapped_column(Instant)
    renewed_at: Mapped[datetime | None] = mapped_column(Instant)
    expires_at: Mapped[datetime | None] = mapped_column(Instant)
