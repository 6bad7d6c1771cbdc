"""How lines enter a chain: this process numbers them, calculates their MACs, and stores them with the new end.

One transaction at a time writes a chain. A process has as many chains as it has transactions that commit at the same
time, so that none waits for another. A transaction takes an idle chain when it is about to commit, and gives it back
afterwards. Lines and end are one statement of PostgreSQL, or one call of SQLite's thread.

A transaction that is rolled back leaves the chain as it was. If nobody knows whether a transaction was committed, the
process gives the chain up and begins another: the chain is whole either way.

The new end replaces the end that this process wrote last, and no other. A process that finds another end, or none,
notes in the register that somebody edited the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from sqlalchemy import insert, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.clock import Clock
from keybearer.base.errors import KeybearerError
from keybearer.base.logs import get_logger
from keybearer.store.audit import AUDIT_ROWS, AuditRecord
from keybearer.store.audit_chain.macs import AuditKeys, content_of
from keybearer.store.audit_chain.register import ChainEntry, Fault, FaultKind, Register, RegisterStore
from keybearer.store.columns import as_stored, number_in
from keybearer.store.failures import RaceError
from keybearer.store.many_rows import DriverRow
from keybearer.store.sqlite_connection import SqliteConnection
from keybearer.store.tables.audit import AuditChainRow, AuditLogRow

__all__ = ["AuditWriter", "Chain", "ChainLostError", "append", "append_with", "begin_chain", "move_end"]

_MOVE = (
    "UPDATE audit_chains SET sequence = {}, mac = {}, end_mac = {} "
    "WHERE number = {} AND sequence = {} AND mac = {}"
)
_SQLITE_MOVE = _MOVE.format(*"??????")
_POSTGRES_MOVE = _MOVE.format(*(f"${number}" for number in range(1, 7)))
_log = get_logger(__name__)


class ChainLostError(KeybearerError):
    """The chain doesn't end where this process left it."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(
            f"chain {chain.number} of the audit log doesn't end where this process left it, at line {chain.sequence}"
        )


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of this process, with its end after the last commit.

    Attributes:
        sequence: of its last line; 0 if it has none.
        mac: of that line; without one, the MAC before the first line.
        revision: of the register when the chain began.
    """

    number: int
    sequence: int
    mac: bytes
    revision: int


class AuditWriter:
    """The chains of this process."""

    def __init__(self, keys: AuditKeys, writer_id: str, clock: Clock) -> None:
        self.keys = keys
        self.writer_id = writer_id
        self.clock = clock
        self._idle: list[Chain] = []

    def take(self) -> Chain | None:
        """Return a chain that nobody else writes until it is given back; None if all are in use."""
        return self._idle.pop() if self._idle else None

    def give_back(self, chain: Chain) -> None:
        """Make the chain, with its present end, available to other transactions."""
        self._idle.append(chain)

    def extended(self, chain: Chain, contents: Iterable[bytes]) -> tuple[Chain, list[tuple[int, bytes]]]:
        """Return the chain with lines of these contents at its end, and the sequence number and MAC of each line."""
        sequence, mac, numbered = chain.sequence, chain.mac, []
        for content in contents:
            sequence += 1
            mac = self.keys.line(chain.number, sequence, mac, content)
            numbered.append((sequence, mac))
        return replace(chain, sequence=sequence, mac=mac), numbered


async def append(
    connection: AsyncConnection, writer: AuditWriter, chain: Chain, records: Sequence[AuditRecord]
) -> Chain:
    """Store the lines at the end of the chain, and return the longer chain.

    Raises:
        ChainLostError: it doesn't end where this process left it; nothing was stored.
        RaceError: on SQLite, somebody inserted a line with the number of the next one. PostgreSQL's driver says so
            by an error that means the same.
    """
    longer, move, rows = _statements(writer, chain, records)
    if connection.dialect.name == "postgresql":
        columns = [list(column) for column in zip(*rows, strict=True)]
        stored = await connection.exec_driver_sql(_postgres_statement(), (*move, *columns))
        if stored.rowcount != len(rows):
            raise ChainLostError(chain)
        return longer
    driver = (await connection.get_raw_connection()).driver_connection
    if not isinstance(driver, SqliteConnection):
        raise TypeError(f"expected a SqliteConnection of this package, not {type(driver).__name__}")

    def store(connection: sqlite3.Connection) -> sqlite3.Cursor:
        cursor = connection.cursor()
        _store(cursor, chain, move, rows)
        return cursor

    try:
        await driver.carried_out(store)
    except sqlite3.Error as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
            raise RaceError("a line of the audit log has the number of the next one; try again") from error
        # The type that SQLAlchemy raises for its own statements, which callers handle.
        raise DBAPIError(None, None, error) from error
    return longer


def append_with(
    writer: AuditWriter, chain: Chain, records: Sequence[AuditRecord]
) -> tuple[Chain, Callable[[sqlite3.Cursor], None]]:
    """Return the chain with these lines, and a function that stores them with SQLite's own driver.

    The function raises ChainLostError if the chain doesn't end where this process left it; it stores nothing then.
    """
    longer, move, rows = _statements(writer, chain, records)
    return longer, lambda cursor: _store(cursor, chain, move, rows)


async def move_end(connection: AsyncConnection, writer: AuditWriter, chain: Chain, longer: Chain) -> None:
    """Replace the chain's end with that of the longer chain, for lines that are stored already.

    Raises:
        ChainLostError: it doesn't end where this process left it; nothing was changed.
    """
    statement = _POSTGRES_MOVE if connection.dialect.name == "postgresql" else _SQLITE_MOVE
    moved = await connection.exec_driver_sql(statement, _move(writer, chain, longer))
    if moved.rowcount != 1:
        raise ChainLostError(chain)


def _move(writer: AuditWriter, chain: Chain, longer: Chain) -> DriverRow:
    """Return what `_MOVE` takes: the new end, and the end that it replaces."""
    end = writer.keys.end(longer.number, longer.sequence, longer.mac)
    return longer.sequence, longer.mac, end, chain.number, chain.sequence, chain.mac


def _statements(
    writer: AuditWriter, chain: Chain, records: Sequence[AuditRecord]
) -> tuple[Chain, DriverRow, list[DriverRow]]:
    """Return the longer chain, what `_MOVE` takes for it, and the rows of the lines."""
    longer, numbered = writer.extended(chain, map(content_of, records))
    rows = [
        AUDIT_ROWS.row(record, chain.number, sequence, mac)
        for record, (sequence, mac) in zip(records, numbered, strict=True)
    ]
    return longer, _move(writer, chain, longer), rows


def _store(cursor: sqlite3.Cursor, chain: Chain, move: DriverRow, rows: Sequence[DriverRow]) -> None:
    if cursor.execute(_SQLITE_MOVE, move).rowcount != 1:
        raise ChainLostError(chain)
    AUDIT_ROWS.insert_with(cursor, rows)


@cache
def _postgres_statement() -> str:
    """Return one statement for any number of lines: an array per column. With another end it stores nothing."""
    names = AUDIT_ROWS.names
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call] # SQLAlchemy's own
    kinds = [AuditLogRow.__table__.c[name].type.compile(dialect) for name in names]
    arrays = [
        f"${place}::{'TEXT' if kind == 'JSON' else kind}[]" for place, kind in enumerate(kinds, start=7)
    ]
    chosen = [
        f"line.{name}::JSON" if kind == "JSON" else f"line.{name}"
        for name, kind in zip(names, kinds, strict=True)
    ]
    lines = f"unnest({', '.join(arrays)}) AS line ({', '.join(names)})"
    chosen_lines = f"SELECT {', '.join(chosen)} FROM moved, {lines}"  # noqa: S608 - names of our columns
    moved = f"{_POSTGRES_MOVE} RETURNING number"
    return f"WITH moved AS ({moved}) {AUDIT_ROWS.head.removesuffix(' VALUES')} {chosen_lines}"


async def begin_chain(
    connection: AsyncConnection,
    writer: AuditWriter,
    lost: Chain | None = None,
    *,
    taken_in_since: datetime | None = None,
) -> Chain:
    """Register a new chain and return it.

    Args:
        connection: of a writing unit.
        writer: the process that writes it.
        lost: the chain that didn't end where this process left it.
        taken_in_since: for a chain of lines of an earlier version, when the first of them was written.
    """
    store, now = RegisterStore(connection, writer.keys), writer.clock.now()
    register = await store.locked(now)
    if lost is not None:
        register = await _after_loss(connection, writer, register, lost)
    number = await store.free_number(register)
    began_at = now if taken_in_since is None else taken_in_since
    start = writer.keys.beginning(number, writer.writer_id, began_at)
    entry = ChainEntry(number, writer.writer_id, began_at, start, is_taken_in=taken_in_since is not None)
    register = await store.store(register.with_entry(entry))
    await connection.execute(
        insert(AuditChainRow).values(
            number=number, sequence=0, mac=start, end_mac=writer.keys.end(number, 0, start)
        )
    )
    return Chain(number, 0, start, register.revision)


async def _after_loss(
    connection: AsyncConnection, writer: AuditWriter, register: Register, lost: Chain
) -> Register:
    """Return the register, with the loss of the chain noted if somebody edited the database."""
    entry = register.chains.get(lost.number)
    if entry is None and register.revision > lost.revision:
        return register  # retention ended it, because it was empty for longer than lines are kept
    columns = (AuditChainRow.sequence, AuditChainRow.mac, AuditChainRow.end_mac)
    statement = select(*(as_stored(column.expression) for column in columns)).where(
        AuditChainRow.number == lost.number
    )
    row = (await connection.execute(statement)).one_or_none()
    sequence, mac, end_mac = (None, None, None) if row is None else row
    reached = number_in(sequence)
    if (
        reached is not None
        and reached > lost.sequence
        and writer.keys.is_end(lost.number, reached, mac, end_mac)
    ):
        return register  # what seemed undone was committed after all
    _log.error("audit_log_was_altered", chain=lost.number, sequence=lost.sequence)
    fault = Fault(
        FaultKind.ROLLED_BACK,
        lost.number,
        writer.writer_id,
        reached if reached is not None and 0 <= reached <= lost.sequence else None,
        lost.sequence,
    )
    register = register.noting([fault], writer.clock.now())
    if entry is None:
        return register
    return register.with_entry(replace(entry, seen=max(entry.seen, lost.sequence)))
