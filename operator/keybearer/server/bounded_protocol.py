"""HTTP/1.1 of one connection within bounds: before a request is one, and after its answer was given.

uvicorn bounds neither the head of a request nor the time until it is complete, nor the connections, nor how long an
answer waits for its reader. Refusals have the shape of every error where an answer can be written at all; else the
connection ends.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

import orjson
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from keybearer.base.ids import new_request_id
from keybearer.base.logs import get_logger
from keybearer.server.answers import TRY_AGAIN, retry_after
from keybearer.server.connection_shares import ConnectionShares
from keybearer.server.request_scope import PRINCIPAL_KEY
from keybearer.wire.errors import ErrorBody
from keybearer.wire.limits import REQUEST_HEAD_MAX_BYTES, REQUEST_HEAD_MAX_LINES

__all__ = [
    "CONNECTIONS_MAX",
    "CONNECTIONS_PER_ADDRESS",
    "HEAD_SECONDS",
    "READER_BYTES",
    "READER_SECONDS",
    "BoundedProtocol",
    "bounded_protocol",
]

CONNECTIONS_MAX = 900
"""By default: with files and the database's connections below 1,024 descriptors, a common limit of processes."""
CONNECTIONS_PER_ADDRESS = 64
"""By default, of those by which no token was accepted: who fills them leaves more than 800 to others."""
HEAD_SECONDS = 10
"""From a connection or a request's first byte to the end of its head; from an early answer to the end of its body."""
READER_SECONDS = 30
READER_BYTES = 1024 * 1024
"""Of an answer, what a reader takes in that time at least, or all that is left; else the answer goes with it."""
_FAREWELL_SECONDS = 1
"""For a refusal to be taken; TLS would listen to the other side meanwhile, and for long."""
_PIPELINED_MAX = 16
"""Requests that wait for the answer to the one before; a single packet holds thousands of short ones."""
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    reason: str
    word: str
    message: str
    wait: timedelta | None = None


_FULL = _Refusal(
    503,
    "Service Unavailable",
    "ServiceUnavailable",
    "The service has as many connections as it may; try again",
    TRY_AGAIN,
)
_MANY = _Refusal(
    503,
    "Service Unavailable",
    "ServiceUnavailable",
    "Your address has as many connections without an accepted token as it may; try again",
    TRY_AGAIN,
)
_LONG_HEAD = _Refusal(
    431,
    "Request Header Fields Too Large",
    "RequestHeaderFieldsTooLarge",
    f"The head of the request has more than {REQUEST_HEAD_MAX_BYTES} bytes or {REQUEST_HEAD_MAX_LINES} fields",
)
_MALFORMED = _Refusal(400, "Bad Request", "BadRequest", "The request can't be read")


