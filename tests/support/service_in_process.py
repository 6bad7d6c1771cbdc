"""The whole service in a thread of this process: requests of tests reach its application without a socket.

It listens on loopback as well, for tests of what only a connection shows: event streams, the client, commands.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, MutableMapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO
from urllib.parse import unquote

import httpx
import uvloop

from keybearer.base.logs import configure_logging
from keybearer.domain.outbound import OutboundSettings
from keybearer.domain.server_keys import RootKeySource
from keybearer.domain.syncs.jobs import JobTerms
from keybearer.server.run import RunningService, ServiceOptions, serve
from support.canary import Canary
from support.databases import sqlite_with_tables
from support.logging_state import logging_restored
from support.service_fixtures import Service
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["InProcessService", "service_in_process"]

_LOOPBACK = "127.0.0.1"
Message = MutableMapping[str, Any]
"""An event of ASGI."""
_CLOSED: Message = {"type": "http.disconnect"}


class _Exchange:
    """One request to the application, whose events are taken by the thread that asked."""

    def __init__(self, request: httpx.Request, loop: asyncio.AbstractEventLoop) -> None:
        assert isinstance(request.stream, httpx.SyncByteStream)
        self._pieces = [*request.stream] or [b""]
        self._scope = _scope(request)
        self._loop = loop
        self._given_up = asyncio.Event()
        self._sent: SimpleQueue[Message | BaseException | None] = SimpleQueue()

    async def run(self, service: RunningService) -> None:
        """Have the request answered; what the application raises is raised where the answer is awaited."""
        try:
            await service.app(self._scope, self._receive, self._send)
        except BaseException as error:
            self._sent.put(error)
            raise
        self._sent.put(None)

    def next_message(self) -> Message | None:
        """Wait for what the application sends; None after its last word."""
        sent = self._sent.get()
        if isinstance(sent, BaseException):
            raise sent
        return sent

    def give_up(self) -> None:
        """The client has gone."""
        self._loop.call_soon_threadsafe(self._given_up.set)

    async def _receive(self) -> Message:
        if self._pieces:
            piece = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._pieces)}
        await self._given_up.wait()
        return _CLOSED

    async def _send(self, message: Message) -> None:
        self._sent.put(message)


class _Body(httpx.SyncByteStream):
    def __init__(self, exchange: _Exchange) -> None:
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        while message := self._exchange.next_message():
            yield message.get("body", b"")
            if not message.get("more_body", False):
                return

    def close(self) -> None:
        self._exchange.give_up()


class _Transport(httpx.BaseTransport):
    """Carries the requests of one blocking client into the thread of the service."""

    def __init__(self, service: RunningService, loop: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._loop = loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(request, self._loop)
        asyncio.run_coroutine_threadsafe(exchange.run(self._service), self._loop)
        begun = exchange.next_message()
        assert begun is not None, "the application ended without an answer"
        assert begun["type"] == "http.response.start"
        body: httpx.SyncByteStream = _Body(exchange)
        if request.method == "HEAD" or begun["status"] in (204, 304):
            body = httpx.ByteStream(b"")  # as an HTTP server sends it
        return httpx.Response(begun["status"], headers=begun["headers"], stream=body)


def _nobody_is_invited(sentence: str) -> None:
    raise AssertionError(f"an instance that makes its own admin says: {sentence}")


def _scope(request: httpx.Request) -> Message:
    raw_path, _, query = request.url.raw_path.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(raw_path.decode("ascii")),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": (_LOOPBACK, 1),
        "server": (_LOOPBACK, request.url.port),
    }


@dataclass
class InProcessService(Service):
    """A running service. `log` is what it wrote while a test that asked for it ran."""

    running: RunningService = field(repr=False, kw_only=True)
    loop: asyncio.AbstractEventLoop = field(repr=False, kw_only=True)
    log_file: TextIO = field(repr=False, kw_only=True)

    def _transport(self) -> httpx.BaseTransport:
        return _Transport(self.running, self.loop)

    def show_log_to(self, canary: Canary) -> None:
        """As for any service; until the test ends, all logs of this process go to the file of the service."""
        _write_logs_to(self.log_file)
        super().show_log_to(canary)


def _write_logs_to(file: TextIO) -> None:
    configure_logging(log_format="json", level="info", stream=file)


@contextmanager
def service_in_process(
    data_dir: Path,
    public_url: str,
    *,
    outbound: OutboundSettings | None = None,
    job_terms: JobTerms | None = None,
) -> Iterator[InProcessService]:
    """Yield the service, on SQLite, when it accepts connections; it has ended afterwards.

    Args:
        data_dir: where it keeps its key and its database.
        public_url: what its certificates say of where it is reached.
        outbound: whom it may ask; as it is shipped by default.
        job_terms: how it runs jobs of syncs; as it is shipped by default.
    """
    sqlite_with_tables(data_dir)
    options = ServiceOptions(
        data_dir=data_dir,
        host=_LOOPBACK,
        port=0,
        root_key=RootKeySource(data_dir / "root.key", may_create=True),
        public_url=public_url,
        rate_limits=(),  # its tests fail to log in on purpose, all from one address
        outbound=outbound or OutboundSettings(),
        job_terms=job_terms or JobTerms(),
    )
    started: Future[InProcessService] = Future()
    log = data_dir.parent / f"{data_dir.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)

    async def run() -> None:
        loop = asyncio.get_running_loop()

        def announce(running: RunningService) -> None:
            service = InProcessService(
                running.url, data_dir, log, running=running, loop=loop, log_file=log_file
            )
            started.set_result(service)

        await serve(options, announce, invite=_nobody_is_invited)

    def until_stopped() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            try:
                runner.run(run())
            except BaseException as error:
                if started.done():
                    raise
                started.set_exception(error)

    thread = threading.Thread(target=until_stopped, name="keybearer serve")
    with log.open("a", encoding="utf-8", buffering=1) as log_file:
        try:
            with logging_restored():
                _write_logs_to(log_file)  # some of its loggers are made when it starts, and stay as they are
                thread.start()
                service = started.result(PATIENCE_SECONDS)
            yield service
            service.close_clients()
            service.loop.call_soon_threadsafe(service.running.stop)
        finally:
            thread.join(PATIENCE_SECONDS)
            assert not thread.is_alive(), "the service in this process does not end"
