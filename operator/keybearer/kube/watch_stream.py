"""The lines of one watch request: one JSON document each, with bounded memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator

import orjson

from keybearer.kube.answers import error_of_answer
from keybearer.kube.connection import Connection, Request
from keybearer.kube.errors import AnswerTooLargeError, UnavailableError
from keybearer.kube.resources import JsonObject

__all__ = ["LineSplitter", "watch_events"]

_MAX_LINE_BYTES = 8 * 1024 * 1024
"""Over twice what the API server accepts in a request (3 MiB), so no object that it holds is longer."""

_MAX_REFUSAL_BYTES = 64 * 1024


class LineSplitter:
    """Cuts what arrives into lines; keeps at most one unfinished line."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that the chunk completes, without their ends; empty ones are left out.

        Raises:
            AnswerTooLargeError: a line is longer than the bound.
        """
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            if self._rest:
                self._keep(part)
                line = bytes(self._rest)
                self._rest.clear()
            else:
                line = part
            if line:
                yield line
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        if len(self._rest) + len(part) > self._max_bytes:
            raise AnswerTooLargeError(f"a line of a watch is longer than {self._max_bytes} bytes")
        self._rest += part


async def watch_events(
    connection: Connection, request: Request, *, silence_seconds: float, on_open: Callable[[], None]
) -> AsyncGenerator[tuple[str, JsonObject], None]:
    """Iterate over type and object of each event of a watch; end when the API server ends it in good order.

    Args:
        connection: what to ask.
        request: a GET with `watch=1`.
        silence_seconds: the longest wait for the next line; more than the minute between bookmarks.
        on_open: called when the API server has agreed to the watch.

    Raises:
        GoneError: the resourceVersion is too old; list anew.
        AnswerTooLargeError: a line is longer than 8 MiB.
        KubeError: any other of its kinds, also one that arrives as an event of type ERROR.
    """
    subject = f"watch {request.target.partition('?')[0]}"
    renewals = connection.renewals
    async with connection.stream(request, silence_seconds=silence_seconds) as response:
        if response.status >= 300:
            refusal = await response.content.read(_MAX_REFUSAL_BYTES)
            if response.status == 401:
                await connection.renew(renewals)
            raise error_of_answer(subject, response.status, refusal)
        on_open()
        splitter = LineSplitter(_MAX_LINE_BYTES)
        async for chunk in response.content.iter_any():
            for line in splitter.feed(chunk):
                yield _event(subject, line)


def _event(subject: str, line: bytes) -> tuple[str, JsonObject]:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        # Not chained: the decoder's error carries the whole line.
        raise UnavailableError(f"{subject}: a line is no JSON") from None
    match event:
        case {"type": "ERROR", "object": {"code": int(code)} as status}:
            raise error_of_answer(subject, code, orjson.dumps(status))
        case {"type": str(kind), "object": dict(found)}:
            return kind, found
        case _:
            raise UnavailableError(f"{subject}: a line is no watch event")
