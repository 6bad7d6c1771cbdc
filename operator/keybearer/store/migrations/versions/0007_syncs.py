"""App connections, secret syncs, their jobs and the push ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0007"
down_revision: str | None = "0006"
branch_labels: str | None = None
depends_on: str | None = None

_WHOLE_ORGANIZATION, _ONE_PROJECT = sa.text("project_id IS NULL"), sa.text("project_id IS NOT NULL")


def upgrade() -> None:
    """Create the tables."""
    _create_connections()
    _create_syncs()
    _create_jobs()
    op.create_table(
        "sync_pushes",
        sa.Column("sync_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("remote_version", sa.Text()),
        sa.ForeignKeyConstraint(
            ["sync_id"], ["secret_syncs.id"], name="fk_sync_pushes_sync_id_secret_syncs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("sync_id", "name", name="pk_sync_pushes"),
    )


def _create_connections() -> None:
    op.create_table(
        "app_connections",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36)),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("app", sa.String(length=64), nullable=False),
        sa.Column("method", sa.String(length=64), nullable=False),
        sa.Column("credentials", sa.LargeBinary(), nullable=False),
        sa.Column("credentials_hash", sa.String(length=64), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("is_auto_rotation_enabled", sa.Boolean(), nullable=False),
        sa.Column("rotation_interval_days", sa.Integer()),
        sa.Column("rotation_hour", sa.Integer()),
        sa.Column("rotation_minute", sa.Integer()),
        sa.Column("rotation_status", sa.String(length=16)),
        sa.Column("last_rotation_message", sa.Text()),
        sa.Column("next_rotation_at", sa.BigInteger()),
        sa.Column("rotation_held_until", sa.BigInteger()),
        sa.Column("retiring", sa.LargeBinary()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_app_connections_organization_id_organizations",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_app_connections_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_app_connections"),
    )
    for owner, condition in (("organization", _WHOLE_ORGANIZATION), ("project", _ONE_PROJECT)):
        op.create_index(
            f"uq_app_connections_name_of_{owner}",
            "app_connections",
            [f"{owner}_id", "name"],
            unique=True,
            sqlite_where=condition,
            postgresql_where=condition,
        )


def _create_syncs() -> None:
    progress = [
        column
        for kind, last in (("sync", "synced"), ("import", "imported"), ("remove", "removed"))
        for column in (
            sa.Column(f"{kind}_status", sa.String(length=16)),
            sa.Column(f"last_{kind}_job_id", sa.String(length=36)),
            sa.Column(f"last_{kind}_message", sa.Text()),
            sa.Column(f"last_{last}_at", sa.BigInteger()),
        )
    ]
    op.create_table(
        "secret_syncs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("folder_id", sa.String(length=36)),
        sa.Column("connection_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("is_auto_sync_enabled", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("destination", sa.String(length=64), nullable=False),
        sa.Column("destination_config", sa.JSON(), nullable=False),
        sa.Column("destination_digest", sa.String(length=64), nullable=False),
        sa.Column("sync_options", sa.JSON(), nullable=False),
        *progress,
        sa.Column("source_digest", sa.LargeBinary()),
        sa.Column("reached", sa.JSON()),
        sa.Column("is_settled", sa.Boolean(), nullable=False),
        sa.Column("listed_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_secret_syncs_project_id_projects", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["folders.id"], name="fk_secret_syncs_folder_id_folders", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["connection_id"], ["app_connections.id"], name="fk_secret_syncs_connection_id_app_connections"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_secret_syncs"),
        sa.UniqueConstraint("project_id", "name", name="uq_secret_syncs_project_id_name"),
    )
    for column in ("folder_id", "connection_id", "destination_digest"):
        op.create_index(f"ix_secret_syncs_{column}", "secret_syncs", [column])


def _create_jobs() -> None:
    op.create_table(
        "sync_jobs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("sync_id", sa.String(length=36), nullable=False),
        sa.Column("connection_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("is_running", sa.Boolean(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("claimed_by", sa.String(length=36)),
        sa.Column("lease_ends_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sync_id"], ["secret_syncs.id"], name="fk_sync_jobs_sync_id_secret_syncs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sync_jobs"),
        sa.UniqueConstraint("sync_id", "kind", "is_running", name="uq_sync_jobs_sync_id_kind_is_running"),
    )
    op.create_index("ix_sync_jobs_is_running_due_at", "sync_jobs", ["is_running", "due_at"])


def downgrade() -> None:
    """Drop the tables."""
    for table in ("sync_pushes", "sync_jobs", "secret_syncs", "app_connections"):
        op.drop_table(table)
