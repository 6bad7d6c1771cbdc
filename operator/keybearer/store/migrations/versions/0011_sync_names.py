"""Names of secret syncs that failed or are others', and jobs that wait because their remote asked for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0011"
down_revision: str | None = "0010"
branch_labels: str | None = None
depends_on: str | None = None

_INSTANTS = ("parked_until", "hastened_at")


def upgrade() -> None:
    """Create the table, and widen that of jobs."""
    op.create_table(
        "sync_names",
        sa.Column("sync_id", sa.String(length=36), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("message", sa.Text()),
        sa.Column("noted_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sync_id"], ["secret_syncs.id"], name="fk_sync_names_sync_id_secret_syncs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("sync_id", "state", "name", name="pk_sync_names"),
    )
    for column in _INSTANTS:
        op.add_column("sync_jobs", sa.Column(column, sa.BigInteger()))
    op.add_column(
        "sync_jobs", sa.Column("is_urgent", sa.Boolean(), nullable=False, server_default=sa.false())
    )


def downgrade() -> None:
    """Drop them."""
    for column in (*_INSTANTS, "is_urgent"):
        op.drop_column("sync_jobs", column)
    op.drop_table("sync_names")
