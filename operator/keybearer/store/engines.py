"""How connections to the two databases are opened and shaped.

PostgreSQL's driver reads the URL itself, with all that libpq knows: `sslmode`, `sslrootcert`, several hosts, a
socket's folder, `PGPASSFILE`. Nothing of it is taken apart here, so that `sslmode=verify-full` means what it says.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import URL, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from keybearer.base.errors import ConfigurationError
from keybearer.store.failures import ConnectError, brief
from keybearer.store.sqlite_connection import SqliteConnection, open_sqlite

if TYPE_CHECKING:
    import asyncpg

__all__ = [
    "Bounds",
    "connect_postgres",
    "database_url",
    "place_of",
    "postgres_engine",
    "sqlite_engine",
    "sqlite_url",
]

_LONGEST_BUSY = timedelta(seconds=5)
"""Only another program that writes to the file can make a writer wait in SQLite itself."""
_IDLE_IN_TRANSACTION = timedelta(seconds=60)
_DRIVER = "postgresql+asyncpg"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of the database one process takes, and for how long.

    Attributes:
        pool_size: connections for reading, and as many for writing; one more listens for changes, and one
            asks whether lists that are kept still stand. SQLite always
            has one writer.
        wait: for a connection, or for the turn to write.
        statement: one statement on PostgreSQL; a lock is waited for half as long.
        connect: opening one connection to PostgreSQL.
    """

    pool_size: int = 4
    wait: timedelta = timedelta(seconds=20)
    statement: timedelta = timedelta(seconds=20)
    connect: timedelta = timedelta(seconds=10)

    @property
    def longest_busy(self) -> timedelta:
        """How long SQLite itself waits for a lock."""
        return min(self.wait, _LONGEST_BUSY)


def sqlite_url(path: object) -> URL:
    """Return the URL of a database file."""
    return URL.create("sqlite+aiosqlite", database=str(path))


def database_url(text: str) -> URL:
    """Return the URL for what a person wrote: `postgresql://...` needs no driver name.

    Raises:
        ConfigurationError: it is no URL of PostgreSQL; the text is not repeated, it may hold a password.
    """
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        # Not chained: both repeat the text.
        raise ConfigurationError(
            "the database URL can't be read; write postgresql://user@host/name"
        ) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigurationError("the database URL must begin with postgresql://; SQLite needs none")
    return url.set(drivername=_DRIVER)


def place_of(url: URL) -> str:
    """Return where the database is, for messages: host, port and name, without user, password and options."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    host = url.query.get("host", url.host) or "the default host"
    hosts = host if isinstance(host, str) else ",".join(host)
    return f"{hosts}{'' if url.port is None else f':{url.port}'}/{url.database or ''}"


def sqlite_engine(url: URL, *, size: int, wait: timedelta, begin: str, query_only: bool) -> AsyncEngine:
    """Return an engine whose transactions open with this statement."""
    busy = min(wait, _LONGEST_BUSY)

    async def connect() -> SqliteConnection:
        return await SqliteConnection(
            lambda: open_sqlite(str(url.database), busy=busy, query_only=query_only), begin=begin
        ).opened()

    return create_async_engine(
        url,
        async_creator=connect,
        pool_size=size,
        max_overflow=0,
        pool_timeout=wait.total_seconds(),
        hide_parameters=True,
    )


def postgres_engine(url: URL, bounds: Bounds, *, isolation: str, read_only: bool) -> AsyncEngine:
    """Return an engine of `bounds.pool_size` connections."""

    async def connect() -> asyncpg.Connection:
        return await connect_postgres(url, bounds, read_only=read_only)

    engine = create_async_engine(
        f"{_DRIVER}://",
        async_creator=connect,
        pool_size=bounds.pool_size,
        max_overflow=0,
        pool_timeout=bounds.wait.total_seconds(),
        hide_parameters=True,  # parameters are digests, envelopes and names of secrets
        isolation_level=isolation,
    )

    def on_checkout(connection: DBAPIConnection, *_: object) -> None:
        # The driver has noticed a server that went away: seen here, it costs no request its answer.
        if connection.driver_connection.is_closed():
            raise DisconnectionError

    event.listen(engine.sync_engine, "checkout", on_checkout)
    return engine


async def connect_postgres(url: URL, bounds: Bounds, *, read_only: bool) -> asyncpg.Connection:
    """Return a connection of the driver.

    Raises:
        ConfigurationError: the driver isn't installed, or can't use an option of the URL.
        ConnectError: the server can't be reached, not by the TLS that is asked for, or refuses.
    """
    try:
        import asyncpg  # noqa: PLC0415 - an extra: SQLite works without it
    except ImportError as error:
        raise ConfigurationError(
            "PostgreSQL needs its driver; install keybearer with its extra: keybearer[postgres]"
        ) from error
    milliseconds = int(bounds.statement.total_seconds() * 1000)
    try:
        async with asyncio.timeout(bounds.connect.total_seconds()):
            return await asyncpg.connect(
                url.set(drivername="postgresql").render_as_string(hide_password=False),
                server_settings={
                    "application_name": "keybearer",
                    "default_transaction_read_only": "on" if read_only else "off",
                    "statement_timeout": str(milliseconds),
                    "lock_timeout": str(milliseconds // 2),
                    # A process that hangs in the middle of a transaction must not hold its locks for ever.
                    "idle_in_transaction_session_timeout": str(
                        int(_IDLE_IN_TRANSACTION.total_seconds() * 1000)
                    ),
                },
            )
    except ssl.SSLError as error:  # before ValueError, which a certificate that doesn't verify is too
        raise ConnectError(brief(error)) from None
    except (asyncpg.ClientConfigurationError, ValueError):
        # Not chained: the driver repeats what it can't read.
        raise ConfigurationError(
            "the database URL has an option that can't be used; see to sslmode, sslrootcert, host and port"
        ) from None
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        # Not chained either: what the driver says of a connection may hold what it was opened with.
        raise ConnectError(brief(error)) from None
