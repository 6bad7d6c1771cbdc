"""Imports of folders."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None

_ORDERED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "secret_imports",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("folder_id", sa.String(length=36), nullable=False),
        sa.Column("environment_id", sa.String(length=36), nullable=False),
        sa.Column("path", _ORDERED, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("is_replication", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["folders.id"], name="fk_secret_imports_folder_id_folders", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["environment_id"],
            ["environments.id"],
            name="fk_secret_imports_environment_id_environments",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_secret_imports"),
    )
    op.create_index("ix_secret_imports_folder_id", "secret_imports", ["folder_id"])
    op.create_index("ix_secret_imports_environment_id_path", "secret_imports", ["environment_id", "path"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("secret_imports")
