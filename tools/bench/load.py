"""Asks one HTTP server the same again and again over a few connections, each waiting for its answer.

`python -m tools.bench.load < LOAD` is a program of its own, so that it shares no event loop with the harness, and
does as little as a client can: requests are bytes made beforehand, answers are counted and not read. It prints its
result as JSON.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import orjson
import uvloop

from tools.bench.errors import BenchError
from tools.bench.samples import Summary, summarize

__all__ = ["NUMBER", "Load", "LoadResult", "load", "main", "request_bytes"]

NUMBER = "{number}"
"""Where a request has this text, each one sent has a number of its own instead, of as many digits."""

_ROOT = Path(__file__).parents[2]
_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length: "
_WITHOUT_BODY = {204, 304}
_GRACE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked.

    Attributes:
        request: made by `request_bytes`.
        status: what each answer must have.
        first: the first number, where requests are numbered; whoever asks again goes on from there.
    """

    host: str
    port: int
    request: bytes
    status: int
    connections: int
    seconds: float
    first: int = 0


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What came.

    Attributes:
        requests: answered.
        seconds: from the first request to the last answer.
        cpu_seconds: of the program that asked.
        milliseconds: from each request to the end of its answer.
        first_body: bytes of the first answer's body.
    """

    requests: int
    seconds: float
    cpu_seconds: float
    milliseconds: Summary
    first_body: int

    @property
    def per_second(self) -> float:
        """Return the rate of answers."""
        return self.requests / self.seconds


def request_bytes(
    method: str, path: str, host: str, headers: dict[str, str], body: bytes | None = None
) -> bytes:
    """Return an HTTP/1.1 request as it goes over the wire."""
    lines = {"host": host, "accept": "application/json", **headers}
    if body is not None:
        lines |= {"content-type": "application/json", "content-length": str(len(body))}
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return head.encode("ascii") + b"\r\n" + (body or b"")


async def load(asked: Load) -> LoadResult:
    """Return what a process of its own found.

    Raises:
        BenchError: it failed; what it says about that stands above.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tools.bench.load"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath, "PYTHONPATH": str(_ROOT)},
    )
    given = {**asdict(asked), "request": base64.b64encode(asked.request).decode()}
    printed, _ = await process.communicate(orjson.dumps(given))
    if process.returncode != 0:
        msg = f"the load ended with status {process.returncode}; what it says about that stands above"
        raise BenchError(msg)
    found = orjson.loads(printed)
    return LoadResult(**{**found, "milliseconds": Summary(**found["milliseconds"])})


class _Run:
    """One run: what its connections share."""

    def __init__(self, asked: Load) -> None:
        self.asked = asked
        self.ends_at = time.perf_counter() + asked.seconds
        self.milliseconds: list[float] = []
        self.first_body = -1
        self._requests = self._numbered()
        self._open = asked.connections
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def next_request(self) -> bytes:
        return next(self._requests)

    def leave(self, error: BenchError | None = None) -> None:
        self._open -= 1
        if error is not None and not self.finished.done():
            self.finished.set_exception(error)
        elif self._open == 0 and not self.finished.done():
            self.finished.set_result(None)

    def _numbered(self) -> Iterator[bytes]:
        before, placeholder, after = self.asked.request.partition(NUMBER.encode())
        if not placeholder:
            yield from itertools.repeat(self.asked.request)
        for number in itertools.count(self.asked.first):
            yield before + f"{number:0{len(NUMBER)}}".encode() + after


class _Connection(asyncio.Protocol):
    """One request after the other, each sent when the one before it is answered."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._head = b""
        self._missing = 0
        self._sent_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        if self._missing:
            self._missing -= len(data)
        else:
            self._head += data
            end = self._head.find(_END_OF_HEAD)
            if end < 0:
                return
            try:
                length = _body_length(self._head[:end], self._run.asked.status)
            except BenchError as error:
                self._fail(error)
                return
            if self._run.first_body < 0:
                self._run.first_body = length
            self._missing = length - (len(self._head) - end - len(_END_OF_HEAD))
            self._head = b""
        if self._missing == 0:
            self._answered()
        elif self._missing < 0:
            self._fail(BenchError("the server sent more than one answer to a request"))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._sent_at:
            self._fail(BenchError(f"the server closed a connection within a request: {exc}"))

    def _answered(self) -> None:
        now = time.perf_counter()
        self._run.milliseconds.append((now - self._sent_at) * 1000)
        if now < self._run.ends_at:
            self._send()
            return
        self._sent_at = 0.0
        self._transport.close()
        self._run.leave()

    def _send(self) -> None:
        self._sent_at = time.perf_counter()
        self._transport.write(self._run.next_request())

    def _fail(self, error: BenchError) -> None:
        self._sent_at = 0.0
        self._transport.close()
        self._run.leave(error)


def _body_length(head: bytes, status: int) -> int:
    """Return how long the body of an answer is, from its head; BenchError where it isn't the answer wanted."""
    found = int(head[9:12])
    if found != status:
        msg = f"the server answered {found}, not {status}: {head.decode('latin-1')[:400]}"
        raise BenchError(msg)
    if status in _WITHOUT_BODY:
        return 0
    start = head.lower().find(_LENGTH)
    if start < 0:
        msg = "the server doesn't say how long its answer is"
        raise BenchError(msg)
    return int(head[start + len(_LENGTH) :].split(b"\r\n", 1)[0])


async def _ask(asked: Load) -> LoadResult:
    loop = asyncio.get_running_loop()
    cpu_before, started = time.process_time(), time.perf_counter()
    run = _Run(asked)
    for _ in range(asked.connections):
        await loop.create_connection(lambda: _Connection(run), asked.host, asked.port)
    try:
        await asyncio.wait_for(run.finished, asked.seconds + _GRACE_SECONDS)
    except TimeoutError as error:
        msg = f"an answer took more than {_GRACE_SECONDS:g} s"
        raise BenchError(msg) from error
    return LoadResult(
        requests=len(run.milliseconds),
        seconds=time.perf_counter() - started,
        cpu_seconds=time.process_time() - cpu_before,
        milliseconds=summarize(run.milliseconds),
        first_body=run.first_body,
    )


def main() -> int:
    """Print the result of one run, as JSON; return the exit status."""
    given = orjson.loads(sys.stdin.buffer.read())
    asked = Load(**{**given, "request": base64.b64decode(given["request"])})
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            result = runner.run(_ask(asked))
    except (BenchError, OSError) as error:
        sys.stderr.write(f"bench.load: {error!s}\n")
        return 1
    print(orjson.dumps(asdict(result)).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
