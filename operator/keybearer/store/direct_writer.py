"""Whole transactions of SQLite in one go, in a thread of their own.

By way of SQLAlchemy each statement goes to a thread and comes back: of a transaction of five statements the event
loop has more work than of the rows in it. Who knows beforehand all that is to be asked and written has it done here
at once, while the loop goes on.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from keybearer.store.failures import RaceError, of_sqlite
from keybearer.store.sqlite_connection import open_sqlite

__all__ = ["DirectWriter"]

_T = TypeVar("_T")


class DirectWriter:
    """One connection that writes. Its owner sees to it that nobody else of this process writes meanwhile."""

    def __init__(self, path: str, busy: timedelta) -> None:
        self._path = path
        self._busy = busy
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="write-directly")
        self._connection: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Cursor], _T]) -> _T:
        """Return what the work returns, once what it wrote is durable; undone when it raises.

        Raises:
            BusyError: another program holds the file.
            NoRoomError: the volume is full or fails.
            RaceError: what a row refers to was deleted meanwhile.
        """
        running = asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # The turn to write is given back by who gave up: not before the thread is done.
            await asyncio.wait([running])
            raise

    def close(self) -> None:
        """Close the connection, and wait until that is done."""
        if self._connection is not None:
            self._thread.submit(self._disconnect).result()
        self._thread.shutdown()

    def _transaction(self, work: Callable[[sqlite3.Cursor], _T]) -> _T:
        with _understood():
            connection = self._connection or self._connect()
            cursor = connection.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            try:
                found = work(cursor)
                cursor.execute("COMMIT")
            except BaseException:
                # What fails badly ends the transaction by itself.
                if connection.in_transaction:
                    cursor.execute("ROLLBACK")
                raise
            finally:
                cursor.close()
            return found

    def _connect(self) -> sqlite3.Connection:
        connection = open_sqlite(self._path, busy=self._busy, query_only=False)
        # What a statement of many rows would undo is noted beside it: in memory rather than in a file.
        connection.execute("PRAGMA temp_store = MEMORY")
        self._connection = connection
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise RaceError("another change was made at the same time; try again") from error
    except sqlite3.OperationalError as error:
        meaning = of_sqlite(error)
        if meaning is None:
            raise
        raise meaning from error
