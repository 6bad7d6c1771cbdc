"""A balancer of connections over several servers, as a Service of Kubernetes is one: by turns, and past the dead.

It runs in a thread with an event loop of its own, so that tests stay plain functions. It knows nothing of HTTP: what
a client had under way at a server that dies is cut off, and its next connection goes to another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any, Self
from urllib.parse import urlsplit

from tools.controlplane.ports import LOOPBACK
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["TcpBalancer"]

_PIECE = 64 * 1024


class TcpBalancer:
    """Balances while the block runs.

    Args:
        servers: base URLs of them, by plain HTTP.
        host: an address of this machine, where clients are let in.

    Attributes:
        url: where clients connect.
        carried: connections so far, by server.
    """

    def __init__(self, servers: Sequence[str], host: str = LOOPBACK) -> None:
        self._host = host
        self._servers = tuple(servers)
        self._turns = itertools.cycle(range(len(servers)))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="balancer", daemon=True)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.carried: Counter[str] = Counter()
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(PATIENCE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._take, self._host, 0)
        self.url = f"http://{self._host}:{self._server.sockets[0].getsockname()[1]}"

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            found = await self._connect()
            if found is None:
                return
            inner_reader, inner_writer = found
            try:
                await _either(_carry(reader, inner_writer), _carry(inner_reader, writer))
            finally:
                inner_writer.transport.abort()
        finally:
            writer.transport.abort()
            self._open.discard(task)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """A connection to the next server that takes it, or None."""
        first = next(self._turns)
        # Not by the common turns: those of others come in between, and each must try every server.
        for server in (*self._servers[first:], *self._servers[:first]):
            address = urlsplit(server)
            with contextlib.suppress(OSError):
                connection = await asyncio.open_connection(address.hostname, address.port)
                self.carried[server] += 1
                return connection
        return None


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()


async def _either(*ways: Coroutine[Any, Any, None]) -> None:
    """Carry both ways until one of them ends."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
