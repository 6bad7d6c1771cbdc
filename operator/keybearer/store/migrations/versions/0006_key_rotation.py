"""Rotation of keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create the tables; the first start after it notes the root key that wraps."""
    op.create_table(
        "root_keys",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("activated_at", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_root_keys"),
    )
    op.create_table(
        "key_holders",
        sa.Column("process_id", sa.String(length=36), nullable=False),
        sa.Column("root_key_id", sa.String(length=36), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("process_id", "root_key_id", name="pk_key_holders"),
    )
    op.create_table(
        "key_rotations",
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("phase", sa.String(length=16), nullable=False),
        sa.Column("after", sa.String(length=64), nullable=False),
        sa.Column("resealed", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_key_rotations_project_id_projects", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", name="pk_key_rotations"),
    )


def downgrade() -> None:
    """Drop the tables."""
    for table in ("key_rotations", "key_holders", "root_keys"):
        op.drop_table(table)