class _RefusedError(Exception):
    """Ends the parser within one of its calls."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. It counts what leads to nothing: bytes of heads and trailing fields, and the time for them."""

    connections_max: ClassVar[int] = CONNECTIONS_MAX
    shares: ClassVar[ConnectionShares[BoundedProtocol]]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._address: str | None = None
        self._refusal = _MALFORMED
        self._awaits_head = True
        self._has_begun = False
        self._lines = 0
        self._steps = 0
        # Bytes since the last step: the end of a head, a piece of a body, the end of a message.
        self._loose = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._untaken = 0
        self._reader: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn does
        """Begin, unless there are too many."""
        self._address = _address_of(transport)
        is_full = len(self.connections) >= self.connections_max
        if is_full or not self.shares.take(self._address, self):
            self.transport = transport
            self._refuse(_FULL if is_full else _MANY)
            return
        super().connection_made(transport)
        self._expect_soon()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self.shares.give_back(self._address, self)
        self._expect_no_more()
        self._leave_reader()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse in pieces, each as long as what may come may still be."""
        start = 0
        while start < len(data) and not self.transport.is_closing():
            piece = data[start : start + REQUEST_HEAD_MAX_BYTES - self._loose]
            start += len(piece)
            self._parse(piece)

    def _parse(self, piece: bytes) -> None:
        steps = self._steps
        super().data_received(piece)
        if self.transport.is_closing():
            return
        self._loose = self._loose + len(piece) if self._steps == steps else 0
        if self._loose >= REQUEST_HEAD_MAX_BYTES:
            self._refuse(_LONG_HEAD)
        elif self._awaits_head and (self._has_begun or self._loose) and self._deadline is None:
            self._expect_soon()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._has_begun = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; those that trail a body mean nothing here, and must not look like the head's."""
        self._lines += 1
        if self._lines > REQUEST_HEAD_MAX_LINES:
            self._refusal = _LONG_HEAD
            raise _RefusedError
        if self._awaits_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request, or have it wait for those before it."""
        if len(self.pipeline) >= _PIPELINED_MAX:
            raise _RefusedError
        super().on_headers_complete()
        self._expect_no_more()
        self._awaits_head = self._has_begun = False
        self._steps += 1

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body, which the shell and the route bound."""
        self._steps += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request; the next may begin."""
        self._steps += 1
        self._lines = 0
        self._awaits_head = True
        self._expect_no_more()
        super().on_message_complete()
        if self.cycle.response_complete:
            # Its answer came before: what keeps idle connections was ended by the rest of the body.
            self._expect_soon()

    def on_response_complete(self) -> None:
        """End the answer; a body that nobody reads any more shall end soon as well."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_reader()  # it closes when all is taken, and not before
        elif not self._awaits_head and self.cycle.response_complete:
            self._expect_soon()

    def timeout_keep_alive_handler(self) -> None:
        """Close, unless the reader is still at it.

        With TLS nobody here sees what waits below: there a reader has the 30 s in which uvloop closes.
        """
        if self.transport.get_write_buffer_size():
            if self._reader is None:
                self._watch_reader()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        else:
            super().timeout_keep_alive_handler()

    def pause_writing(self) -> None:
        """Have the application wait for the reader, whose time begins."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Have the application go on; the reader of a whole answer has a little left to take."""
        super().resume_writing()
        if self.cycle is None or self.cycle.response_complete:
            self._watch_reader()
        else:
            self._leave_reader()

    @property
    def is_admitted(self) -> bool:
        """Whether the latest request came with a token that was accepted."""
        return self.cycle is not None and PRINCIPAL_KEY in self.cycle.scope

    def end_if_idle(self) -> bool:
        """Close and return True, if the latest answer was given and taken, and no other request has begun."""
        if self.cycle is None or not self.cycle.response_complete or not self._awaits_head:
            return False
        if self._has_begun or self._loose or self.transport.get_write_buffer_size():
            return False
        self.transport.close()
        return True

    def send_400_response(self, msg: str) -> None:
        """Refuse what can't be parsed, or what was too much in the midst of parsing."""
        del msg
        self._refuse(self._refusal)

    def _expect_soon(self) -> None:
        self._expect_no_more()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._late)

    def _expect_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        self._deadline = None
        if self.cycle is not None and not self.cycle.response_complete:
            self._expect_soon()  # a request before it is being answered, within bounds of its own
        elif not self.transport.is_closing():
            _log.debug("connection_was_too_slow", seconds=HEAD_SECONDS)
            self.transport.abort()

    def _watch_reader(self) -> None:
        self._leave_reader()
        self._untaken = self.transport.get_write_buffer_size()
        if self._untaken:
            self._reader = self.loop.call_later(READER_SECONDS, self._look_at_reader)

    def _leave_reader(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _look_at_reader(self) -> None:
        self._reader = None
        taken = self._untaken - self.transport.get_write_buffer_size()
        if taken < min(self._untaken, READER_BYTES):
            _log.info("reader_cut_off", seconds=READER_SECONDS)
            self.transport.abort()
        else:
            self._watch_reader()

    def _refuse(self, refusal: _Refusal) -> None:
        request_id = new_request_id()
        _log.info("connection_refused", request_id=request_id, status=refusal.status)
        if self._may_answer():
            self.transport.write(_written(refusal, request_id))
            self.transport.close()
            self._expect_no_more()
            self._deadline = self.loop.call_later(_FAREWELL_SECONDS, self.transport.abort)
        else:
            self.transport.abort()

    def _may_answer(self) -> bool:
        """Whether the next bytes are the beginning of an answer to what is refused."""
        return self.cycle is None or (
            self._awaits_head
            if self.cycle.response_complete
            else not (self._awaits_head or self.pipeline or self.cycle.response_started)
        )


def bounded_protocol(
    connections_max: int, per_address: int = CONNECTIONS_PER_ADDRESS
) -> type[BoundedProtocol]:
    """Return the protocol for so many connections of a server at most.

    Args:
        connections_max: at the same time.
        per_address: of these, from one address and without an accepted token.
    """

    class Bounded(BoundedProtocol):
        pass

    Bounded.connections_max = connections_max
    Bounded.shares = ConnectionShares(per_address, lambda one: one.is_admitted, lambda one: one.end_if_idle())
    return Bounded


def _address_of(transport: asyncio.Transport) -> str | None:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) else None


def _written(refusal: _Refusal, request_id: str) -> bytes:
    body = ErrorBody(
        req_id=request_id, status_code=refusal.status, message=refusal.message, error=refusal.word
    ).model_dump(by_alias=True, exclude={"details"})
    content = orjson.dumps(body)
    wait = "" if refusal.wait is None else f"retry-after: {retry_after(refusal.wait)}\r\n"
    head = (
        f"HTTP/1.1 {refusal.status} {refusal.reason}\r\ncontent-type: application/json\r\n"
        "cache-control: no-store\r\nx-content-type-options: nosniff\r\n"
        f"content-length: {len(content)}\r\nx-request-id: {request_id}\r\n{wait}connection: close\r\n\r\n"
    )
    return head.encode() + content
