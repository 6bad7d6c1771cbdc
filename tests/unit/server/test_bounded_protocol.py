from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextvars import Context
from typing import Any, cast

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from keybearer.server.bounded_protocol import (
    CONNECTIONS_MAX,
    HEAD_SECONDS,
    READER_BYTES,
    READER_SECONDS,
    BoundedProtocol,
    bounded_protocol,
)
from keybearer.server.run import server_config
from keybearer.wire.limits import REQUEST_HEAD_MAX_BYTES, REQUEST_HEAD_MAX_LINES

GET = b"GET / HTTP/1.1\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
EARLY = b"POST /early HTTP/1.1\r\ncontent-length: 10\r\n\r\n"


class Timers:
    """What a protocol needs of a loop; timers run when a test moves their clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pending: list[Timer] = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        timer = Timer(self.now + delay, callback)
        self.pending.append(timer)
        return timer

    def create_task(
        self, coroutine: Coroutine[Any, Any, None], *, context: Context | None = None
    ) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(coroutine, context=context)

    def advance(self, seconds: float) -> None:
        self.now += seconds
        due = [timer for timer in self.pending if timer.at <= self.now]
        self.pending = [timer for timer in self.pending if timer.at > self.now]
        for timer in due:
            if not timer.is_cancelled:
                timer.callback()


class Timer:
    def __init__(self, at: float, callback: Callable[[], None]) -> None:
        self.at = at
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Wire(asyncio.Transport):
    """A connection that keeps what is written. `unread` is what its reader has not taken."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.end = ""
        self.unread = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.end = self.end or "closed"

    def abort(self) -> None:
        self.end = "aborted"

    def is_closing(self) -> bool:
        return bool(self.end)

    def get_write_buffer_size(self) -> int:
        return self.unread

    def pause_reading(self) -> None:
        """Nothing is read that a test doesn't give."""

    def resume_reading(self) -> None:
        """As above."""


class Connection:
    """One connection to an application that answers `early` without its body, and `held` when it is let."""

    def __init__(self, server: ServerState, timers: Timers, kind: type[BoundedProtocol]) -> None:
        self.timers = timers
        self.wire = Wire()
        self.may_answer = asyncio.Event()
        self.fields: list[tuple[bytes, bytes]] = []

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await self._answer(scope, receive, send)

        loop = cast("asyncio.AbstractEventLoop", timers)
        self.protocol = kind(server_config(app), server, {}, loop)
        self.protocol.connection_made(self.wire)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/held":
            await self.may_answer.wait()
        while scope["path"] != "/early" and (await receive()).get("more_body", False):
            pass
        self.fields = [*scope["headers"]]
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.protocol.data_received(piece)
            for _ in range(5):
                await asyncio.sleep(0)

    @property
    def statuses(self) -> list[int]:
        return [int(part[:3]) for part in self.wire.written.split(b"HTTP/1.1 ")[1:]]


@pytest.fixture
async def server() -> ServerState:
    return ServerState()


@pytest.fixture
async def timers() -> Timers:
    return Timers()


@pytest.fixture
async def connection(server: ServerState, timers: Timers) -> AsyncIterator[Connection]:
    opened = Connection(server, timers, bounded_protocol(CONNECTIONS_MAX))
    yield opened
    opened.may_answer.set()
    opened.protocol.connection_lost(None)
    await asyncio.gather(*server.tasks)


def head_of(length: int) -> bytes:
    return GET[:-2] + b"x: ".ljust(length - len(GET) - 2, b"a") + b"\r\n\r\n"


@pytest.mark.parametrize("at_once", [1, 1000, 10**6], ids=["byte by byte", "by thousands", "at once"])
@pytest.mark.parametrize(("over", "status"), [(-1, 200), (0, 200), (1, 431)])
async def test_a_head_is_bounded_to_the_byte(
    connection: Connection, at_once: int, over: int, status: int
) -> None:
    head = head_of(REQUEST_HEAD_MAX_BYTES + over)
    assert len(head) == REQUEST_HEAD_MAX_BYTES + over
    for start in range(0, len(head), at_once):
        if not connection.wire.is_closing():
            connection.protocol.data_received(head[start : start + at_once])
    await connection.send(b"")
    assert connection.statuses == [status]
    assert bool(connection.wire.end) is (status == 431)


