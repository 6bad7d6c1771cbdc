"""The revisions of now, asked for by many at once: who comes while a question is under way shares the next one.

A question that began before somebody came might miss what was committed just before that, so that nobody is given
its answer who came later. One connection of its own, and the driver's own protocol: the question stands before each
answer from memory, where a pool and a statement object would cost more than all the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from keybearer.base.logs import get_logger
from keybearer.store.failures import ConnectError, UnavailableError

if TYPE_CHECKING:
    import asyncpg
    from asyncpg.prepared_stmt import PreparedStatement

__all__ = ["RevisionCheck"]

_REVISIONS = """
SELECT id, revision FROM projects WHERE id = ANY($1::varchar[])
UNION ALL
SELECT id, names_revision FROM organizations WHERE id = ANY($1::varchar[])
"""
_log = get_logger(__name__)


class _Round:
    """A question that hasn't begun yet."""

    def __init__(self) -> None:
        self.wanted: set[str] = set()
        self.askers: list[asyncio.Future[Mapping[str, int]]] = []

    def answer(self, outcome: Mapping[str, int] | UnavailableError) -> None:
        for asker in self.askers:
            if asker.done():  # gave up
                continue
            if isinstance(outcome, UnavailableError):
                asker.set_exception(outcome)
            else:
                asker.set_result(outcome)

    def cancel(self) -> None:
        for asker in self.askers:
            asker.cancel()


class RevisionCheck:
    """Asks PostgreSQL. Closed with `close`."""

    def __init__(self, connect: Callable[[], Awaitable[asyncpg.Connection]], limit: timedelta) -> None:
        self._connect = connect
        self._limit = limit
        self._connection: asyncpg.Connection | None = None
        self._question: PreparedStatement | None = None
        self._next: _Round | None = None
        self._asking: asyncio.Task[None] | None = None

    async def latest(self, ids: set[str]) -> Mapping[str, int]:
        """Return the present revision of each project and of each organization's names that exists, by id.

        Others' may be among them.

        Raises:
            UnavailableError: the database can't be reached, or doesn't answer in time.
        """
        if self._next is None:
            self._next = _Round()
        self._next.wanted |= ids
        # Of each his own: one who gives up takes nothing from the others.
        mine: asyncio.Future[Mapping[str, int]] = asyncio.get_running_loop().create_future()
        self._next.askers.append(mine)
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_all(), name="ask-for-revisions")
        return await mine

    async def close(self) -> None:
        """Close the connection; who still waits gets no answer."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        self._drop()

    async def _ask_all(self) -> None:
        try:
            while self._next is not None:
                now, self._next = self._next, None
                try:
                    answer = await self._ask(list(now.wanted))
                except UnavailableError as error:
                    now.answer(error)
                except BaseException:
                    now.cancel()
                    raise
                else:
                    now.answer(answer)
        finally:
            self._asking = None
            if self._next is not None:
                self._next.cancel()
                self._next = None

    async def _ask(self, wanted: list[str]) -> Mapping[str, int]:
        was_kept = self._connection is not None
        try:
            return await self._fetch(wanted)
        except UnavailableError:
            if not was_kept:
                raise
            # Lost since it was last used: asking again on a new one changes nothing but the answer.
            return await self._fetch(wanted)

    async def _fetch(self, wanted: list[str]) -> Mapping[str, int]:
        import asyncpg  # noqa: PLC0415 - an extra: SQLite works without it

        try:
            if self._question is None:
                self._question = await self._prepare()
            rows = await self._question.fetch(wanted, timeout=self._limit.total_seconds())
        except (OSError, ConnectError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            self._drop()
            _log.warning("revisions_not_asked", kind=type(error).__name__)
            raise UnavailableError("the database can't be reached at the moment; try again") from error
        return {row["id"]: row["revision"] for row in rows}

    async def _prepare(self) -> PreparedStatement:
        async with asyncio.timeout(self._limit.total_seconds()):
            self._connection = await self._connect()
            return await self._connection.prepare(_REVISIONS)

    def _drop(self) -> None:
        self._question = None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
