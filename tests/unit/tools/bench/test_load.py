"""The client of the service's benchmarks against a server that answers as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from support.listening import listening
from tools.bench.errors import BenchError
from tools.bench.load import NUMBER, Load, load, request_bytes

_CONNECTIONS = 3
_SECONDS = 0.2


@asynccontextmanager
async def _server(*pieces: bytes) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Answer each request with these pieces, one write each; give the port and what was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)

    async with listening(serve) as port:
        yield port, asked


def _asked(port: int, *, status: int = 200, path: str = "/", first: int = 0) -> Load:
    request = request_bytes("GET", path, "localhost", {})
    return Load("127.0.0.1", port, request, status, _CONNECTIONS, _SECONDS, first)


@pytest.mark.parametrize(
    ("status", "pieces"),
    [
        pytest.param(200, (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",), id="at once"),
        pytest.param(200, (b"HTTP/1.1 200 OK\r\ncontent-le", b"ngth: 4\r\n\r\nbo", b"dy"), id="in pieces"),
        pytest.param(304, (b"HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n",), id="without a body"),
    ],
)
async def test_every_answer_is_counted_once(status: int, pieces: tuple[bytes, ...]) -> None:
    async with _server(*pieces) as (port, asked):
        found = await load(_asked(port, status=status))

    assert found.requests == found.milliseconds.count == len(asked) >= _CONNECTIONS
    assert found.first_body == (0 if status == 304 else 4)


async def test_numbered_requests_go_on_from_the_first_number() -> None:
    async with _server(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n") as (port, asked):
        found = await load(_asked(port, path=f"/new-{NUMBER}", first=7))

    numbers = sorted(int(request.split()[1].removeprefix(b"/new-")) for request in asked)
    assert numbers == list(range(7, 7 + found.requests))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n", id="another status"),
        pytest.param(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", id="no length"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab", id="more than it says"),
    ],
)
async def test_an_answer_that_is_not_the_one_wanted_ends_the_load(
    answer: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    async with _server(answer) as (port, _):
        with pytest.raises(BenchError, match="stands above"):
            await load(_asked(port))

    assert "bench.load: the server" in capfd.readouterr().err


def test_a_body_is_sent_with_its_length_and_kind() -> None:
    request = request_bytes("POST", "/x", "localhost", {"authorization": "Bearer t"}, b"{}")

    head, _, body = request.partition(b"\r\n\r\n")
    assert body == b"{}"
    assert b"authorization: Bearer t" in head
    assert b"content-length: 2" in head
