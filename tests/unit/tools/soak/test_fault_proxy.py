from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from tools.bench.proxy import EVENT_ROUTE, forwarding_session, serving
from tools.soak.fault_proxy import Fault, FaultyProxy


class _Service:
    """Answers, and counts what reaches it."""

    def __init__(self) -> None:
        self.reached = 0

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.reached += 1
        if request.path != EVENT_ROUTE:
            return web.json_response({})
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        await stream.write(b"event: ping\n\n")
        await asyncio.Event().wait()
        return stream


@asynccontextmanager
async def _proxied(service: _Service) -> AsyncIterator[tuple[FaultyProxy, aiohttp.ClientSession]]:
    server = await asyncio.get_running_loop().create_server(
        web.Server(service.answer, handler_cancellation=True), "127.0.0.1", 0
    )
    port = server.sockets[0].getsockname()[1]
    async with forwarding_session() as session, aiohttp.ClientSession() as client:
        rng = random.Random(1)  # noqa: S311 - repeats itself
        async with serving(FaultyProxy(f"http://127.0.0.1:{port}", session, rng)) as proxy:
            yield proxy, client
    server.close()


async def test_without_a_fault_all_is_forwarded() -> None:
    service = _Service()
    async with _proxied(service) as (proxy, client):
        async with client.get(f"{proxy.url}/api/status") as answer:
            assert answer.status == 200

        assert (service.reached, proxy.faults) == (1, 0)


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [(Fault("throttle", share=1), {429}), (Fault("errors", share=1), {500, 502, 503})],
    ids=["throttle", "errors"],
)
async def test_refusals_look_like_the_services_and_never_reach_it(fault: Fault, statuses: set[int]) -> None:
    service = _Service()
    async with _proxied(service) as (proxy, client):
        proxy.fault = fault
        seen = set()
        for _ in range(20):
            async with client.get(f"{proxy.url}/api/status") as answer:
                seen.add(answer.status)
                assert (await answer.json())["statusCode"] == answer.status

        assert seen == statuses
        assert (service.reached, proxy.faults) == (0, 20)
        assert {route.status for route in proxy.counts()} == statuses


async def test_a_cut_connection_gives_no_answer_whether_the_service_was_reached_or_not() -> None:
    service = _Service()
    async with _proxied(service) as (proxy, client):
        proxy.fault = Fault("cut", share=1)
        for _ in range(20):
            with pytest.raises(aiohttp.ClientError):
                await client.post(f"{proxy.url}/api/status")

        assert 0 < service.reached < 20
        assert proxy.faults == 20


async def test_only_a_share_of_requests_meets_the_fault() -> None:
    service = _Service()
    async with _proxied(service) as (proxy, client):
        proxy.fault = Fault("throttle", share=0.5)
        for _ in range(40):
            async with client.get(f"{proxy.url}/api/status"):
                pass

        assert 10 < service.reached < 30
        assert service.reached + proxy.faults == 40


async def test_open_streams_can_be_cut() -> None:
    async with _proxied(_Service()) as (proxy, client), client.post(f"{proxy.url}{EVENT_ROUTE}") as stream:
        assert await stream.content.readline() == b"event: ping\n"
        proxy.cut_streams()

        with pytest.raises(aiohttp.ClientError):
            await stream.content.read()
