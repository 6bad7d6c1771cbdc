"""Who may use app connections, and who may bind profiles to certificate policies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from keybearer.base.logs import get_logger

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0020"
down_revision: str | None = "0018"
branch_labels: str | None = None
depends_on: str | None = None

_log = get_logger(__name__)


def upgrade() -> None:
    """Keep connections for the projects that use them now, and policies for the profiles that have them."""
    for column in ("allowed_project_ids", "allowed_places"):
        op.add_column("app_connections", sa.Column(column, sa.JSON()))


def downgrade() -> None:
    """Drop it."""
    for column in ("allowed_project_ids", "allowed_places"):
        op.drop_column("app_connections", column)
