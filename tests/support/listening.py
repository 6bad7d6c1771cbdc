"""A server on loopback for a test; when it is over, all of its connections have ended."""

from __future__ import annotations

import asyncio
import ssl
from asyncio.trsock import TransportSocket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from support.async_waiting import until

__all__ = ["Serve", "listening"]

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Serves one connection, which is closed afterwards."""

_TURNS_OF_ACCEPTING = 3
"""Turns of the loop from a connection that is accepted to `accept`: its task, its transport, its protocol."""


@asynccontextmanager
async def listening(serve: Serve, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve each connection so, and yield the port.

    asyncio leaves connections open when their server is closed, also those whose handshake is not over. The warning
    of a socket that nobody closed then fails whatever test is running when it is collected.

    Args:
        serve: reads and writes; that the other side has gone is expected, and ends it.
        tls: what connections begin with, if they do.
    """
    serving: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}
    sockets: list[TransportSocket] = []

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if tls is not None:
                await writer.start_tls(tls)
            await serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the other side has gone
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if tls is not None:
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # else TLS misses what comes first
        sockets.append(writer.get_extra_info("socket"))
        serving[writer] = asyncio.create_task(attend(reader, writer))

    async def all_ended() -> bool:
        return all(socket.fileno() == -1 for socket in sockets)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for _ in range(_TURNS_OF_ACCEPTING):
            await asyncio.sleep(0)
        for task in serving.values():
            task.cancel()
        await asyncio.gather(*serving.values(), return_exceptions=True)
        for writer in serving:
            writer.transport.abort()  # which waits for no answer to the end of a TLS session
        await until(all_ended, awaited="an end of all connections")
