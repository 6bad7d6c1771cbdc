"""The audit log is a chain."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0022"
down_revision: str | None = "0021"
branch_labels: str | None = None
depends_on: str | None = None

_INDEX = "ix_audit_log_chain_sequence"


def upgrade() -> None:
    """Add the place of lines in chains. Lines that are there have none: the service chains them while it works."""
    for column in (
        sa.Column("chain", sa.Integer()),
        sa.Column("sequence", sa.BigInteger()),
        sa.Column("mac", sa.LargeBinary()),
    ):
        op.add_column("audit_log", column)
    op.create_index(_INDEX, "audit_log", ["chain", "sequence"], unique=True)
    op.create_table(
        "audit_chains",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=False),
        sa.Column("end_mac", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_audit_chains"),
    )
    op.create_table(
        "audit_register",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_register"),
    )


def downgrade() -> None:
    """Drop it, and its key, so that chains may begin again; lines stay."""
    op.execute("DELETE FROM server_keys WHERE name = 'audit log'")
    op.drop_table("audit_register")
    op.drop_table("audit_chains")
    op.drop_index(_INDEX, "audit_log")
    for column in ("mac", "sequence", "chain"):
        op.drop_column("audit_log", column)
