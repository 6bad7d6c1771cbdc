"""Names of secret syncs that failed or are others', and jobs that wait because their remote asked for it.

Pushes that earlier versions gave up wait again: from this version on, none is given up.
"""

from __future__ import annotations

from uuid import uuid4

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0011"
down_revision: str | None = "0010"
branch_labels: str | None = None
depends_on: str | None = None

_INSTANTS = ("parked_until", "hastened_at")


def upgrade() -> None:
    """Create the table, widen that of jobs, and queue what was given up."""
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
    _queue_given_up(op.get_bind())


def _queue_given_up(connection: sa.Connection) -> None:
    """Have failed pushes wait that changes of their source would set off, and for which nothing waits or runs."""
    syncs = sa.table(
        "secret_syncs",
        *(sa.column(name) for name in ("id", "connection_id", "folder_id", "sync_status", "updated_at")),
        sa.column("is_auto_sync_enabled", sa.Boolean()),
    )
    jobs = sa.table(
        "sync_jobs",
        *(
            sa.column(name)
            for name in ("id", "sync_id", "connection_id", "kind", "attempt", "due_at", "created_at")
        ),
        sa.column("is_running", sa.Boolean()),
        sa.column("parameters", sa.JSON()),
    )
    given_up = sa.select(syncs.c.id, syncs.c.connection_id, syncs.c.updated_at).where(
        syncs.c.sync_status == "failed",
        syncs.c.is_auto_sync_enabled.is_(True),
        syncs.c.folder_id.is_not(None),
        syncs.c.id.not_in(sa.select(jobs.c.sync_id)),
    )
    for sync_id, connection_id, since in connection.execute(given_up).all():
        connection.execute(
            jobs.insert().values(
                id=str(uuid4()),
                sync_id=sync_id,
                connection_id=connection_id,
                kind="sync",
                is_running=False,
                attempt=0,
                parameters={},
                due_at=since,
                created_at=since,
            )
        )
        connection.execute(syncs.update().where(syncs.c.id == sync_id).values(sync_status="pending"))


def downgrade() -> None:
    """Drop them."""
    for column in (*_INSTANTS, "is_urgent"):
        op.drop_column("sync_jobs", column)
    op.drop_table("sync_names")
