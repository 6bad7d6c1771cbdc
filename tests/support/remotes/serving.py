"""What all copies share: a server on loopback, a list of what it was asked, a limit and bad days on request."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import web

from support.remotes.limits import Limit

__all__ = ["ATTEMPTS", "Asked", "Copy", "Visits", "page_of", "served"]

ATTEMPTS = 3
"""How often a request is sent that fails for a passing reason: an outage answers as often."""

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Asked:
    """A request as it came, with its answer; `path` with its query, as it was written."""

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    sent: bytes = field(repr=False)
    status: int
    answered: bytes = field(repr=False)

    @property
    def line(self) -> str:
        """Method and path without the query."""
        return f"{self.method} {self.path.partition('?')[0]}"


@dataclass
class _BadDay:
    method: str
    path: re.Pattern[str]
    left: int
    answer: Callable[[], web.Response] | None


@dataclass
class Visits:
    """What a copy was asked, and how it misbehaves.

    Attributes:
        asked: in its order.
        limit: of the requests that it takes; None for any number.
    """

    asked: list[Asked] = field(default_factory=list)
    limit: Limit | None = None
    _bad_days: list[_BadDay] = field(default_factory=list)

    def answer_instead(
        self,
        method: str,
        path: str,
        answer: Callable[[], web.Response] | None,
        *,
        times: int = 1,
        after: int = 0,
    ) -> None:
        """Answer so to the next requests of that method whose path the pattern is found in; None hangs up.

        Args:
            method: of HTTP.
            path: a pattern.
            answer: makes the answer.
            times: how often; -1 for ever.
            after: how many requests of this kind are answered as usual before.
        """
        pattern = re.compile(path)
        if after:
            self._bad_days.append(_BadDay(method, pattern, after, _as_usual))
        self._bad_days.append(_BadDay(method, pattern, times, answer))

    def get_well(self) -> None:
        """Answer as usual from now on."""
        self._bad_days.clear()

    def lines(self, *methods: str) -> list[str]:
        """Return methods and paths of what was asked, of these methods only if any are named."""
        return [one.line for one in self.asked if not methods or one.method in methods]

    def writes(self) -> list[str]:
        """Return what was asked that changes something."""
        return self.lines("PUT", "POST", "PATCH", "DELETE")

    @web.middleware
    async def keep(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Write down each request; misbehave."""
        instead = self._instead(request)
        if instead is None:
            # Nothing was answered, and the other side can't know whether something was done.
            await self._note(request, 0)
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        answer = instead()
        if answer is _USUAL:
            try:
                usual = self._limited(request) or await handler(request)
            except web.HTTPException as error:
                error.headers.update(self._told())
                await self._note(request, error.status)
                raise
            for name, text in self._told().items():
                usual.headers.setdefault(name, text)
            await self._note(request, usual.status, usual)
            return usual
        await self._note(request, answer.status, answer)
        return answer

    def _limited(self, request: web.Request) -> web.Response | None:
        return None if self.limit is None else self.limit.refusal(request.method, request.path)

    def _told(self) -> Mapping[str, str]:
        return {} if self.limit is None else self.limit.headers()

    def _instead(self, request: web.Request) -> Callable[[], web.Response] | None:
        for day in self._bad_days:
            if day.left and day.method == request.method and day.path.search(request.raw_path):
                day.left -= 1
                return day.answer
        return _as_usual

    async def _note(
        self, request: web.Request, status: int, answer: web.StreamResponse | None = None
    ) -> None:
        body = answer.body if isinstance(answer, web.Response) else None
        self.asked.append(
            Asked(
                request.method,
                request.raw_path,
                dict(request.headers),
                await request.read(),
                status,
                body if isinstance(body, bytes) else b"",
            )
        )


_USUAL = web.Response()


def _as_usual() -> web.Response:
    return _USUAL


class Copy(Protocol):
    """A copy of an API."""

    visits: Visits
    url: str

    def routes(self) -> list[web.RouteDef]:
        """Return what it answers to."""
        ...


@asynccontextmanager
async def served(copy: Copy, tls: ssl.SSLContext | None = None) -> AsyncIterator[None]:
    """Serve the copy on a port of loopback, which its `url` then tells."""
    application = web.Application(middlewares=[copy.visits.keep], client_max_size=8 * 1024 * 1024)
    application.add_routes(copy.routes())
    # Nobody is waited for at the end: connections of a pool stay open.
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        host, port = runner.addresses[0][:2]
        copy.url = f"{'http' if tls is None else 'https'}://{host}:{port}"
        yield
    finally:
        await runner.cleanup()


def page_of(request: web.Request, *, usual: int, most: int) -> tuple[int, int]:
    """Return number and size of the page that is asked for."""
    number = int(request.query.get("page", "1"))
    size = min(int(request.query.get("per_page", str(usual))), most)
    return max(number, 1), max(size, 1)
