"""Copies for tests that wait for a service in another process: served by a thread, with or without TLS."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.remotes.serving import Copy, served
from support.self_signed import certificate
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["served_beside", "tls_of"]


@contextmanager
def served_beside(copy: Copy, tls: ssl.SSLContext | None = None) -> Iterator[None]:
    """Serve the copy on a port of loopback, which its `url` then tells, until the block ends."""
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    is_up = threading.Event()

    async def serve() -> None:
        async with served(copy, tls):
            is_up.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), name="remote-beside")
    thread.start()
    try:
        assert is_up.wait(PATIENCE_SECONDS), "the copy of a remote doesn't come up"
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE_SECONDS)
        loop.close()


def tls_of(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """Return how a copy proves to be 127.0.0.1, and the file of who vouches for it."""
    directory.mkdir(parents=True, exist_ok=True)
    chain, key = certificate(directory, 1)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain, key)
    return context, chain
