"""Rotation of keys."""

from __future__ import annotations

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Change nothing yet."""


def downgrade() -> None:
    """Change nothing back."""
