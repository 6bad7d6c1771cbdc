"""Column types that read the same on SQLite and PostgreSQL, and the bridge from tables to records."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    Dialect,
    Integer,
    Select,
    String,
    Text,
    bindparam,
    case,
    select,
    type_coerce,
)
from sqlalchemy.types import NullType, TypeDecorator

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from sqlalchemy.orm import InstrumentedAttribute

    from keybearer.store.tables.base import Row

__all__ = [
    "Instant",
    "OrderedText",
    "Revision",
    "Texts",
    "Uuid",
    "as_stored",
    "instant_of",
    "milliseconds",
    "moved",
    "number_in",
    "reached",
    "record_columns",
    "select_record",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MICROSECOND = timedelta(microseconds=1)


class Instant(TypeDecorator[datetime]):
    """An aware UTC instant kept as milliseconds since 1970: SQLite has no type that keeps the offset."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Return the whole milliseconds."""
        return None if value is None else milliseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - same
        """Return the instant."""
        return None if value is None else instant_of(value)


class Texts(TypeDecorator[tuple[str, ...]]):
    """A short list of texts, as JSON."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> list[str] | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Return the list that JSON knows."""
        return None if value is None else list(value)

    def process_result_value(self, value: list[str] | None, dialect: Dialect) -> tuple[str, ...] | None:  # noqa: ARG002 - same
        """Return the texts, unchangeable."""
        return None if value is None else tuple(value)


Uuid = String(36)
"""A UUID as text: the interface speaks of them as strings everywhere."""

OrderedText = Text().with_variant(Text(collation="C"), "postgresql")
"""A text that compares by code point on both databases, so that a subtree of paths is one range."""

Revision = BigInteger().with_variant(Integer, "sqlite")
"""A number that only grows; see `moved`. SQLite keeps eight bytes of any integer."""


def moved(revision: InstrumentedAttribute[int]) -> ColumnElement[int]:
    """Return the next revision: what `reached` says, or one more where it is that far already.

    `reached(now)` is bound in the statement.

    Counting by one would, after a backup was restored, come by the same numbers again with other contents behind
    them, and what somebody keeps of the time in between would pass for the newest.
    """
    by_the_clock = bindparam("reached", type_=revision.type)
    return case((revision < by_the_clock, by_the_clock), else_=revision + 1)


def reached(now: datetime) -> dict[str, int]:
    """Return the parameter of `moved`: the microseconds from 1970 to now."""
    return {"reached": (now - _EPOCH) // _MICROSECOND}


def milliseconds(instant: datetime) -> int:
    """Return the whole milliseconds from 1970 to the instant."""
    return (instant - _EPOCH) // _MILLISECOND


def as_stored(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column without conversion: in SQLite, an edited row can hold any type of value."""
    return type_coerce(column, NullType())


def number_in(stored: object) -> int | None:
    """Return the stored whole number; None if the column holds nothing, or a value of another type."""
    return stored if isinstance(stored, int) else None


def instant_of(milliseconds: int) -> datetime:
    """Return the instant that is so many milliseconds after the beginning of 1970."""
    return _EPOCH + milliseconds * _MILLISECOND


def record_columns(row: type[Row], record: type[DataclassInstance]) -> list[Any]:
    """Return the table's columns in the order of the record's fields."""
    return [getattr(row, field.name) for field in fields(record)]


def select_record(row: type[Row], record: type[DataclassInstance]) -> Select[*tuple[Any, ...]]:
    """Return a select of the table's columns in the order of the record's fields: `record(*row)` reads it."""
    return select(*record_columns(row, record))