@pytest.mark.parametrize(
    ("start", "more"),
    [
        pytest.param(b"GET /", b"a" * 9999, id="a path"),
        pytest.param(b"GET / HTTP/1.1\r\nx: ", b"a" * 9999, id="one field"),
        pytest.param(b"GET / HTTP/1.1\r\n", b"x: y\r\n" * 99, id="many fields"),
        pytest.param(b"\r\n", b"\r\n" * 5000, id="nothing"),
        pytest.param(CHUNKED + b"0\r\n", b"x: y\r\n" * 99, id="many trailing fields"),
        pytest.param(CHUNKED + b"0\r\nx: ", b"a" * 9999, id="one trailing field"),
        pytest.param(CHUNKED + b"1;", b"a" * 9999, id="an extension of a chunk"),
        pytest.param(GET + b"GET /", b"a" * 9999, id="the second request"),
    ],
)
async def test_what_does_not_end_is_refused(connection: Connection, start: bytes, more: bytes) -> None:
    await connection.send(start)
    for _ in range(REQUEST_HEAD_MAX_BYTES // len(more) + 2):
        if not connection.wire.is_closing():
            await connection.send(more)
    assert connection.statuses[-1] == 431
    assert connection.wire.end == "closed"


@pytest.mark.parametrize(("over", "status"), [(0, 200), (1, 431)])
async def test_a_head_has_only_so_many_fields(connection: Connection, over: int, status: int) -> None:
    await connection.send(GET[:-2] + b"x: y\r\n" * (REQUEST_HEAD_MAX_LINES + over) + b"\r\n")
    assert connection.statuses == [status]


async def test_each_request_has_these_bounds_for_itself(connection: Connection) -> None:
    for _ in range(5):
        await connection.send(head_of(REQUEST_HEAD_MAX_BYTES // 2))
        await connection.send(CHUNKED + b"6\r\n" + b"a" * 6 + b"\r\n0\r\n" + b"x: y\r\n" * 190 + b"\r\n")
    assert connection.statuses == [200] * 10


async def test_a_large_body_is_not_counted(connection: Connection) -> None:
    length = 3 * REQUEST_HEAD_MAX_BYTES
    await connection.send(b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % length, b"a" * length)
    assert connection.statuses == [200]


async def test_trailing_fields_are_not_taken_for_those_of_the_head(connection: Connection) -> None:
    await connection.send(CHUNKED + b"0\r\nauthorization: Bearer x\r\n\r\n")
    assert connection.fields == [(b"transfer-encoding", b"chunked")]


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param([], id="nothing"),
        pytest.param([b"GET / HT"], id="half a line"),
        pytest.param([b"\r\n"], id="an empty line"),
        pytest.param([GET[:-2]], id="half a head"),
        pytest.param([GET, GET[:-2]], id="half a second head"),
        pytest.param([GET, b"\r\n"], id="an empty line after a request"),
        pytest.param([EARLY, b"a"], id="a body after its answer"),
        pytest.param([EARLY, b"a" * 10], id="nothing after a body that came after its answer"),
    ],
)
async def test_a_head_that_is_not_complete_in_time_ends_the_connection(
    connection: Connection, sent: list[bytes]
) -> None:
    await connection.send(*sent)
    connection.timers.advance(HEAD_SECONDS - 1)
    if sent and sent[-1] == b"\r\n":
        await connection.send(b"\r\n")  # no byte gives it more time
    assert not connection.wire.is_closing()
    connection.timers.advance(1)
    assert connection.wire.end == "aborted"


async def test_a_kept_connection_ends_in_the_time_for_these(connection: Connection) -> None:
    await connection.send(GET)
    connection.timers.advance(uvicorn.Config("").timeout_keep_alive)
    assert connection.wire.end == "closed"


async def test_a_request_that_takes_long_is_not_disturbed(connection: Connection) -> None:
    await connection.send(b"GET /held HTTP/1.1\r\n\r\n", GET[:-2])
    for _ in range(5):
        connection.timers.advance(HEAD_SECONDS)
    assert not connection.wire.is_closing()
    connection.may_answer.set()
    await connection.send(GET[-2:])
    assert connection.statuses == [200, 200]


async def test_only_so_many_requests_wait_for_the_one_before(connection: Connection) -> None:
    await connection.send(b"GET /held HTTP/1.1\r\n\r\n" + GET * 16)
    assert not connection.wire.is_closing()
    await connection.send(GET)
    assert connection.wire.end == "aborted"
    assert connection.wire.written == b""


async def test_what_is_malformed_is_refused_in_the_shape_of_every_error(connection: Connection) -> None:
    await connection.send(b"cnry-nonsense\r\n\r\n")
    assert connection.statuses == [400]
    assert b'"error":"BadRequest"' in connection.wire.written
    assert b"cnry" not in connection.wire.written


async def test_no_refusal_is_written_into_an_answer(connection: Connection) -> None:
    await connection.send(b"GET /held HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n")
    assert (connection.wire.written, connection.wire.end) == (b"", "aborted")


async def test_connections_beyond_the_bound_are_told_when_to_come_again(
    server: ServerState, timers: Timers
) -> None:
    kind = bounded_protocol(2)
    first, _ = Connection(server, timers, kind), Connection(server, timers, kind)
    refused = Connection(server, timers, kind)
    assert (refused.statuses, refused.wire.end) == ([503], "closed")
    assert b"\r\nretry-after: 1\r\n" in refused.wire.written
    refused.protocol.connection_lost(None)
    first.protocol.connection_lost(None)
    taken = Connection(server, timers, kind)
    await taken.send(GET)
    assert taken.statuses == [200]


class TestReaders:
    """What a reader doesn't take waits in the connection, also when the answer is given and the request over."""

    async def test_a_reader_that_takes_nothing_is_cut_off(self, connection: Connection) -> None:
        await connection.send(b"GET /held HTTP/1.1\r\n\r\n")
        connection.wire.unread = 30 * READER_BYTES
        connection.protocol.pause_writing()
        connection.timers.advance(READER_SECONDS - 1)
        assert not connection.wire.is_closing()
        connection.timers.advance(1)
        assert connection.wire.end == "aborted"

    @pytest.mark.parametrize(("less", "end"), [(0, ""), (1, "aborted")])
    async def test_a_slow_reader_is_one_that_takes_enough(
        self, connection: Connection, less: int, end: str
    ) -> None:
        await connection.send(b"GET /held HTTP/1.1\r\n\r\n")
        connection.wire.unread = 30 * READER_BYTES
        connection.protocol.pause_writing()
        for _ in range(20):
            connection.wire.unread -= READER_BYTES
            connection.timers.advance(READER_SECONDS)
        assert not connection.wire.is_closing()
        connection.wire.unread -= READER_BYTES - less
        connection.timers.advance(READER_SECONDS)
        assert connection.wire.end == end

    async def test_who_took_all_is_left_alone(self, connection: Connection) -> None:
        connection.wire.unread = READER_BYTES
        connection.protocol.pause_writing()
        connection.wire.unread = 0
        connection.protocol.resume_writing()
        assert all(timer.is_cancelled for timer in connection.timers.pending[1:])

    async def test_a_stream_whose_reader_takes_a_little_now_and_then_goes_on(
        self, connection: Connection
    ) -> None:
        await connection.send(b"GET /held HTTP/1.1\r\n\r\n")
        for _ in range(5):
            connection.wire.unread = 70_000
            connection.protocol.pause_writing()
            connection.timers.advance(READER_SECONDS - 1)
            connection.wire.unread = 10_000
            connection.protocol.resume_writing()
        assert not connection.wire.is_closing()

    async def test_a_kept_connection_is_not_closed_while_its_reader_is_at_it(
        self, connection: Connection
    ) -> None:
        connection.wire.unread = 10 * READER_BYTES
        await connection.send(GET)
        for _ in range(READER_SECONDS):
            connection.wire.unread -= READER_BYTES // 10
            connection.timers.advance(1)
        assert not connection.wire.is_closing()
        connection.wire.unread = 0
        connection.timers.advance(READER_SECONDS)
        assert connection.wire.end == "closed"

    @pytest.mark.parametrize("head", [GET, GET.replace(b"1.1", b"1.0")], ids=["kept", "closed at once"])
    async def test_a_connection_that_would_close_does_not_wait_for_ever(
        self, connection: Connection, head: bytes
    ) -> None:
        connection.wire.unread = 1
        await connection.send(head)
        connection.timers.advance(uvicorn.Config("").timeout_keep_alive)
        assert connection.wire.end != "aborted"
        connection.timers.advance(READER_SECONDS)
        assert connection.wire.end == "aborted"
