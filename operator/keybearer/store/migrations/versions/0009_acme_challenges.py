"""Answers to challenges of certificate authorities elsewhere, as long as these may look at them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0009"
down_revision: str | None = "0008"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "acme_challenges",
        sa.Column("token", sa.String(length=128), nullable=False),
        sa.Column("request_id", sa.String(length=36), nullable=False),
        sa.Column("key_authorization", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"],
            ["certificate_requests.id"],
            name="fk_acme_challenges_request_id_certificate_requests",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("token", name="pk_acme_challenges"),
    )
    op.create_index("ix_acme_challenges_request_id", "acme_challenges", ["request_id"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_index("ix_acme_challenges_request_id", table_name="acme_challenges")
    op.drop_table("acme_challenges")
