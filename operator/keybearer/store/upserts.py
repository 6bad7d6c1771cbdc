"""Statements that insert rows, and change those that are there already: one way to the database instead of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from keybearer.store.tables.base import Row

__all__ = ["upserted"]


def upserted(dialect: str, row: type[Row]) -> postgresql.Insert | sqlite.Insert:
    """Return an insert into the table whose `on_conflict_do_update` a database of this dialect understands."""
    return postgresql.insert(row) if dialect == "postgresql" else sqlite.insert(row)
