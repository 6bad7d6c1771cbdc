"""Many calls at once share one login and one renewal, whatever becomes of it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest

from keybearer.client import NO_RETRIES, AsyncKeybearer, Keybearer, Unauthenticated
from tools.local.waiting import PATIENCE_SECONDS
from unit.client.harness import URL, FakeClock, FakeService, Runner, login_answer, secret_body
from unit.client.token_answers import LISTED, LOGIN, RENEW, SECRETS, WHO, refused


class Gate:
    """An asynchronous transport whose logins wait for a sign."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.open = asyncio.Event()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0)  # as over a network: others get to run before the answer is there
        if request.url.path in {LOGIN, RENEW}:
            await self.open.wait()
        return self.service(request)


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_burst_of_requests_logs_in_once(service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, LISTED)
    gate = Gate(service)
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        client = AsyncKeybearer(URL, WHO, http=http)
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(client.secrets.list(project_id="p-1", environment="dev"))
            await settle()
            gate.open.set()
    assert service.paths.count(LOGIN) == 1
    assert service.paths.count(SECRETS) == 20


async def test_a_burst_with_wrong_credentials_is_one_failed_login(service: FakeService) -> None:
    service.on(LOGIN, refused())
    gate = Gate(service)
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        client = AsyncKeybearer(URL, WHO, http=http)
        calls = [
            asyncio.create_task(client.secrets.list(project_id="p-1", environment="dev")) for _ in range(20)
        ]
        await settle()
        gate.open.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert service.paths == [LOGIN]
    assert all(isinstance(outcome, Unauthenticated) for outcome in outcomes)
    assert len({id(outcome) for outcome in outcomes}) == 20, "each caller has an error of its own"
    kept = client.session.wallet.failure
    assert kept is not None
    assert kept.__traceback__ is None, "frames hold the credentials"


async def test_a_burst_with_a_token_that_was_revoked_logs_in_once(service: FakeService) -> None:
    service.on(LOGIN, login_answer(), login_answer("cnry-token-2"))
    body = {"secrets": [secret_body("A")]}

    def judge(request: httpx.Request) -> httpx.Response:
        return (
            httpx.Response(200, json=body) if request.headers["authorization"].endswith("-2") else refused()
        )

    service.on(SECRETS, judge)
    gate = Gate(service)
    gate.open.set()
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        client = AsyncKeybearer(URL, http=http)
        await client.auth.universal_auth.login("id-1", "cnry-client-secret")
        gate.open.clear()
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(client.secrets.list(project_id="p-1", environment="dev"))
            await settle()
            gate.open.set()
    assert service.paths.count(LOGIN) == 2
    assert service.paths.count(SECRETS) == 40


async def test_a_burst_at_the_time_of_renewal_asks_once_even_if_that_fails(service: FakeService) -> None:
    service.on(LOGIN, login_answer(expires_in=100)).on(RENEW, httpx.Response(503)).on(SECRETS, LISTED)
    gate = Gate(service)
    gate.open.set()
    clock = FakeClock()
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        options = replace(Runner("asynchronous", service, clock).options, retry=NO_RETRIES)
        client = AsyncKeybearer(URL, WHO, http=http, options=options)
        await client.secrets.list(project_id="p-1", environment="dev")
        clock.seconds = 80
        gate.open.clear()
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(client.secrets.list(project_id="p-1", environment="dev"))
            await settle()
            gate.open.set()
    assert service.paths.count(RENEW) == 1
    assert service.paths.count(LOGIN) == 1


async def test_a_call_cancelled_while_it_logs_in_leaves_the_login_to_the_next(service: FakeService) -> None:
    service.on(LOGIN, login_answer()).on(SECRETS, LISTED)
    gate = Gate(service)
    async with httpx.AsyncClient(transport=httpx.MockTransport(gate)) as http:
        client = AsyncKeybearer(URL, WHO, http=http)
        first = asyncio.create_task(client.secrets.list(project_id="p-1", environment="dev"))
        await settle()
        second = asyncio.create_task(client.secrets.list(project_id="p-1", environment="dev"))
        await settle()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        gate.open.set()
        assert len(await second) == 1
    assert service.paths == [LOGIN, SECRETS]


def test_threads_share_one_login(service: FakeService) -> None:
    together = threading.Barrier(8)
    overlap = threading.Barrier(2)

    def log_in(_: httpx.Request) -> httpx.Response:
        with contextlib.suppress(threading.BrokenBarrierError):
            overlap.wait(timeout=0.3)  # passes only when a second login is under way
        return login_answer()

    def read() -> int:
        together.wait(PATIENCE_SECONDS)
        return len(client.secrets.list(project_id="p-1", environment="dev"))

    service.on(LOGIN, log_in).on(SECRETS, LISTED)
    with httpx.Client(transport=httpx.MockTransport(service)) as http, ThreadPoolExecutor(8) as threads:
        client = Keybearer(URL, WHO, http=http)
        assert [task.result() for task in [threads.submit(read) for _ in range(8)]] == [1] * 8
    assert overlap.broken
    assert service.paths.count(LOGIN) == 1
