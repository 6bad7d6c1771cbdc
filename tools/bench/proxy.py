"""A proxy before the service: adds latency, counts by route and status, passes event streams through.

It runs in the harness's event loop. One request costs it about half a millisecond, and the operator sends
about a hundred a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from tools.bench.errors import BenchError

__all__ = [
    "EVENT_ROUTE",
    "CountingProxy",
    "Route",
    "counting_proxy",
    "forwarding_session",
    "route_of",
    "serving",
]

EVENT_ROUTE = "/api/v1/events/subscribe/project-events"

# Headers of one connection (RFC 9110 section 7.6.1) and those that aiohttp writes itself.
_PER_HOP = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SLUG = re.compile(r"/slug/[^/]+")
_NAMED_SECRET = re.compile(r"^(/api/(?:v3/secrets/raw|v4/secrets))/.+$")
# What clients take for good as "no event stream here" (wire.md section 7).
_NO_EVENTS = {
    "reqId": "req-bench",
    "statusCode": 400,
    "message": "Event subscriptions are not available on your current plan",
    "error": "BadRequest",
}


@dataclass(frozen=True, slots=True, order=True)
class Route:
    """One kind of request with one outcome."""

    method: str
    path: str
    status: int

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}"


def route_of(path: str) -> str:
    """Return the path with names of secrets, slugs and ids replaced, so that equal requests count as one."""
    return _UUID.sub("{id}", _SLUG.sub("/slug/{slug}", _NAMED_SECRET.sub(r"\1/{name}", path)))


class CountingProxy:
    """Forwards every request to one service.

    Args:
        upstream: base URL of the service.
        latency_seconds: waited before each request is forwarded and before each piece of a stream is.
        session: what forwards; borrowed, never closed here.
    """

    def __init__(self, upstream: str, latency_seconds: float, session: aiohttp.ClientSession) -> None:
        self._upstream = upstream
        self._latency = latency_seconds
        self._session = session
        self._counts: Counter[Route] = Counter()
        self.url = ""
        self.open_streams = 0
        self.offers_events = True

    def counts(self) -> Counter[Route]:
        """Return a copy of all counts up to now; the difference of two is a window."""
        return self._counts.copy()

    def since(self, earlier: Mapping[Route, int]) -> Counter[Route]:
        """Return what was counted after that copy was taken."""
        window = self._counts.copy()
        window.subtract(earlier)
        return +window

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer as the service does, later."""
        if not self.offers_events and request.path == EVENT_ROUTE:
            await asyncio.sleep(self._latency)
            self.count(request, 400)
            return web.json_response(_NO_EVENTS, status=400)
        body = await request.read()
        await asyncio.sleep(self._latency)
        try:
            answer = await self._session.request(
                request.method,
                URL(self._upstream + request.raw_path, encoded=True),
                headers=_end_to_end(request.headers),
                data=body or None,
                allow_redirects=False,
            )
        except aiohttp.ClientError as error:
            self.count(request, 502)
            return web.Response(status=502, text=f"the service does not answer: {type(error).__name__}")
        async with answer:
            self.count(request, answer.status)
            if answer.content_type == "text/event-stream":
                return await self._stream(request, answer)
            return web.Response(
                status=answer.status, headers=_end_to_end(answer.headers), body=await answer.read()
            )

    async def _stream(self, request: web.BaseRequest, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        downstream = web.StreamResponse(status=answer.status, headers=_end_to_end(answer.headers))
        await downstream.prepare(request)
        self.open_streams += 1
        try:
            # Either side may go at any time: the reader by closing, which cancels this handler.
            with contextlib.suppress(ConnectionResetError, aiohttp.ClientError):
                async for piece in answer.content.iter_any():
                    await asyncio.sleep(self._latency)
                    await downstream.write(piece)
        finally:
            self.open_streams -= 1
        return downstream

    def count(self, request: web.BaseRequest, status: int) -> None:
        """One request more had this outcome."""
        self._counts[Route(request.method, route_of(request.path), status)] += 1


def _end_to_end(headers: Mapping[str, str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _PER_HOP)


_Proxy = TypeVar("_Proxy", bound=CountingProxy)


@contextlib.asynccontextmanager
async def counting_proxy(upstream: str, *, latency_seconds: float) -> AsyncIterator[CountingProxy]:
    """Serve on a free loopback port while the block runs; `url` says where."""
    async with (
        forwarding_session() as session,
        serving(CountingProxy(upstream, latency_seconds, session)) as proxy,
    ):
        yield proxy


def forwarding_session() -> aiohttp.ClientSession:
    """Return what a proxy forwards with; to be entered and left by the caller."""
    # A stream lives as long as its reader; the transport's own limits would end it.
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
    return aiohttp.ClientSession(
        timeout=timeout, connector=aiohttp.TCPConnector(limit=0), auto_decompress=False
    )


@contextlib.asynccontextmanager
async def serving(proxy: _Proxy) -> AsyncIterator[_Proxy]:
    """The proxy listens on a free loopback port while the block runs; `url` says where."""
    # A reader that goes must end the upstream stream at once, or the service keeps counting it.
    server = web.Server(proxy.handle, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=0.5)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = _port_of(runner)
        proxy.url = f"http://127.0.0.1:{port}"
        yield proxy
    finally:
        await runner.cleanup()


def _port_of(runner: web.ServerRunner) -> int:
    address = runner.addresses[0]
    if not isinstance(address, tuple):
        msg = f"the proxy listens on {address!r}, which is no TCP address"
        raise BenchError(msg)
    return int(address[1])
