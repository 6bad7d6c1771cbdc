"""Users: what a person has beside the identity that memberships, grants and tokens speak of."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Integer, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Uuid
from keybearer.store.tables.base import Row

__all__ = ["LoginFailureRow", "UserRow"]


class UserRow(Row):
    """A user. `email` is in lower case; of the password only the argon2id hash, with its salt and costs."""

    __tablename__ = "users"

    identity_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("identities.id", ondelete="CASCADE"), primary_key=True
    )
    email: Mapped[str] = mapped_column(String(254), unique=True)
    first_name: Mapped[str | None] = mapped_column(String(64))
    last_name: Mapped[str | None] = mapped_column(String(64))
    password_hash: Mapped[str] = mapped_column(String(255))
    password_changed_at: Mapped[datetime] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class LoginFailureRow(Row):
    """Failed logins to one account from one source. Who has no account is counted alike: a lockout tells nobody.

    Invitations of emails that nobody has are counted here as well, by who invites.
    `digest` and `account` are keyed: what was typed into the field of the email may have been a password.
    """

    __tablename__ = "login_failures"
    __table_args__ = (Index(None, "expires_at"), Index(None, "account"))

    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    account: Mapped[bytes] = mapped_column(LargeBinary)
    failures: Mapped[int] = mapped_column(Integer)
    last_failure_at: Mapped[datetime | None] = mapped_column(Instant)
    slow_failures: Mapped[int] = mapped_column(Integer)
    slow_since: Mapped[datetime | None] = mapped_column(Instant)
    locked_until: Mapped[datetime | None] = mapped_column(Instant)
    expires_at: Mapped[datetime] = mapped_column(Instant)
