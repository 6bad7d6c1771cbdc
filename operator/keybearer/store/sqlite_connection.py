"""Connections to SQLite on which a statement goes to the connection's thread once and comes back with its rows.

The driver goes there four times for each: to make a cursor, to execute, to fetch, and to close the cursor. SQLAlchemy
wants all rows at once in any case, and a request of six statements spent most of its time on these ways.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Self

import aiosqlite

__all__ = ["SqliteConnection", "open_sqlite"]

_Row = tuple[object, ...]
_ITERATED_AT_ONCE = 64
"""The driver's default; nothing is iterated here."""


def open_sqlite(path: str, *, busy: timedelta, query_only: bool) -> sqlite3.Connection:
    """Return a connection that opens no transactions by itself; to be used in the thread that opened it.

    Args:
        path: of the file.
        busy: how long SQLite itself waits for a lock.
        query_only: whether it may not write.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA busy_timeout = {int(busy.total_seconds() * 1000)}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA query_only = ON" if query_only else "PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    return connection


class SqliteConnection(aiosqlite.Connection):
    """What SQLAlchemy's adapter of the driver works with, once it is `opened`.

    Args:
        opener: gives the connection, in the thread.
        begin: opens a transaction before its first statement.
    """

    def __init__(self, opener: Callable[[], sqlite3.Connection], *, begin: str) -> None:
        super().__init__(opener, _ITERATED_AT_ONCE)
        self._begin = begin
        self._has_begun = False
        # As SQLAlchemy does with connections that it makes: one that nobody closed must not keep the process.
        self._thread.daemon = True

    async def opened(self) -> Self:
        """Open it and return it; of one that can't be opened nothing is left."""
        try:
            _ = await self
        except BaseException:
            # The driver lets its thread end by itself: that may be after the event loop, to which it answers.
            await asyncio.to_thread(self._thread.join)
            raise
        return self

    def cursor(self) -> _Cursor:  # type: ignore[override] # the driver's is awaited, for a thread makes it
        """Return a cursor, which the thread knows nothing of."""
        return _Cursor(self)

    async def commit(self) -> None:
        """Make durable what the transaction did, if one has begun; of one that fails nothing is left."""
        if self._has_begun:
            try:
                await super().commit()
            except sqlite3.Error:
                # On a full disk SQLite has ended it already, and then SQLAlchemy doesn't ask for it.
                await self.rollback()
                raise
            self._has_begun = False

    async def rollback(self) -> None:
        """Undo the transaction, if one has begun: who gives a connection back to the pool asks in any case."""
        if self._has_begun:
            await super().rollback()
            self._has_begun = False

    async def carried_out(self, statement: Callable[[sqlite3.Connection], sqlite3.Cursor]) -> _Outcome:
        """Return what comes of the statement, which the thread executes."""
        # Noted before the thread is asked: who is cancelled meanwhile doesn't know how far it came.
        is_first, self._has_begun = not self._has_begun, True
        outcome: _Outcome = await self._execute(  # type: ignore[no-untyped-call]
            self._carry_out, statement, is_first=is_first
        )
        return outcome

    def _carry_out(
        self, statement: Callable[[sqlite3.Connection], sqlite3.Cursor], *, is_first: bool
    ) -> _Outcome:
        connection = self._conn
        if is_first:
            connection.execute(self._begin)
        elif not connection.in_transaction:
            # By SQLite itself, on a full disk say: what follows must not be durable without what went before.
            raise sqlite3.OperationalError("the transaction has ended before its time")
        return _Outcome.of(statement(connection))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a statement leaves behind, in the words of PEP 249."""

    description: Sequence[Sequence[object]] | None = None
    rowcount: int = -1
    lastrowid: int | None = None
    rows: Sequence[_Row] = field(default=(), repr=False)

    @classmethod
    def of(cls, cursor: sqlite3.Cursor) -> _Outcome:
        try:
            # Before the count: with RETURNING it is right once the rows were fetched.
            rows = cursor.fetchall() if cursor.description else ()
            return cls(cursor.description, cursor.rowcount, cursor.lastrowid, rows)
        finally:
            cursor.close()


class _Cursor:
    """Holds the outcome of the latest statement (PEP 249, awaited)."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection
        self._outcome = _Outcome()
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    @property
    def description(self) -> Sequence[Sequence[object]] | None:
        """The columns; None of a statement without rows."""
        return self._outcome.description

    @property
    def rowcount(self) -> int:
        """How many rows a statement changed; -1 where it says nothing of that."""
        return self._outcome.rowcount

    @property
    def lastrowid(self) -> int | None:
        """The row id of the latest insert."""
        return self._outcome.lastrowid

    async def execute(self, operation: str, parameters: Sequence[object] = ()) -> None:
        """Execute and fetch."""
        self._outcome = await self._connection.carried_out(
            lambda connection: connection.execute(operation, parameters)
        )

    async def executemany(self, operation: str, parameters: Iterable[Sequence[object]]) -> None:
        """Execute with each of these parameters."""
        self._outcome = await self._connection.carried_out(
            lambda connection: connection.executemany(operation, parameters)
        )

    async def fetchall(self) -> Sequence[_Row]:
        """Return all rows, once."""
        rows, self._outcome = self._outcome.rows, replace(self._outcome, rows=())
        return rows

    async def close(self) -> None:
        """Do nothing: what the thread had is closed already."""
