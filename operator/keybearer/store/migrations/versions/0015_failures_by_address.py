"""Failed logins are counted by account and address."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0015"
down_revision: str | None = "0014"
branch_labels: str | None = None
depends_on: str | None = None

_COUNTED = ("universal_auths", "ldap_auths")


def upgrade() -> None:
    """Begin all counts anew: those so far locked an account for every address, for minutes at most."""
    _drop_failures()
    op.create_table(
        "login_failures",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("account", sa.LargeBinary(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failure_at", sa.BigInteger()),
        sa.Column("slow_failures", sa.Integer(), nullable=False),
        sa.Column("slow_since", sa.BigInteger()),
        sa.Column("locked_until", sa.BigInteger()),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_login_failures"),
    )
    op.create_index("ix_login_failures_expires_at", "login_failures", ["expires_at"])
    op.create_index("ix_login_failures_account", "login_failures", ["account"])
    for table in _COUNTED:
        for column in ("failures", "last_failure_at", "locked_until"):
            op.drop_column(table, column)


def downgrade() -> None:
    """Count by account alone, from nothing."""
    op.drop_index("ix_login_failures_account", "login_failures")
    _drop_failures()
    op.create_table(
        "login_failures",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failure_at", sa.BigInteger()),
        sa.Column("locked_until", sa.BigInteger()),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_login_failures"),
    )
    op.create_index("ix_login_failures_expires_at", "login_failures", ["expires_at"])
    for table in _COUNTED:
        op.add_column(table, sa.Column("failures", sa.Integer(), nullable=False, server_default="0"))
        op.add_column(table, sa.Column("last_failure_at", sa.BigInteger()))
        op.add_column(table, sa.Column("locked_until", sa.BigInteger()))


def _drop_failures() -> None:
    op.drop_index("ix_login_failures_expires_at", "login_failures")
    op.drop_table("login_failures")
