"""How identities authenticate elsewhere: Kubernetes and LDAP auth. What opens another door is kept sealed."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, Boolean, ForeignKey, Integer, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Texts, Uuid
from keybearer.store.tables.base import Row

__all__ = ["KubernetesAuthRow", "LdapAuthRow"]


class KubernetesAuthRow(Row):
    """Kubernetes auth of one identity (wire.md section 1.2); durations in seconds."""

    __tablename__ = "kubernetes_auths"

    identity_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("identities.id", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(Uuid)
    host: Mapped[str] = mapped_column(String(2048))
    ca_pem: Mapped[str] = mapped_column(Text)
    reviewer_token: Mapped[bytes | None] = mapped_column(LargeBinary)
    allowed_namespaces: Mapped[str] = mapped_column(Text)
    allowed_names: Mapped[str] = mapped_column(Text)
    allowed_audience: Mapped[str] = mapped_column(String(512))
    access_token_ttl: Mapped[int] = mapped_column(Integer)
    access_token_max_ttl: Mapped[int] = mapped_column(Integer)
    access_token_num_uses_limit: Mapped[int] = mapped_column(Integer)
    access_token_period: Mapped[int] = mapped_column(Integer)
    access_token_trusted_ips: Mapped[tuple[str, ...]] = mapped_column(Texts)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class LdapAuthRow(Row):
    """LDAP auth of one identity (wire.md section 1.2); durations in seconds."""

    __tablename__ = "ldap_auths"

    identity_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("identities.id", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(Uuid)
    url: Mapped[str] = mapped_column(String(2048))
    bind_dn: Mapped[str] = mapped_column(String(1024))
    bind_password: Mapped[bytes] = mapped_column(LargeBinary)
    search_base: Mapped[str] = mapped_column(String(1024))
    search_filter: Mapped[str] = mapped_column(Text)
    ca_pem: Mapped[str] = mapped_column(Text)
    allowed_fields: Mapped[list[list[str]]] = mapped_column(JSON)
    access_token_ttl: Mapped[int] = mapped_column(Integer)
    access_token_max_ttl: Mapped[int] = mapped_column(Integer)
    access_token_num_uses_limit: Mapped[int] = mapped_column(Integer)
    access_token_period: Mapped[int] = mapped_column(Integer)
    access_token_trusted_ips: Mapped[tuple[str, ...]] = mapped_column(Texts)
    lockout_enabled: Mapped[bool] = mapped_column(Boolean)
    lockout_threshold: Mapped[int] = mapped_column(Integer)
    lockout_duration_seconds: Mapped[int] = mapped_column(Integer)
    lockout_counter_reset_seconds: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)
