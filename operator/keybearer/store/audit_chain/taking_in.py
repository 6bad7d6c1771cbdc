"""Conversion of the audit log: lines of an earlier version get a chain while the service works.

The register says whether there may be such lines (`takes_in`). They are chained in batches, the oldest first, so that
retention removes them in that order. Each batch is one transaction, with the new end of its chain: a process that is
killed leaves a whole chain, and the next process chains the rest. When no such line is left, and replicas of an
earlier version had an hour to end, the register says that no more may come. A line without a chain is a fault then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.audit import AuditRecord
from keybearer.store.audit_chain.register import Register, RegisterStore
from keybearer.store.audit_chain.walk import StoredLine, stored_line
from keybearer.store.audit_chain.writing import AuditWriter, Chain, ChainLostError, begin_chain, move_end
from keybearer.store.columns import as_stored, record_columns
from keybearer.store.tables.audit import AuditLogRow

__all__ = ["TakenIn", "begin_register", "take_in", "unchained_lines"]

_GRACE = timedelta(hours=1)
"""How long replicas of an earlier version may write lines: a rolling update takes less."""
_STORED = select(*(as_stored(column.expression) for column in record_columns(AuditLogRow, AuditRecord)))
_UNREADABLE = b""
"""What the MAC covers of a line with a value of another type. No line has this content, so it counts as changed."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """How far this process came with the conversion: the chain it writes, and the last line that it chained."""

    chain: Chain
    created_at: datetime
    record_id: str


async def begin_register(connection: AsyncConnection, writer: AuditWriter, *, is_first: bool) -> None:
    """Create the register if there is none; `is_first` says that this transaction made the key of the log.

    If the key existed before, or lines are chained already, somebody removed or changed the register. The new one
    notes that, and accepts no lines without a chain.
    """
    store, now = RegisterStore(connection, writer.keys), writer.clock.now()
    register = await store.locked(now)
    if register.revision:
        return
    if is_first and register.last_number == 0 and not await store.is_there():
        register = Register(began_at=now, takes_in=await _has_lines(connection))
    await store.store(register)


async def _has_lines(connection: AsyncConnection) -> bool:
    return (await connection.execute(select(AuditLogRow.id).limit(1))).first() is not None


async def unchained_lines(
    connection: AsyncConnection, *, limit: int, after: TakenIn | None = None, before: datetime | None = None
) -> list[StoredLine]:
    """Return lines without a chain, the oldest first: those that follow `after`, and are older than `before`."""
    # Adding 0 keeps databases from using the index of chains: for each batch, it would yield all lines without one.
    statement = _STORED.where((AuditLogRow.chain + 0).is_(None))
    if after is not None:
        statement = statement.where(
            AuditLogRow.created_at >= after.created_at,
            (AuditLogRow.created_at > after.created_at) | (AuditLogRow.id > after.record_id),
        )
    if before is not None:
        statement = statement.where(AuditLogRow.created_at < before)
    statement = statement.order_by(AuditLogRow.created_at, AuditLogRow.id).limit(limit)
    return [stored_line(AuditRecord(*row)) for row in await connection.execute(statement)]


async def take_in(
    connection: AsyncConnection, writer: AuditWriter, place: TakenIn | None, limit: int
) -> TakenIn | None:
    """Chain up to `limit` lines that follow the place, or the oldest ones without a place; None if there are none.

    If there are none at all, and the hour is over, the register says that no more may come.
    """
    store, now = RegisterStore(connection, writer.keys), writer.clock.now()
    register = await store.locked(now)
    if not register.takes_in:
        return None
    lines = await unchained_lines(connection, limit=limit, after=place)
    if not lines:
        if place is None and now - register.began_at >= _GRACE:
            await store.store(replace(register, takes_in=False))
        return None
    chain = await _taken_in(connection, writer, None if place is None else place.chain, lines)
    last = lines[-1].record
    return TakenIn(chain, last.created_at, last.id)


async def _taken_in(
    connection: AsyncConnection, writer: AuditWriter, chain: Chain | None, lines: Sequence[StoredLine]
) -> Chain:
    if chain is not None:
        try:
            return await _append(connection, writer, chain, lines)
        except ChainLostError:
            pass
    # Retention skips chains that began too recently to hold old lines, so this one begins with its oldest line.
    begun = await begin_chain(connection, writer, lost=chain, taken_in_since=lines[0].record.created_at)
    return await _append(connection, writer, begun, lines)


async def _append(
    connection: AsyncConnection, writer: AuditWriter, chain: Chain, lines: Sequence[StoredLine]
) -> Chain:
    contents = (_UNREADABLE if line.content is None else line.content for line in lines)
    longer, numbered = writer.extended(chain, contents)
    await move_end(connection, writer, chain, longer)
    number_them = (
        update(AuditLogRow)
        .where(AuditLogRow.id == bindparam("its_id"), AuditLogRow.chain.is_(None))
        .values(chain=chain.number, sequence=bindparam("its_sequence"), mac=bindparam("its_mac"))
    )
    rows = [
        {"its_id": line.record.id, "its_sequence": sequence, "its_mac": mac}
        for line, (sequence, mac) in zip(lines, numbered, strict=True)
    ]
    await connection.execute(number_them, rows)
    return longer
