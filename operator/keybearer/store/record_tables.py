"""Tables that their records declare, and what each repository of such a table does.

A field of the record is a column. Its annotation has the type of the column, and what else there is to say of it:

    id: Annotated[str, Uuid, PRIMARY]
    project_id: Annotated[ProjectId, Uuid, ForeignKey("projects.id", ondelete="CASCADE")]
    color: Annotated[str | None, String(32)]

A column takes nulls if the field takes None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_type_hints

from sqlalchemy import Column, ColumnElement, ForeignKey, Select, Table, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import SchemaItem

from keybearer.store.tables.base import Row

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["PRIMARY", "Records", "table_of"]

Record = TypeVar("Record", bound="DataclassInstance")


PRIMARY = "part of the primary key"
"""Annotates a field of a record."""


def table_of(record: type[DataclassInstance], name: str, *items: SchemaItem) -> Table:
    """Return the table of a record, with its columns in the order of the fields.

    Args:
        record: a dataclass, annotated as above.
        name: of the table.
        items: constraints and indexes of more than one column.
    """
    hints = get_type_hints(record, include_extras=True)
    columns = [_column(field.name, hints[field.name]) for field in fields(record)]
    return Table(name, Row.metadata, *columns, *items)


def _column(name: str, annotation: Any) -> Column[Any]:  # noqa: ANN401 - annotations have no type of their own
    kind, of_column, *others = get_args(annotation)
    return Column(
        name,
        of_column,
        *(one for one in others if isinstance(one, ForeignKey)),
        primary_key=PRIMARY in others,
        nullable=type(None) in get_args(kind),
    )


class Records(Generic[Record]):
    """Repository of a table whose rows are known by `id`."""

    def __init__(self, connection: AsyncConnection, record: type[Record], table: Table) -> None:
        self._connection = connection
        self._record = record
        self._table = table

    async def add(self, record: Record) -> None:
        """Store a new record."""
        await self._connection.execute(insert(self._table), asdict(record))

    async def update(self, record: Record) -> None:
        """Store what the record is now."""
        values = asdict(record)
        statement = update(self._table).where(self._table.c.id == values.pop("id")).values(values)
        await self._connection.execute(statement)

    async def delete(self, record_id: str) -> None:
        """Remove the record, and whatever the database removes with it."""
        await self._connection.execute(delete(self._table).where(self._table.c.id == record_id))

    async def found(
        self, *conditions: ColumnElement[bool], by: Sequence[ColumnElement[Any]] = ()
    ) -> list[Record]:
        """Return the records that meet all conditions, in the order of some columns."""
        statement = _all_of(self._table).where(*conditions).order_by(*by)
        return [self._record(*row) for row in await self._connection.execute(statement)]

    async def one(self, *conditions: ColumnElement[bool]) -> Record | None:
        """Return the record that meets all conditions, or None; no two do."""
        row = (await self._connection.execute(_all_of(self._table).where(*conditions))).one_or_none()
        return None if row is None else self._record(*row)


@cache
def _all_of(table: Table) -> Select[*tuple[Any, ...]]:
    return select(table)
