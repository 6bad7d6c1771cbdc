"""Since when secret syncs have changes that aren't pushed, and how many names are left."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0013"
down_revision: str | None = "0012"
branch_labels: str | None = None
depends_on: str | None = None

_INDEX = "ix_secret_syncs_destination_unpushed"
_WAITS = "SELECT min(created_at) FROM sync_jobs WHERE sync_id = secret_syncs.id AND kind = 'sync'"
"""When the push of a sync was queued, in milliseconds."""


def upgrade() -> None:
    """Add the columns. Where a push failed for good, the change counts from the last success, or the creation."""
    op.add_column("secret_syncs", sa.Column("unpushed_since", sa.BigInteger()))
    op.add_column(
        "secret_syncs", sa.Column("unpushed_keys", sa.Integer(), nullable=False, server_default="0")
    )
    op.execute(f"UPDATE secret_syncs SET unpushed_since = ({_WAITS})")  # noqa: S608 - our own text
    op.execute(
        "UPDATE secret_syncs SET unpushed_since = coalesce(last_synced_at, created_at) "
        "WHERE unpushed_since IS NULL AND sync_status = 'failed'"
    )
    op.create_index(_INDEX, "secret_syncs", ["destination", "unpushed_since", "unpushed_keys"])


def downgrade() -> None:
    """Drop them."""
    op.drop_index(_INDEX, "secret_syncs")
    for column in ("unpushed_since", "unpushed_keys"):
        op.drop_column("secret_syncs", column)
