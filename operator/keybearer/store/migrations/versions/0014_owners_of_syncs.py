"""Whose rights a secret sync reads and writes with."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from keybearer.base.logs import get_logger

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0014"
down_revision: str | None = "0013"
branch_labels: str | None = None
depends_on: str | None = None

_log = get_logger(__name__)

_AT_ONCE = 500


def upgrade() -> None:
    """Add the column: who created a sync owns it, else who changed it last, as far as the audit log tells."""
    op.add_column("secret_syncs", sa.Column("owner_id", sa.String(length=36)))
    op.create_index("ix_secret_syncs_owner_id", "secret_syncs", ["owner_id"])
    connection = op.get_bind()
    syncs = sa.table("secret_syncs", sa.column("id"), sa.column("name"), sa.column("owner_id"))
    owners = _owners(connection)
    rows = [{"sync": sync, "owner": owner} for sync, owner in owners.items()]
    for start in range(0, len(rows), _AT_ONCE):
        connection.execute(
            sa.update(syncs).where(syncs.c.id == sa.bindparam("sync")).values(owner_id=sa.bindparam("owner")),
            rows[start : start + _AT_ONCE],
        )
    # What nobody owns is pushed no more, and what was pushed stays: say so once, where the upgrade is watched.
    for sync, name in connection.execute(
        sa.select(syncs.c.id, syncs.c.name).where(syncs.c.owner_id.is_(None)).order_by(syncs.c.name)
    ):
        _log.warning("secret_sync_has_no_owner", sync_id=sync, name=name)


def _owners(connection: sa.Connection) -> dict[str, str]:
    """Return the owners that the audit log tells of, by the id of the sync."""
    identities = sa.table("identities", sa.column("id"))
    log = sa.table(
        "audit_log",
        sa.column("created_at"),
        sa.column("actor_id"),
        sa.column("event_type"),
        sa.column("details"),
    )
    told = connection.execute(
        sa.select(log.c.event_type, log.c.actor_id, sa.cast(log.c.details, sa.Text))
        .where(log.c.event_type.in_(("create-secret-sync", "update-secret-sync")))
        .where(log.c.actor_id.in_(sa.select(identities.c.id)))
        .order_by(log.c.created_at)
    )
    created: dict[str, str] = {}
    changed: dict[str, str] = {}
    for kind, actor, details in told:
        sync = json.loads(details).get("syncId")
        if isinstance(sync, str):
            (created if kind == "create-secret-sync" else changed)[sync] = actor
    return changed | created


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_secret_syncs_owner_id", "secret_syncs")
    op.drop_column("secret_syncs", "owner_id")
