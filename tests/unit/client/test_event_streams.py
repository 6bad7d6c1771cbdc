"""How a stream of events ends, for both clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

import httpx
import pytest

from keybearer.client import (
    AsyncEventStream,
    AsyncKeybearer,
    ClientOptions,
    DecodeError,
    EventStream,
    ProjectEvent,
    StreamEnded,
    SuppliedToken,
    TransportError,
)
from keybearer.client.messages import Request
from keybearer.client.transport import STREAM_SILENCE
from unit.client.harness import FakeClock
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time

_SILENCE = STREAM_SILENCE.total_seconds()
_PING, _EVENT = b"event: ping\n\n", b"event: secret:update\ndata: {}\n\n"
_REQUEST = Request("POST", "/api/v1/events/subscribe/project-events", streams=True)
Piece = bytes | float | Exception
"""What comes, how many seconds nothing does, or how the connection breaks."""


class Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, bytes):
                yield piece
            else:
                await asyncio.sleep(piece)

    async def aclose(self) -> None:
        self.is_closed = True


class BlockingPieces(httpx.SyncByteStream):
    def __init__(self, pieces: Sequence[Piece], clock: FakeClock) -> None:
        self._pieces, self._clock = pieces, clock

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, bytes):
                yield piece
            else:
                self._clock.seconds += piece


def answer(stream: httpx.AsyncByteStream | httpx.SyncByteStream) -> httpx.Response:
    request = httpx.Request("POST", "http://service/api/v1/events/subscribe/project-events")
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=stream, request=request)


_ENDS = [
    pytest.param([_PING], TransportError, "the event stream ended", id="without a word"),
    pytest.param(
        [b'event: error\ndata: {"message": "so it is"}\n\n'], StreamEnded, "so it is", id="with a reason"
    ),
    pytest.param([httpx.ReadError("reset")], TransportError, "the connection broke", id="by a break"),
    pytest.param(
        [httpx.ReadTimeout("late")], TransportError, "silent for 45 s", id="by the socket's silence"
    ),
    pytest.param([b"x" * 70_000], DecodeError, "is longer than", id="by what no service sends"),
    pytest.param(
        [b": nothing\n\n", 30.0, b": nothing\n\n", 30.0, b"", b": nothing\n\n"],
        TransportError,
        "silent for 45 s",
        id="by comments alone",
    ),
]


@pytest.mark.parametrize(("pieces", "kind", "text"), _ENDS)
def test_every_end_of_an_asynchronous_stream_is_an_error(
    pieces: list[Piece], kind: type[Exception], text: str
) -> None:
    @in_virtual_time
    async def check() -> None:
        source = Pieces([_EVENT, *pieces])
        async with AsyncEventStream(answer(source), _REQUEST, LoopClock()) as stream:
            assert await anext(stream) == ProjectEvent("secret:update")
            with pytest.raises(kind, match=text):
                await anext(stream)
        assert source.is_closed

    check()


@pytest.mark.parametrize(("pieces", "kind", "text"), _ENDS)
def test_every_end_of_a_blocking_stream_is_an_error(
    pieces: list[Piece], kind: type[Exception], text: str
) -> None:
    clock = FakeClock()
    source = BlockingPieces([_EVENT, *pieces], clock)
    with EventStream(answer(source), _REQUEST, clock) as stream:
        assert next(stream) == ProjectEvent("secret:update")
        with pytest.raises(kind, match=text):
            next(stream)


@in_virtual_time
async def test_a_stream_lives_as_long_as_it_is_pinged() -> None:
    pieces: list[Piece] = [15.0, _PING] * 20
    stream = AsyncEventStream(answer(Pieces([*pieces, 10.0, _EVENT])), _REQUEST, LoopClock())
    assert await anext(stream) == ProjectEvent("secret:update")


@in_virtual_time
async def test_a_dead_stream_is_given_up_in_time() -> None:
    began = asyncio.get_running_loop().time()
    stream = AsyncEventStream(answer(Pieces([_PING, 10_000.0])), _REQUEST, LoopClock())
    with pytest.raises(TransportError, match="silent"):
        await anext(stream)
    assert asyncio.get_running_loop().time() - began == pytest.approx(_SILENCE)


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"content-type": "application/json"}, id="JSON"),
        pytest.param({"content-type": "text/event-stream", "content-encoding": "gzip"}, id="a packed stream"),
    ],
)
async def test_what_is_no_stream_is_refused(headers: dict[str, str]) -> None:
    def serve(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(b"{}"))

    async with httpx.AsyncClient(transport=httpx.MockTransport(serve)) as http:
        client = AsyncKeybearer(
            "http://service", SuppliedToken("cnry-token"), options=ClientOptions(), http=http
        )
        with pytest.raises(DecodeError):
            await client.events.subscribe(project_id="p")
