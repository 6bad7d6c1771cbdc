"""TLS in front of the PostgreSQL of a run, whose programs were built without it.

A client asks for TLS with eight bytes before anything else (PostgreSQL's protocol, "SSL Session Encryption"); what
follows the handshake goes on to the server's socket as it is.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.local.postgres import PostgresServer

__all__ = ["tls_in_front_of"]

_REQUEST_BYTES = 8
_PORT_OF_SOCKET = 5432


@contextmanager
def tls_in_front_of(server: PostgresServer, chain: Path, key: Path, host: str = "127.0.0.1") -> Iterator[int]:
    """Yield the port of this host on which the server is reached by TLS with this certificate, and only so."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="tls-in-front-of-postgres")
    thread.start()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A client that doesn't like the certificate goes away in the middle.
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(_REQUEST_BYTES)
            writer.write(b"S")
            await writer.drain()
            await writer.start_tls(context)
            socket = server.sockets / f".s.PGSQL.{_PORT_OF_SOCKET}"
            inner_reader, inner_writer = await asyncio.open_unix_connection(socket)
            await asyncio.gather(_pipe(reader, inner_writer), _pipe(inner_reader, writer))
        writer.close()

    async def stop() -> None:
        listener.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    listener = asyncio.run_coroutine_threadsafe(asyncio.start_server(serve, host, 0), loop).result()
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while content := await reader.read(65_536):
            writer.write(content)
            await writer.drain()
    writer.close()
