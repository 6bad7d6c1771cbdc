"""Users, who stand beside machine identities."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Tell users from machine identities, which all are that exist so far, and make their tables."""
    op.add_column(
        "identities", sa.Column("kind", sa.String(length=16), nullable=False, server_default="machine")
    )
    op.create_table(
        "users",
        sa.Column("identity_id", sa.String(length=36), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("first_name", sa.String(length=64), nullable=True),
        sa.Column("last_name", sa.String(length=64), nullable=True),
        sa.Column("password_hash", sa.String(length=255), nullable=False),
        sa.Column("password_changed_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["identity_id"], ["identities.id"], name="fk_users_identity_id_identities", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("identity_id", name="pk_users"),
        sa.UniqueConstraint("email", name="uq_users_email"),
    )
    op.create_table(
        "login_failures",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failure_at", sa.BigInteger(), nullable=True),
        sa.Column("locked_until", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_login_failures"),
    )
    op.create_index("ix_login_failures_expires_at", "login_failures", ["expires_at"])
    personal = sa.text("owner <> ''")
    op.create_index(
        "ix_secrets_owner", "secrets", ["owner"], sqlite_where=personal, postgresql_where=personal
    )


def downgrade() -> None:
    """Drop the tables, and with the column what told users from machine identities: users go."""
    op.drop_index("ix_secrets_owner", "secrets")
    op.drop_index("ix_login_failures_expires_at", "login_failures")
    op.drop_table("login_failures")
    op.drop_table("users")
    op.execute("DELETE FROM identities WHERE kind = 'user'")
    op.drop_column("identities", "kind")
