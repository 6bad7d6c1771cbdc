"""The database: one writer, several readers, and units of work that publish what they moved.

SQLite runs in WAL mode with `synchronous=FULL`: an answered write survives the loss of power. One connection
writes, under `BEGIN IMMEDIATE`, so that two writers queue in this process instead of failing in SQLite's;
the readers each see one snapshot. PostgreSQL gets the same shape from REPEATABLE READ readers and the row
lock that a writer takes with the first revision it moves.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TypeVar

from sqlalchemy import URL, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from keybearer.base.clock import Clock
from keybearer.base.errors import ConfigurationError
from keybearer.store.attempts import note_commit, repeated
from keybearer.store.audit import AuditRecord
from keybearer.store.audit_chain.writing import AuditWriter, Chain, ChainLostError, append_with
from keybearer.store.change_bus import ChangeBus, LocalBus
from keybearer.store.direct_writer import DirectWriter
from keybearer.store.engines import Bounds, connect_postgres, place_of, postgres_engine, sqlite_engine
from keybearer.store.failures import BusyError, ConnectError, UnavailableError, brief, translated
from keybearer.store.migrate import is_latest, upgrade
from keybearer.store.postgres_bus import PostgresBus
from keybearer.store.revision_check import RevisionCheck
from keybearer.store.revisions import Changes, RevisionBook
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.tallies import StoreTallies
from keybearer.store.unit import UnitOfWork

__all__ = ["Database"]

_T = TypeVar("_T")
_CHAINS_TRIED = 4
"""How often a direct write looks for an idle chain: others may take the one that it began."""


class Database:
    """Engines and the keyring that repositories seal with. Closed with `close`; work happens within `following`."""

    def __init__(self, url: URL, clock: Clock, bounds: Bounds | None = None) -> None:
        bounds = bounds or Bounds()
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.revisions = RevisionBook()
        self.clock = clock
        self.tallies = StoreTallies()
        self._place = place_of(url)
        self._bounds = bounds
        self._keyring: Keyring | None = None
        self._audit_writer: AuditWriter | None = None
        self.bus: ChangeBus
        self._direct: DirectWriter | None = None
        if self.is_sqlite:
            self._direct = DirectWriter(str(url.database), bounds.longest_busy)
            self._turn = asyncio.Semaphore(1)
            self.bus = LocalBus()
            size, wait = bounds.pool_size, bounds.wait
            self._writer = sqlite_engine(url, size=1, wait=wait, begin="BEGIN IMMEDIATE", query_only=False)
            self._readers = sqlite_engine(url, size=size, wait=wait, begin="BEGIN", query_only=True)
        else:
            self._turn = asyncio.Semaphore(bounds.pool_size)
            self.bus = PostgresBus(url, bounds)
            self._writer = postgres_engine(url, bounds, isolation="READ COMMITTED", read_only=False)
            self._readers = postgres_engine(url, bounds, isolation="REPEATABLE READ", read_only=True)
        self._check = RevisionCheck(lambda: connect_postgres(url, bounds, read_only=True), bounds.connect)

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

    def chain_audit_log(self, writer: AuditWriter) -> None:
        """Write lines of the audit log into this writer's chains from now on; before, none can be written."""
        self._audit_writer = writer

    async def prepare(self) -> None:
        """Bring the tables to this version; of several processes that start together, one does it.

        Raises:
            ConfigurationError: the database can't be reached, or a newer version wrote it.
        """
        try:
            async with self._writer.begin() as connection:
                if not self.is_sqlite:
                    # A large database, or another process that migrates it, may take its time.
                    await connection.execute(text("SET LOCAL statement_timeout = 0"))
                    await connection.execute(text("SET LOCAL lock_timeout = 0"))
                await upgrade(connection)
        except ConnectError as error:
            raise ConfigurationError(f"the database at {self._place} can't be opened: {error}") from error
        except (DBAPIError, OSError) as error:
            raise ConfigurationError(
                f"the database at {self._place} can't be opened: {brief(error)}"
            ) from error

    async def require_present(self) -> None:
        """Check that the database has the tables of this version; write nothing.

        Raises:
            ConfigurationError: they are of another version, or the database can't be reached.
        """
        try:
            async with self._readers.connect() as connection, connection.begin():
                present = await is_latest(connection)
        except ConnectError as error:
            raise ConfigurationError(f"the database at {self._place} can't be opened: {error}") from error
        except (DBAPIError, OSError) as error:
            raise ConfigurationError(
                f"the database at {self._place} can't be opened: {brief(error)}"
            ) from error
        if not present:
            raise ConfigurationError(
                f"the database at {self._place} is of another version of keybearer; start the service of this "
                "version on it first, or use the command of that version"
            )

    async def still_stand(self, revisions: Iterable[tuple[str, int]]) -> bool:
        """Return whether each of these revisions, by the id of its project or organization, is the latest.

        Raises:
            UnavailableError: the database can't be reached.
        """
        if self.sole_process:
            return self.revisions.stands(revisions)
        wanted = dict(revisions)
        latest = await self._check.latest(set(wanted))
        return all(latest.get(name) == revision for name, revision in wanted.items())

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[UnitOfWork]:
        """Give a unit that sees one snapshot and writes nothing.

        Raises:
            BusyError: other requests held the connections for too long.
            UnavailableError: the database can't be reached.
        """
        with translated():
            began = time.perf_counter()
            async with self._connected(self._readers) as connection, connection.begin():
                self.tallies.read_waits.add(time.perf_counter() - began)
                yield self._unit(connection)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[UnitOfWork]:
        """Give a unit whose changes are durable when the block ends, and undone when it raises.

        Raises:
            BusyError: other writers held the turn for too long.
            RaceError: another changed the same at the same moment; see `attempts.repeated`.
            UnavailableError: the database can't be reached.
        """
        await self._take_turn()
        try:
            with translated():
                async with self._connected(self._writer) as connection:
                    transaction = await connection.begin()
                    unit = self._unit(connection)
                    try:
                        yield unit
                        await unit.store_audit()
                        await self.bus.announce(connection, unit.changes)
                    except BaseException:
                        unit.settle_audit(committed=False)
                        await transaction.rollback()
                        raise
                    try:
                        await transaction.commit()
                    except DBAPIError:
                        unit.settle_audit(committed=None)
                        # Refused, or lost on the way: events tell of commits only, caches rather forget too much.
                        self.revisions.publish(unit.changes)
                        raise
                    except BaseException:
                        unit.settle_audit(committed=None)
                        # Cut off, so that it may have happened: who reads anew in vain loses nothing.
                        self._published(unit.changes)
                        raise
                    unit.settle_audit(committed=True)
                    self._published(unit.changes)
        finally:
            self._turn.release()

    async def write(self, work: Callable[[UnitOfWork], Awaitable[_T]]) -> _T:
        """Return what the work returns in one `writing` unit, begun anew as `attempts.repeated` does."""

        async def written() -> _T:
            async with self.writing() as unit:
                return await work(unit)

        return await repeated(written)

    async def write_directly(
        self, work: Callable[[sqlite3.Cursor], _T], audit: Sequence[AuditRecord] = ()
    ) -> _T:
        """Return what the work returns, once what it wrote is durable; undone when it raises. SQLite alone.

        The work is done in a thread. What it writes is nothing that listeners are told of. The lines of the audit
        log are stored with it; each has an organization.

        Raises:
            BusyError: other writers held the turn for too long.
            RaceError: what a row refers to was deleted meanwhile.
            ConfigurationError: the database isn't SQLite, or it isn't unlocked yet and `audit` has lines.
        """
        if self._direct is None:
            raise ConfigurationError("only SQLite is written directly")
        chain: Chain | None = None
        lost: Chain | None = None
        for _ in range(_CHAINS_TRIED):
            await self._take_turn()
            try:
                if not audit:
                    found = await self._direct.run(work)
                    break
                writer = self._present_audit_writer()
                chain = writer.take()
                if chain is not None:
                    longer, store = append_with(writer, chain, audit)
                    # Whatever ends it otherwise gives the chain up: it may have been committed.
                    found = await self._direct.run(partial(_with_lines, work=work, store=store))
                    writer.give_back(longer)
                    break
            except ChainLostError:
                lost = chain
            finally:
                self._turn.release()
            async with self.writing() as unit:
                await unit.audit_log.begin_chain(lost)
            lost = None
        else:
            raise BusyError("other writes kept the database busy; try again")
        note_commit()
        self.tallies.audit_lines += len(audit)
        return found

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Hear of the changes of other processes within."""
        task = asyncio.create_task(self.bus.follow(), name="follow-other-processes")
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def close(self) -> None:
        """Close all connections."""
        if self._direct is not None:
            self._direct.close()
        await self._check.close()
        await self._readers.dispose()
        await self._writer.dispose()

    async def _take_turn(self) -> None:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._bounds.wait.total_seconds()):
                await self._turn.acquire()
        except TimeoutError as error:
            raise BusyError("other writes kept the database busy; try again") from error
        finally:
            self.tallies.write_waits.add(time.perf_counter() - began)

    @asynccontextmanager
    async def _connected(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(engine.connect())
            except ConnectError as error:
                raise UnavailableError("the database can't be reached at the moment; try again") from error
            yield connection

    def _published(self, changes: Changes) -> None:
        note_commit()
        self.tallies.audit_lines += changes.audit_lines
        self.tallies.certificates += changes.certificates
        self.revisions.publish(changes)
        self.bus.committed(changes)

    def _unit(self, connection: AsyncConnection) -> UnitOfWork:
        return UnitOfWork(connection, self._keyring, self.clock, self._present_audit_writer)

    def _present_audit_writer(self) -> AuditWriter:
        if self._audit_writer is None:
            raise ConfigurationError("the database is not unlocked yet")
        return self._audit_writer


def _with_lines(
    cursor: sqlite3.Cursor, work: Callable[[sqlite3.Cursor], _T], store: Callable[[sqlite3.Cursor], None]
) -> _T:
    found = work(cursor)
    store(cursor)
    return found
