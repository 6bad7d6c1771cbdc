"""Rows of one table that are stored by the dozen, as drivers take them.

SQLAlchemy converts each value of each row by itself, which for a certificate takes longer than to sign it. Here the
conversions of a table are looked up once, and a row is one tuple.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import JSON
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.columns import Instant, Texts, milliseconds

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from keybearer.store.tables.base import Row

__all__ = ["DriverRow", "DriverValue", "ManyRows"]

DriverValue = str | int | bool | bytes | None
DriverRow = tuple[DriverValue, ...]
_AT_ONCE = (32, 8, 1)
"""How many rows one statement of SQLite holds: few lengths, so that each is parsed once."""


class ManyRows:
    """Writes records of one kind into their table."""

    def __init__(self, table: type[Row], record: type[DataclassInstance], *beside: str) -> None:
        """Take the table, the record whose fields are columns of it, and the columns that no field holds."""
        own = [field.name for field in fields(record)]
        self.names = (*own, *beside)
        self._table = table.__tablename__
        self._read: Callable[[object], tuple[Any, ...]] = attrgetter(*own)
        self._converted = tuple(
            (place, convert)
            for place, name in enumerate(own)
            if (convert := _conversion(getattr(table, name).type)) is not None
        )

    def row(self, record: DataclassInstance, *beside: DriverValue) -> DriverRow:
        """Return the record as drivers take it, with what stands beside it."""
        values = [*self._read(record), *beside]
        for place, convert in self._converted:
            values[place] = convert(values[place])
        return tuple(values)

    async def insert(self, connection: AsyncConnection, rows: Sequence[DriverRow]) -> None:
        """Store the rows."""
        mark = "${}" if connection.dialect.name == "postgresql" else "?"
        marks = ", ".join(mark.format(number) for number in range(1, len(self.names) + 1))
        await connection.exec_driver_sql(f"{self.head} ({marks})", list(rows))

    def insert_with(self, cursor: sqlite3.Cursor, rows: Sequence[DriverRow]) -> None:
        """Store the rows by SQLite's own driver; many in one statement, within which other threads run."""
        line = f"({', '.join('?' * len(self.names))})"
        for piece in _pieces(rows):
            values = [value for row in piece for value in row]
            cursor.execute(f"{self.head} {', '.join([line] * len(piece))}", values)

    @property
    def head(self) -> str:
        """What a statement that stores rows begins with."""
        return f"INSERT INTO {self._table} ({', '.join(self.names)}) VALUES"


def _pieces(rows: Sequence[DriverRow]) -> Iterator[Sequence[DriverRow]]:
    start = 0
    for size in _AT_ONCE:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size


def _conversion(kind: object) -> Callable[[Any], DriverValue] | None:
    if isinstance(kind, Instant):
        return _written_instant
    return _written_json if isinstance(kind, (JSON, Texts)) else None


def _written_instant(instant: datetime | None) -> int | None:
    return None if instant is None else milliseconds(instant)


def _written_json(content: object) -> str:
    # Of nothing as well: a column of JSON holds its null, as SQLAlchemy writes it.
    return orjson.dumps(content, default=dict).decode()
