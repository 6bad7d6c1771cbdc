"""What only real connections show of answers: their time and length, and what becomes of a call without one."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from aiohttp import web

from keybearer.client import (
    AnswerTooLong,
    AsyncKeybearer,
    ClientError,
    DecodeError,
    ServiceError,
    TransportError,
)
from keybearer.client.messages import Request
from keybearer.client.transport import failure_of
from tools.local.waiting import PATIENCE, PATIENCE_SECONDS
from unit.client.harness import FakeClock
from unit.client.real_service import ONCE, Ask, ask_blocking, serving

_ALLOWED = PATIENCE / 4
_EXPIRES = PATIENCE / 50
"""A deadline that is to pass: half of it must do for the connection."""
"""What an answer may take; less than aiohttp keeps an idle connection."""


async def test_the_state_is_read_over_a_real_connection(ask: Ask) -> None:
    seen: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append({name.lower(): value for name, value in request.headers.items()})
        return web.json_response({"message": "Ok"})

    async with serving(answer) as url:
        assert await ask(f"{url}/api/", replace(ONCE, user_agent="test/1")) == "Ok"
    assert seen[0]["user-agent"] == "test/1"
    assert seen[0]["accept"] == "application/json"
    assert seen[0]["accept-encoding"] == "identity"
    assert "authorization" not in seen[0]


@pytest.mark.parametrize("declares", [True, False], ids=["declared", "undeclared"])
async def test_an_answer_that_is_too_long_is_refused_while_it_comes(ask: Ask, declares: bool) -> None:  # noqa: FBT001
    sent = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Length": str(10**9)} if declares else {})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _ in range(10_000):
                await response.write(b"x" * 65536)
                sent += 65536
        return response

    async with serving(answer) as url:
        with pytest.raises(AnswerTooLong, match="longer than 1000000 bytes"):
            await ask(url, replace(ONCE, max_response_bytes=1_000_000))
    assert sent < 100_000_000


async def test_an_answer_of_just_the_length_allowed_is_read(ask: Ask) -> None:
    body = b'{"message": "Ok"}'

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body)

    async with serving(answer) as url:
        assert await ask(url, replace(ONCE, max_response_bytes=len(body))) == "Ok"
        with pytest.raises(DecodeError):
            await ask(url, replace(ONCE, max_response_bytes=len(body) - 1))


@pytest.mark.parametrize("declares", [True, False], ids=["declared", "undeclared"])
async def test_a_body_waits_for_its_turn_whose_time_is_not_held_against_the_service(
    declares: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = b'{"message": "Ok"}'
    lengths: list[int | None] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(body))} if declares else {})
        await response.prepare(request)
        await response.write(body)
        return response

    @contextlib.asynccontextmanager
    async def turn(length: int | None) -> AsyncIterator[None]:
        lengths.append(length)
        # Longer than the service may take goes by, at once.
        loop = asyncio.get_running_loop()
        earlier = loop.time
        monkeypatch.setattr(loop, "time", lambda: earlier() + 1.1 * _ALLOWED.total_seconds())
        yield

    options = replace(ONCE, timeout=_ALLOWED)
    async with serving(answer) as url, AsyncKeybearer(url, options=options, body_turn=turn) as client:
        assert await client.status.get() == "Ok"
    assert lengths == [len(body) if declares else None]


async def test_a_body_that_drips_ends_at_the_deadline_after_its_turn_too() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(b" ")
                await asyncio.sleep(0.05)
        return response

    @contextlib.asynccontextmanager
    async def turn(_: int | None) -> AsyncIterator[None]:
        yield

    options = replace(ONCE, timeout=_EXPIRES)
    async with serving(answer) as url, AsyncKeybearer(url, options=options, body_turn=turn) as client:
        with pytest.raises(TransportError, match="no complete answer came in time"):
            await client.status.get()


async def test_an_answer_that_drips_ends_at_the_deadline(ask: Ask) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            while True:
                await response.write(b" ")
                await asyncio.sleep(0.02)
        return response

    async with serving(answer) as url:
        with pytest.raises(TransportError, match="in time") as error:
            await ask(url, replace(ONCE, timeout=_EXPIRES))
    assert error.value.sent


async def test_silence_ends_at_the_deadline(ask: Ask) -> None:
    async def answer(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    async with serving(answer) as url:
        with pytest.raises(TransportError, match="in time") as error:
            await ask(url, replace(ONCE, timeout=_EXPIRES))
    assert error.value.sent
    assert error.value.is_retryable


async def test_an_encoded_answer_is_refused_unread(ask: Ask) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=b"\x1f\x8bcnry-", headers={"Content-Encoding": "gzip"})

    async with serving(answer) as url:
        with pytest.raises(DecodeError, match="encoded"):
            await ask(url, ONCE)


async def test_a_redirect_is_not_followed(ask: Ask) -> None:
    paths: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with serving(answer) as url:
        with pytest.raises(ServiceError, match="redirects are not followed"):
            await ask(url, ONCE)
    assert paths == ["/api/status"]


async def test_a_connection_that_ends_early_may_have_been_served(ask: Ask) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"{")
        assert request.transport is not None
        request.transport.abort()
        return response

    async with serving(answer) as url:
        with pytest.raises(TransportError) as error:
            await ask(url, ONCE)
    assert error.value.sent


async def test_a_port_where_nobody_listens_was_surely_not_reached(ask: Ask) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(TransportError, match="nothing listens on this port") as error:
            await ask(url, ONCE)
    assert not error.value.sent
    assert error.value.is_retryable
    assert isinstance(error.value.__cause__, httpx.ConnectError)


async def test_a_port_that_speaks_no_tls_is_told_from_one_where_nobody_listens(ask: Ask) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response()

    async with serving(answer) as url:
        with pytest.raises(TransportError, match="the TLS handshake failed") as error:
            await ask(url.replace("http://", "https://"), ONCE)
    assert not error.value.sent


@pytest.mark.parametrize(
    ("cause", "says"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no"), "DNS doesn't know its name"),
        (socket.gaierror(socket.EAI_AGAIN, "no"), "DNS doesn't answer"),
        (OSError(errno.ENETUNREACH, "no"), "there is no route to it"),
        (OSError(errno.EHOSTUNREACH, "no"), "there is no route to it"),
        (ExceptionGroup("both", [OSError("no"), ConnectionRefusedError()]), "nothing listens on this port"),
        (OSError("no"), "the service can't be reached"),
    ],
)
def test_a_failure_to_connect_says_why(cause: Exception, says: str) -> None:
    error = httpx.ConnectError("no")
    error.__cause__ = cause
    told = str(failure_of(Request("GET", "/api/status"), "https://service.example", error))
    assert says in told
    assert told.endswith(" (GET /api/status at https://service.example)")


async def test_many_calls_at_once_share_the_connections() -> None:
    two_at_once = asyncio.Barrier(2)

    async def answer(_: web.Request) -> web.Response:
        async with asyncio.timeout(PATIENCE_SECONDS), two_at_once:
            return web.json_response({"message": "Ok"})

    async with serving(answer) as url, AsyncKeybearer(url, options=replace(ONCE, timeout=PATIENCE)) as client:
        assert await asyncio.gather(*(client.status.get() for _ in range(50))) == ["Ok"] * 50


@pytest.fixture
def deaf() -> Iterator[str]:
    """Yield the address of a listener that takes connections and reads nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_blocking_call_to_a_deaf_service_ends_in_its_thread(deaf: str) -> None:
    errors: list[ClientError] = []

    def call() -> None:
        try:
            ask_blocking(deaf, replace(ONCE, timeout=timedelta(seconds=0.2)))
        except ClientError as error:
            errors.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(timeout=PATIENCE_SECONDS)
    assert not thread.is_alive()
    assert isinstance(errors[0], TransportError)


@pytest.mark.parametrize(
    ("date", "ahead"),
    [
        ("Mon, 02 Mar 2026 05:00:00 GMT", timedelta(hours=17)),
        ("Mon, 02 Mar 2026 05:00:00 -0000", timedelta(hours=17)),
        ("at noon", timedelta()),
        ("", timedelta()),
    ],
)
async def test_an_answer_tells_by_how_much_the_services_clock_is_ahead(date: str, ahead: timedelta) -> None:
    async def answer(request: web.Request) -> web.Response:
        del request
        return web.json_response({"message": "Ok"}, headers={"Date": date})

    options = replace(ONCE, clock=FakeClock())  # at noon of the day before
    async with serving(answer) as url, AsyncKeybearer(url, options=options) as client:
        assert client.session.clock_ahead is None
        await client.status.get()
        assert client.session.clock_ahead == ahead
