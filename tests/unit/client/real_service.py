"""A service at a real address that answers as a test says, and how clients of either kind ask for its state."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

from aiohttp import web
from aiohttp.test_utils import TestServer

from keybearer.client import NO_RETRIES, AsyncKeybearer, ClientOptions, Keybearer, SuppliedToken
from tools.local.waiting import PATIENCE

__all__ = ["ONCE", "Ask", "ask_async", "ask_blocking", "serving"]

ONCE = ClientOptions(retry=NO_RETRIES, timeout=PATIENCE, process_env={})
Ask = Callable[[str, ClientOptions], Awaitable[str]]
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def ask_async(url: str, options: ClientOptions) -> str:
    async with AsyncKeybearer(url, SuppliedToken("cnry-token"), options=options) as client:
        return await client.status.get()


def ask_blocking(url: str, options: ClientOptions) -> str:
    with Keybearer(url, SuppliedToken("cnry-token"), options=options) as client:
        return client.status.get()


@contextlib.asynccontextmanager
async def serving(handler: _Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve every path by the handler, and yield the address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    server = TestServer(app, scheme="https" if tls else "http")
    await server.start_server(ssl=tls)
    try:
        yield str(server.make_url("")).rstrip("/")
    finally:
        await server.close()
