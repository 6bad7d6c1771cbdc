"""Revisions follow the clock, which takes eight bytes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0010"
down_revision: str | None = "0009"
branch_labels: str | None = None
depends_on: str | None = None

_REVISIONS = (
    ("projects", "revision"),
    ("organizations", "names_revision"),
    ("identities", "permission_revision"),
)


def upgrade() -> None:
    """Widen the columns. SQLite keeps eight bytes of any integer."""
    if op.get_bind().dialect.name == "postgresql":
        for table, column in _REVISIONS:
            op.alter_column(table, column, type_=sa.BigInteger(), existing_nullable=False)


def downgrade() -> None:
    """Count from one again, in columns of four bytes: who keeps a tag of a list may take it for the newest."""
    for table, column in _REVISIONS:
        op.execute(sa.text(f"UPDATE {table} SET {column} = 1"))  # noqa: S608 - our own names
        if op.get_bind().dialect.name == "postgresql":
            op.alter_column(table, column, type_=sa.Integer(), existing_nullable=False)
