"""The database: one writer, several readers, and units of work that publish what they moved.

SQLite runs in WAL mode with `synchronous=FULL`: an answered write survives the loss of power. One connection
writes, under `BEGIN IMMEDIATE`, so that two writers queue in this process instead of failing in SQLite's;
the readers each see one snapshot. PostgreSQL gets the same shape from REPEATABLE READ readers and the row
lock that a writer takes with the first revision it moves.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from sqlalchemy import URL, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from keybearer.base.clock import Clock
from keybearer.base.errors import ConfigurationError, KeybearerError
from keybearer.store.change_bus import ChangeBus, LocalBus
from keybearer.store.migrate import upgrade
from keybearer.store.revisions import Changes, RevisionBook
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.unit import UnitOfWork

__all__ = ["BusyError", "Database", "UnstorableTextError", "database_url", "sqlite_url"]

_READERS = 4
_WRITER_WAIT_SECONDS = 20.0
_BUSY_MILLISECONDS = 5_000
_NOT_IN_REPERTOIRE = "22021"
"""PostgreSQL's character_not_in_repertoire (its appendix A)."""


class BusyError(KeybearerError):
    """No turn to write came up in time."""


class UnstorableTextError(KeybearerError):
    """A text holds a character that the database doesn't keep in clear."""


def sqlite_url(path: Path) -> URL:
    """Return the URL of a database file."""
    return URL.create("sqlite+aiosqlite", database=str(path))


def database_url(text: str) -> URL:
    """Return the URL for what a person wrote: `postgresql://...` needs no driver name.

    Raises:
        ConfigurationError: it is no URL of PostgreSQL; the text is not repeated, it may hold a password.
    """
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise ConfigurationError(
            "the database URL can't be read; write postgresql://user@host/name"
        ) from error
    if url.get_backend_name() != "postgresql":
        raise ConfigurationError("the database URL must begin with postgresql://; SQLite needs none")
    return url.set(drivername="postgresql+asyncpg")


class Database:
    """Engines and the keyring that repositories seal with. Open with `Database.open`, close with `close`."""

    def __init__(self, url: URL, clock: Clock) -> None:
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.revisions = RevisionBook()
        self.bus: ChangeBus = LocalBus()
        self.clock = clock
        self._keyring: Keyring | None = None
        self._turn = asyncio.Lock() if self.is_sqlite else asyncio.Semaphore(_READERS)
        if self.is_sqlite:
            self._writer = _engine(url, size=1)
            self._readers = _engine(url, size=_READERS)
            _shape_sqlite(self._writer, begin="BEGIN IMMEDIATE", query_only=False)
            _shape_sqlite(self._readers, begin="BEGIN", query_only=True)
        else:
            self._writer = _engine(url, size=_READERS)
            self._readers = _engine(url, size=_READERS, isolation="REPEATABLE READ")

    @property
    def sole_process(self) -> bool:
        """Whether no other process writes, so that `revisions` is the truth."""
        return self.is_sqlite

    @property
    def keyring(self) -> Keyring:
        """The keys that values are sealed with.

        Raises:
            ConfigurationError: `unlock` was not called yet.
        """
        if self._keyring is None:
            raise ConfigurationError("the database is not unlocked yet")
        return self._keyring

    def unlock(self, keyring: Keyring) -> None:
        """Give the keys that values are sealed with."""
        self._keyring = keyring

    async def prepare(self) -> None:
        """Bring the tables to this version.

        Raises:
            ConfigurationError: the database can't be reached, or a newer version wrote it.
        """
        try:
            async with self._writer.begin() as connection:
                await upgrade(connection)
        except (DBAPIError, OSError) as error:
            raise ConfigurationError(f"the database can't be opened: {_brief(error)}") from error

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[UnitOfWork]:
        """Give a unit that sees one snapshot and writes nothing."""
        with _translated():
            async with self._readers.connect() as connection, connection.begin():
                yield self._unit(connection)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[UnitOfWork]:
        """Give a unit whose changes are durable when the block ends, and undone when it raises.

        Raises:
            BusyError: other writers held the turn for too long.
        """
        try:
            async with asyncio.timeout(_WRITER_WAIT_SECONDS):
                await self._turn.acquire()
        except TimeoutError as error:
            raise BusyError("other writes kept the database busy; try again") from error
        try:
            with _translated():
                async with self._writer.connect() as connection:
                    transaction = await connection.begin()
                    unit = self._unit(connection)
                    try:
                        yield unit
                        await self.bus.announce(connection, unit.changes)
                    except BaseException:
                        await transaction.rollback()
                        raise
                    try:
                        await transaction.commit()
                    except DBAPIError:
                        # Refused, or lost on the way: events tell of commits only, caches rather forget too much.
                        self.revisions.publish(unit.changes)
                        raise
                    except BaseException:
                        # Cut off, so that it may have happened: who reads anew in vain loses nothing.
                        self._published(unit.changes)
                        raise
                    self._published(unit.changes)
        finally:
            self._turn.release()

    async def close(self) -> None:
        """Close all connections."""
        await self._readers.dispose()
        await self._writer.dispose()

    def _published(self, changes: Changes) -> None:
        self.revisions.publish(changes)
        self.bus.committed(changes)

    def _unit(self, connection: AsyncConnection) -> UnitOfWork:
        return UnitOfWork(connection, self._keyring, self.clock)


def _engine(url: URL, *, size: int, isolation: str | None = None) -> AsyncEngine:
    options: dict[str, str] = {} if isolation is None else {"isolation_level": isolation}
    return create_async_engine(
        url,
        pool_size=size,
        max_overflow=0,
        pool_timeout=_WRITER_WAIT_SECONDS,
        hide_parameters=True,  # parameters are digests, envelopes and names of secrets
        **options,
    )


def _shape_sqlite(engine: AsyncEngine, *, begin: str, query_only: bool) -> None:
    def on_connect(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        # The driver must not open transactions on its own: `begin` below says how.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA synchronous = FULL")
        if query_only:
            cursor.execute("PRAGMA query_only = ON")
        else:
            cursor.execute("PRAGMA journal_mode = WAL")
        cursor.close()

    event.listen(engine.sync_engine, "connect", on_connect)
    event.listen(engine.sync_engine, "begin", lambda connection: connection.exec_driver_sql(begin))


@contextmanager
def _translated() -> Iterator[None]:
    """Tell a text that PostgreSQL can't keep (it holds a NUL character) from a failure of the service."""
    try:
        yield
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == _NOT_IN_REPERTOIRE:
            raise UnstorableTextError("A text holds a NUL character") from error
        raise


def _brief(error: Exception) -> str:
    """Return what the driver says, without the statement and without a URL's password."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    return str(origin) if isinstance(origin, (sqlite3.Error, OSError)) else type(origin).__name__
