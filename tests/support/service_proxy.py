"""A proxy between operator and service: remembers each request, and delays or replaces answers on demand.

It runs in a thread with an event loop of its own, so that tests stay plain functions.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from support.event_listener import STREAM
from tools.local.waiting import PATIENCE_SECONDS, NotInTimeError

__all__ = [
    "Hold",
    "Matches",
    "ServiceProxy",
    "ServiceRequest",
    "about_project",
    "is_login",
    "is_subscription",
    "listing_of",
]

_PER_HOP = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})
"""Headers of one connection, and those that aiohttp writes itself (RFC 9110 section 7.6.1)."""
_LOGIN = "/api/v1/auth/universal-auth/login"


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """A request that was answered.

    Attributes:
        token: the bearer's token.
        client_id: of a login.
        status: of the answer; 0 while there is none, 502 where the service gave none.
        at: monotonic seconds of its arrival.
    """

    method: str
    path: str
    query: Mapping[str, str]
    token: str = field(repr=False)
    client_id: str
    status: int
    at: float


Matches = Callable[[ServiceRequest], bool]


def about_project(project_id: str) -> Matches:
    """Requests that name the project in their query."""
    return lambda request: request.query.get("projectId") == project_id


def listing_of(project_id: str, path: str | None = None) -> Matches:
    """Listings of secrets of the project, or of one folder of it."""
    of_project = about_project(project_id)
    return lambda request: (
        request.path == "/api/v4/secrets"
        and of_project(request)
        and (path is None or request.query.get("secretPath", "/") == path)
    )


def is_login(client_id: str) -> Matches:
    """Logins with the client id."""
    return lambda request: request.path == _LOGIN and request.client_id == client_id


def is_subscription(request: ServiceRequest) -> bool:
    """Attempts to open a stream of events."""
    return request.path == STREAM


class Hold:
    """Answers that are kept back: the service has given them, the operator has not got them."""

    def __init__(self, matches: Matches) -> None:
        self.matches = matches
        self.count = 0
        self._caught = threading.Event()
        self._released = threading.Event()

    def wait_caught(self) -> None:
        """An answer is held."""
        if not self._caught.wait(PATIENCE_SECONDS):
            raise NotInTimeError("the operator sent no request whose answer could be held")

    def release(self) -> None:
        """What is held goes on its way, and nothing more is held."""
        self._released.set()

    async def pass_through(self) -> None:
        """Wait for the release; called by the proxy."""
        self.count += 1
        self._caught.set()
        await asyncio.to_thread(self._released.wait)


@dataclass(frozen=True, slots=True)
class _Replacement:
    matches: Matches
    status: int
    body: object
    headers: Mapping[str, str]


class ServiceProxy:
    """Forwards to one service while the block runs.

    Args:
        upstream: base URL of the service; it may be down.
    """

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="service proxy", daemon=True)
        self._seen: list[ServiceRequest] = []
        self._holds: list[Hold] = []
        self._replacements: list[_Replacement] = []
        self._slow: list[tuple[Matches, float]] = []
        self._aheads: Iterator[timedelta] | None = None
        self._session: aiohttp.ClientSession | None = None
        self._runner: web.ServerRunner | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(PATIENCE_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for hold in self._holds:
            hold.release()
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def mark(self) -> int:
        """A point in the sequence of requests, for `requests`."""
        return len(self._seen)

    def requests(self, matches: Matches = lambda _: True, *, since: int = 0) -> list[ServiceRequest]:
        """The requests that were answered since the mark."""
        return [one for one in self._seen[since:] if matches(one)]

    @contextlib.contextmanager
    def holding(self, matches: Matches) -> Iterator[Hold]:
        """Hold the answers to such requests until `release`, or to the end of the block."""
        hold = Hold(matches)
        self._holds.append(hold)
        try:
            yield hold
        finally:
            self._holds.remove(hold)
            hold.release()

    @contextlib.contextmanager
    def answering(
        self, matches: Matches, status: int, body: object, headers: Mapping[str, str] | None = None
    ) -> Iterator[None]:
        """Answer such requests with this instead of asking the service."""
        replacement = _Replacement(matches, status, body, headers or {})
        self._replacements.append(replacement)
        try:
            yield
        finally:
            self._replacements.remove(replacement)

    @contextlib.contextmanager
    def slowing(self, matches: Matches, seconds: float) -> Iterator[None]:
        """Let such requests wait so long for their answers."""
        slow = matches, seconds
        self._slow.append(slow)
        try:
            yield
        finally:
            self._slow.remove(slow)

    @contextlib.contextmanager
    def of_replicas(self, *aheads: timedelta) -> Iterator[None]:
        """Tell the times of replicas, whose clocks are ahead by so much, one after the other."""
        self._aheads = itertools.cycle(aheads)
        try:
            yield
        finally:
            self._aheads = None

    def _headers(self, given: Mapping[str, str]) -> CIMultiDict[str]:
        headers = _end_to_end(given)
        if self._aheads is not None and "Date" in headers:
            told = parsedate_to_datetime(headers["Date"]) + next(self._aheads)
            headers["Date"] = format_datetime(told, usegmt=True)
        return headers

    async def _open(self) -> None:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE_SECONDS)
        # Connections aren't kept: one to a service that was killed would fail only when it is used.
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        self._session = aiohttp.ClientSession(timeout=timeout, connector=connector, auto_decompress=False)
        server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        asked = _asked(request, body)
        for replacement in self._replacements:
            if replacement.matches(asked):
                self._note(asked, replacement.status)
                return web.json_response(
                    replacement.body, status=replacement.status, headers=replacement.headers
                )
        assert self._session is not None
        try:
            answer = await self._session.request(
                request.method,
                URL(self._upstream + request.raw_path, encoded=True),
                headers=_end_to_end(request.headers),
                data=body or None,
                allow_redirects=False,
            )
        except aiohttp.ClientError:
            self._note(asked, 502)
            # As a dead service: no answer at all.
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=502)
        async with answer:
            if answer.content_type == "text/event-stream":
                self._note(asked, answer.status)
                return await self._stream(request, answer)
            content = await answer.read()
            for matches, seconds in self._slow:
                if matches(asked):
                    await asyncio.sleep(seconds)
            for hold in list(self._holds):
                if hold.matches(asked):
                    await hold.pass_through()
            self._note(asked, answer.status)
            return web.Response(status=answer.status, headers=self._headers(answer.headers), body=content)

    async def _stream(self, request: web.BaseRequest, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        downstream = web.StreamResponse(status=answer.status, headers=_end_to_end(answer.headers))
        await downstream.prepare(request)
        # Either side may go at any time.
        with contextlib.suppress(ConnectionResetError, aiohttp.ClientError):
            async for piece in answer.content.iter_any():
                await downstream.write(piece)
        return downstream

    def _note(self, asked: ServiceRequest, status: int) -> None:
        self._seen.append(
            ServiceRequest(
                asked.method, asked.path, asked.query, asked.token, asked.client_id, status, asked.at
            )
        )


def _asked(request: web.BaseRequest, body: bytes) -> ServiceRequest:
    client_id = ""
    if request.path == _LOGIN:
        with contextlib.suppress(ValueError, AttributeError):
            client_id = str(json.loads(body).get("clientId", ""))
    return ServiceRequest(
        method=request.method,
        path=request.path,
        query=dict(request.query),
        token=request.headers.get("Authorization", "").removeprefix("Bearer "),
        client_id=client_id,
        status=0,
        at=time.monotonic(),
    )


def _end_to_end(headers: Mapping[str, str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _PER_HOP)
