"""Former places of secret syncs, with what is still to be removed there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0012"
down_revision: str | None = "0011"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create the tables, empty: what earlier versions left at former places, no ledger knows."""
    op.create_table(
        "sync_former_places",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("sync_id", sa.String(length=36), nullable=False),
        sa.Column("connection_id", sa.String(length=36), nullable=False),
        sa.Column("destination_config", sa.JSON(), nullable=False),
        sa.Column("destination_digest", sa.String(length=64), nullable=False),
        sa.Column("sync_options", sa.JSON(), nullable=False),
        sa.Column("environment", sa.String(length=64)),
        sa.Column("is_apart", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_attempt_at", sa.BigInteger(), nullable=False),
        sa.Column("message", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sync_id"],
            ["secret_syncs.id"],
            name="fk_sync_former_places_sync_id_secret_syncs",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["app_connections.id"],
            name="fk_sync_former_places_connection_id_app_connections",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sync_former_places"),
    )
    for column in ("sync_id", "connection_id"):
        op.create_index(f"ix_sync_former_places_{column}", "sync_former_places", [column])
    op.create_table(
        "sync_former_pushes",
        sa.Column("place_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("remote_version", sa.Text()),
        sa.ForeignKeyConstraint(
            ["place_id"],
            ["sync_former_places.id"],
            name="fk_sync_former_pushes_place_id_sync_former_places",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("place_id", "name", name="pk_sync_former_pushes"),
    )


def downgrade() -> None:
    """Drop the tables; what is still at former places stays there. Jobs of the kind that is new go as well."""
    op.execute("DELETE FROM sync_jobs WHERE kind = 'look'")
    op.drop_table("sync_former_pushes")
    op.drop_table("sync_former_places")
