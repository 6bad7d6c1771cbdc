"""What is stored is bound to its place: sums of marks beside folders and projects, and where versions were."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0023"
down_revision: str | None = "0022"
branch_labels: str | None = None
depends_on: str | None = None

_ADDED = (
    ("projects", "places", sa.LargeBinary()),
    ("folders", "seal", sa.LargeBinary()),
    ("secret_versions", "folder_id", sa.String(length=36)),
)


def upgrade() -> None:
    """Add the columns. The service fills them when it runs, since that needs its keys; see `seal_conversion`."""
    for table, name, kind in _ADDED:
        op.add_column(table, sa.Column(name, kind))
    # Processes of earlier versions don't say this of themselves.
    op.add_column(
        "key_holders", sa.Column("keeps_marks", sa.Boolean(), nullable=False, server_default=sa.false())
    )


def downgrade() -> None:
    """Drop them. What was sealed since then doesn't open for an earlier version."""
    op.drop_column("key_holders", "keeps_marks")
    for table, name, _ in reversed(_ADDED):
        op.drop_column(table, name)
