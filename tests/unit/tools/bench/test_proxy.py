from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from tools.bench.proxy import CountingProxy, Route, counting_proxy, route_of
from tools.local.waiting import PATIENCE_SECONDS

_EVENTS = "/api/v1/events/subscribe/project-events"
_LATENCY_SECONDS = 0.02


@dataclass
class _Service:
    """A service that answers what the tests need, and tells what reached it."""

    seen: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    reader_left: asyncio.Event = field(default_factory=asyncio.Event)
    more: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.seen.append((request.method, request.raw_path, dict(request.headers), await request.read()))
        if request.path == _EVENTS:
            return await self._stream(request)
        if request.headers.get("If-None-Match") == '"known"':
            return web.Response(status=304, headers={"ETag": '"known"'})
        return web.json_response({"answered": request.path}, headers={"ETag": '"known"', "X-Extra": "kept"})

    async def _stream(self, request: web.BaseRequest) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        try:
            await stream.write(b"event: ping\n\n")
            await self.more.wait()
            await stream.write(b"event: secret:update\n\n")
            await asyncio.Event().wait()
        finally:
            self.reader_left.set()
        return stream


@asynccontextmanager
async def _serving(service: _Service) -> AsyncIterator[str]:
    runner = web.ServerRunner(web.Server(service.answer, handler_cancellation=True), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@dataclass
class _Parts:
    service: _Service
    proxy: CountingProxy
    client: aiohttp.ClientSession


@pytest.fixture
async def parts() -> AsyncIterator[_Parts]:
    service = _Service()
    async with (
        _serving(service) as url,
        counting_proxy(url, latency_seconds=_LATENCY_SECONDS) as proxy,
        aiohttp.ClientSession(proxy.url) as client,
    ):
        yield _Parts(service, proxy, client)


async def test_a_request_reaches_the_service_as_it_was_sent(parts: _Parts) -> None:
    url = URL(f"{parts.proxy.url}/api/v4/secrets/A%2FB?x=%2Fy", encoded=True)
    async with parts.client.post(url, data=b"{}", headers={"X-Mine": "1"}):
        pass

    method, path, headers, body = parts.service.seen[0]
    assert (method, path, body, headers["X-Mine"]) == ("POST", "/api/v4/secrets/A%2FB?x=%2Fy", b"{}", "1")


async def test_an_answer_returns_with_its_status_headers_and_body(parts: _Parts) -> None:
    async with parts.client.get("/api/v4/secrets") as answer:
        assert answer.status == 200
        assert answer.headers["ETag"] == '"known"'
        assert answer.headers["X-Extra"] == "kept"
        assert await answer.json() == {"answered": "/api/v4/secrets"}


async def test_an_answer_without_changes_stays_304_and_empty(parts: _Parts) -> None:
    async with parts.client.get("/api/v4/secrets", headers={"If-None-Match": '"known"'}) as answer:
        assert (answer.status, await answer.read()) == (304, b"")


async def test_requests_are_counted_by_method_route_and_status(parts: _Parts) -> None:
    async with parts.client.get("/api/v4/secrets"):
        pass
    before = parts.proxy.counts()
    for name in ("A", "B"):
        async with parts.client.patch(f"/api/v4/secrets/{name}", json={}):
            pass

    assert parts.proxy.since(before) == {Route("PATCH", "/api/v4/secrets/{name}", 200): 2}
    assert parts.proxy.counts().total() == 3


async def test_each_request_waits_for_the_latency(parts: _Parts) -> None:
    started = time.monotonic()
    async with parts.client.get("/api/v4/secrets"):
        pass

    assert time.monotonic() - started >= _LATENCY_SECONDS


async def test_events_pass_through_while_the_stream_is_open(parts: _Parts) -> None:
    async with parts.client.post(_EVENTS, json={}) as stream:
        assert await stream.content.readuntil(b"\n\n") == b"event: ping\n\n"
        assert parts.proxy.open_streams == 1
        parts.service.more.set()
        assert await stream.content.readuntil(b"\n\n") == b"event: secret:update\n\n"


async def test_a_reader_that_leaves_ends_the_stream_at_the_service(parts: _Parts) -> None:
    async with parts.client.post(_EVENTS, json={}) as stream:
        await stream.content.readuntil(b"\n\n")
        stream.close()

    await asyncio.wait_for(parts.service.reader_left.wait(), timeout=PATIENCE_SECONDS)
    assert parts.proxy.open_streams == 0


async def test_a_service_without_events_is_played_on_request(parts: _Parts) -> None:
    parts.proxy.offers_events = False

    async with parts.client.post(_EVENTS, json={}) as answer:
        assert answer.status == 400
        assert "not available on your current plan" in (await answer.json())["message"]

    assert parts.service.seen == []
    assert parts.proxy.counts() == {Route("POST", _EVENTS, 400): 1}


async def test_a_service_that_is_away_is_answered_for_with_502() -> None:
    async with (
        counting_proxy("http://127.0.0.1:9", latency_seconds=0) as proxy,
        aiohttp.ClientSession(proxy.url) as client,
        client.get("/api/status") as answer,
    ):
        assert answer.status == 502


@pytest.mark.parametrize(
    ("path", "route"),
    [
        pytest.param("/api/v4/secrets", "/api/v4/secrets", id="a list stays"),
        pytest.param("/api/v4/secrets/DB", "/api/v4/secrets/{name}", id="a name is replaced"),
        pytest.param("/api/v3/secrets/raw/DB", "/api/v3/secrets/raw/{name}", id="an old name is replaced"),
        pytest.param("/api/v3/secrets/raw", "/api/v3/secrets/raw", id="an old list stays"),
        pytest.param(
            "/api/v1/projects/6f0b1c5e-8a39-4ad8-9f0a-2d2f1d1c0a11",
            "/api/v1/projects/{id}",
            id="an id is replaced",
        ),
        pytest.param("/api/v1/projects/slug/shop", "/api/v1/projects/slug/{slug}", id="a slug is replaced"),
    ],
)
def test_a_route_is_a_path_without_what_differs_between_equal_requests(path: str, route: str) -> None:
    assert route_of(path) == route
