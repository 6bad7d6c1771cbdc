"""The bus between processes on one PostgreSQL: NOTIFY within the writing transaction, LISTEN on a connection apart.

PostgreSQL hands a notification on after its transaction became visible, and never without it: whoever drops what it
kept and reads again sees the change. A connection that is lost may have lost notifications, so that its end and its
return both tell listeners of a gap; one that is lost without a word is found by a question every few seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import URL, text
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.logs import get_logger
from keybearer.store.change_bus import MessageError, read_message, write_messages
from keybearer.store.engines import Bounds, connect_postgres
from keybearer.store.revisions import Changes

if TYPE_CHECKING:
    import asyncpg

__all__ = ["PostgresBus"]

CHANNEL = "keybearer_changes"
_NOTIFY = text("SELECT pg_notify(:channel, :message)")
_HEARTBEAT = timedelta(seconds=3)
_ANSWER = timedelta(seconds=3)
_FIRST_DELAY = timedelta(milliseconds=200)
_MAX_DELAY = timedelta(seconds=5)
_log = get_logger(__name__)


class PostgresBus:
    """Hears of the commits of all processes, its own included, while `follow` is under way."""

    def __init__(self, url: URL, bounds: Bounds) -> None:
        self._url = url
        self._bounds = bounds
        self._on_change: list[Callable[[Changes], None]] = []
        self._on_gap: list[Callable[[], None]] = []
        self._hears = False

    @property
    def hears(self) -> bool:
        """Whether a change of another process would be told."""
        return self._hears

    async def announce(self, connection: AsyncConnection, changes: Changes) -> None:
        """Have PostgreSQL tell all processes, if the transaction commits."""
        for message in write_messages(changes):
            await connection.execute(_NOTIFY, {"channel": CHANNEL, "message": message})

    def committed(self, changes: Changes) -> None:
        """Do nothing: PostgreSQL tells this process too."""

    def subscribe(
        self, on_change: Callable[[Changes], None], on_gap: Callable[[], None] = lambda: None
    ) -> None:
        """Call the listeners for each message, and when some may have been missed."""
        self._on_change.append(on_change)
        self._on_gap.append(on_gap)

    async def follow(self) -> None:
        """Listen until cancelled, however often the connection is lost."""
        delay = _FIRST_DELAY
        while True:
            try:
                await self._listen()
            except Exception as error:  # noqa: BLE001 - whatever ends the connection, it has to be made again
                _log.warning("change_bus_failed", kind=type(error).__name__)
            finally:
                if self._hears:
                    delay = _FIRST_DELAY
                self._lose()
            await asyncio.sleep(delay.total_seconds())
            delay = min(delay * 2, _MAX_DELAY)

    async def _listen(self) -> None:
        """Hand on what arrives until the connection ends."""
        ended = asyncio.Event()
        connection = await connect_postgres(self._url, self._bounds, read_only=True)
        try:
            connection.add_termination_listener(lambda _: ended.set())
            await connection.add_listener(CHANNEL, self._take)
            # From here on everything is heard; what happened before may be in nobody's memory.
            self._hears = True
            self._gap()
            _log.info("change_bus_connected")
            while not ended.is_set():
                await self._ask(connection)
                await _until(ended, _HEARTBEAT)
        finally:
            connection.terminate()

    async def _ask(self, connection: asyncpg.Connection) -> None:
        await connection.fetchval("SELECT 1", timeout=_ANSWER.total_seconds())

    def _take(self, _connection: object, _pid: int, _channel: str, message: object) -> None:
        try:
            changes = read_message(str(message))
        except MessageError:
            # Of another version, say: what it means is not known, so that nothing that is kept can be trusted.
            _log.warning("change_bus_message_not_read")
            self._gap()
            return
        for listener in self._on_change:
            listener(changes)

    def _lose(self) -> None:
        if self._hears:
            self._hears = False
            self._gap()

    def _gap(self) -> None:
        for listener in self._on_gap:
            listener()


async def _until(event: asyncio.Event, limit: timedelta) -> None:
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await event.wait()
    except TimeoutError:
        return
