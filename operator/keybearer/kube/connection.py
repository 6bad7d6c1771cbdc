"""One connection to one API server: an aiohttp session over the TLS and credentials that `access` read.

`kubernetes.aio`'s own request path costs several times the CPU, much of it for looking up proxies and netrc
entries in a thread on each request: docs/decisions/0002-requests-to-the-api-server.md has the measurements.
So proxies of the environment are not honoured, only the kubeconfig's `proxy-url`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import Self

import aiohttp
import yarl
from aiohttp import hdrs

from keybearer import __version__
from keybearer.base.clock import Clock, SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.base.logs import get_logger
from keybearer.kube.access import Access, load_access
from keybearer.kube.body import Body
from keybearer.kube.errors import AnswerTooLargeError, UnavailableError

__all__ = ["Answer", "Connection", "Request"]

_HEADERS = {hdrs.USER_AGENT: f"keybearer-operator/{__version__}"}
_RENEWAL_PAUSE_SECONDS = 10.0
"""Credentials that were read again and are still refused are not read again before this has passed."""

_KEEP_ALIVE_SECONDS = 60.0
"""Under the 90 s after which the API server closes an idle connection (`IdleTimeout` of its http.Server)."""

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent.

    Attributes:
        method: in upper case.
        target: path and query, percent-encoded already.
        headers: all but the credentials.
        body: as it travels.
        timeout_seconds: for everything from connecting to the last byte.
        max_bytes: the longest answer that is accepted.
    """

    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None = field(default=None, repr=False)
    timeout_seconds: float = 10.0
    max_bytes: int = 4 * 1024 * 1024

    def __str__(self) -> str:
        return f"{self.method} {self.target.partition('?')[0]}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `retry_after` is in seconds, from the header."""

    status: int
    body: bytes = field(repr=False)
    retry_after: float | None


class _Served:
    """What was answered to a library that takes some answers for the end of its process."""

    def __init__(self, on_watched_again: Callable[[], None]) -> None:
        self._on_watched_again = on_watched_again
        self._answered: set[str] = set()
        self._watched: set[str] = set()

    def note(self, response: aiohttp.ClientResponse) -> None:
        """Take note of an answer, and close it where it is to pass for another failure.

        Raises:
            aiohttp.ClientPayloadError: a listing took longer than its continue token is good for.
            aiohttp.ClientConnectionError: a path that was answered before is not found.
        """
        path, query = response.url.path, response.url.query
        if response.status == HTTPStatus.GONE and "continue" in query:
            response.close()
            raise aiohttp.ClientPayloadError("the listing took too long: its continue token has expired")
        if response.status == HTTPStatus.NOT_FOUND and path in self._answered:
            response.close()
            raise aiohttp.ClientConnectionError(
                f"the API server no longer serves {path}: apply its CRD again"
            )
        if not response.ok:
            return
        self._answered.add(path)
        if query.get("watch") == "true":
            if path in self._watched:
                self._on_watched_again()
            self._watched.add(path)


class Connection:
    """Sends requests to one API server. Made by `open`; closed by `close`, or as an async context."""

    def __init__(
        self, access: Access, *, kubeconfig: str | None, context: str | None, clock: Clock | None = None
    ) -> None:
        self._access = access
        self._server = access.server
        self._server_name = access.server_name
        self._kubeconfig = kubeconfig
        self._context = context
        self._clock = clock or SystemClock()
        self._renewal = asyncio.Lock()
        self._renewals = 0
        self._renewed_at = float("-inf")
        self._session = aiohttp.ClientSession(
            connector=self._new_connector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=access.proxy,
            headers=_HEADERS,
        )

    @classmethod
    async def open(cls, *, kubeconfig: str | None = None, context: str | None = None) -> Self:
        """Return a connection; nothing has been sent yet.

        Args:
            kubeconfig: path (or paths joined by `os.pathsep`); None takes the pod's ServiceAccount.
            context: a context of the kubeconfig other than its current one.

        Raises:
            ConfigurationError: the configuration is missing or can't be used.
        """
        access = await load_access(kubeconfig=kubeconfig, context=context)
        return cls(access, kubeconfig=kubeconfig, context=context)

    @property
    def server(self) -> str:
        """Return the address of the API server."""
        return self._server

    @property
    def ca_pem(self) -> str:
        """Return the certificates that are trusted for it, in PEM; empty for those of the system.

        Raises:
            ConfigurationError: they can't be read.
        """
        return self._access.ca_pem

    @property
    def namespace(self) -> str:
        """Return the namespace of our pod, or of the kubeconfig's context."""
        return self._access.namespace

    @property
    def renewals(self) -> int:
        """Return how often the credentials were read again; an argument of `renew`."""
        return self._renewals

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; requests under way fail."""
        await self._session.close()

    def open_session(
        self, *, limit: int, on_watched_again: Callable[[], None] = lambda: None
    ) -> aiohttp.ClientSession:
        """Return a session of its own for a library that sends by itself; the caller closes it.

        It shares TLS, proxy and credentials, which are renewed by the same hook: kopf takes it as
        `kopf.AiohttpSession(server=connection.server, aiohttp_session=connection.open_session(limit=100))`.

        A listing whose continue token has expired (410) fails as one that was cut off, so that the library begins
        it anew: to kopf a 410 there is the end of the process. So are credentials that are refused, even those of a
        moment in which an API server begins: a request is sent again with those that were read anew, and one that is
        refused after that fails as one that found nobody, which is tried again. So does a path that was answered
        before and is not found now: a kind whose CRD was deleted is waited for.

        Args:
            limit: the most connections at once, watches included; further requests wait.
            on_watched_again: called when a watch stands that began before: it may have missed something.
        """
        served = _Served(on_watched_again)

        async def send_identified(
            request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
        ) -> aiohttp.ClientResponse:
            authorization = await self._access.authorization()
            if authorization is not None:
                request.headers[hdrs.AUTHORIZATION] = authorization
            request.server_hostname = self._server_name
            with _descriptors_in_order():
                return await handler(request)

        async def identify(
            request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
        ) -> aiohttp.ClientResponse:
            renewals = self._renewals
            response = await send_identified(request, handler)
            if response.status == HTTPStatus.UNAUTHORIZED and await self.renew(renewals):
                response.close()
                response = await send_identified(request, handler)
            if response.status == HTTPStatus.UNAUTHORIZED:
                response.close()
                raise aiohttp.ClientConnectionError("the API server doesn't accept our credentials")
            served.note(response)
            return response

        return aiohttp.ClientSession(
            connector=self._new_connector(limit=limit),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=self._access.proxy,
            headers=_HEADERS,
            middlewares=(identify,),
        )

    async def send(self, request: Request, *, allow: Callable[[], None] | None = None) -> Answer:
        """Send one request and return its whole answer, whatever its status.

        Args:
            request: what to send.
            allow: called once the connection is made, right before the first byte goes out; again if aiohttp repeats
                the request. What it raises goes on to the caller, and nothing is sent.

        Raises:
            TypeError: `allow` is given, but the request has no body.
            UnavailableError: no connection, a time-out, or a connection that broke.
            AnswerTooLargeError: the body is longer than the request allows.
        """
        if allow is not None and request.body is None:
            raise TypeError(f"{request} has no body, and would go out unchecked")
        body = _body(request, allow)
        try:
            async with await self._request(request, _within(request.timeout_seconds), body) as response:
                return Answer(response.status, await _read(response, request), _retry_after(response))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if body is not None and body.refusal is not None:
                raise body.refusal from None
            raise self._unavailable(request, error) from error

    @asynccontextmanager
    async def stream(
        self, request: Request, *, silence_seconds: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request whose answer goes on; yield the answer as soon as its status is known.

        Args:
            request: its timeout counts until the connection stands.
            silence_seconds: the longest wait for the next byte.

        Raises:
            UnavailableError: no connection, too long a silence, or a connection that broke, here or while
                the yielded answer is read.
        """
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=request.timeout_seconds, sock_read=silence_seconds
        )
        try:
            async with await self._request(request, timeout, _body(request)) as response:
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._unavailable(request, error) from error

    async def renew(self, renewals: int) -> bool:
        """Read the credentials again after a 401; return whether the request is worth another try.

        Args:
            renewals: what the property said before the request was sent; when it has moved on since,
                another task has renewed already.
        """
        async with self._renewal:
            if renewals != self._renewals:
                return True
            if self._clock.monotonic() - self._renewed_at < _RENEWAL_PAUSE_SECONDS:
                return False
            self._renewed_at = self._clock.monotonic()
            try:
                fresh = await load_access(kubeconfig=self._kubeconfig, context=self._context)
            except ConfigurationError as error:
                _log.warning("credentials_not_renewed", error=str(error))
                return False
            self._access.adopt(fresh)
            self._renewals += 1
            return True

    async def _request(
        self,
        request: Request,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - aiohttp's, which is finer than asyncio.timeout
        body: Body | None,
    ) -> aiohttp.ClientResponse:
        headers = request.headers
        authorization = await self._access.authorization()
        if authorization is not None:
            headers = {**headers, hdrs.AUTHORIZATION: authorization}
        with _descriptors_in_order():
            return await self._session.request(
                request.method,
                yarl.URL(self._server + request.target, encoded=True),
                headers=headers,
                data=body,
                timeout=timeout,
                allow_redirects=False,
                server_hostname=self._server_name,
            )

    def _unavailable(self, request: Request, error: Exception) -> UnavailableError:
        what = f"the API server at {self._server} can't be reached"
        return UnavailableError(f"{what} ({type(error).__name__}, {request})")

    def _new_connector(self, *, limit: int) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(limit=limit, ssl=self._access.tls, keepalive_timeout=_KEEP_ALIVE_SECONDS)


@contextmanager
def _descriptors_in_order() -> Iterator[None]:
    """Make a passing failure of one that would end the process.

    uvloop refuses a new socket whose descriptor it takes for that of a live transport. It happens when the API
    server dies while connections to it begin (seen with uvloop 0.23; github.com/MagicStack/uvloop issue 653); the
    next attempt gets another descriptor.
    """
    try:
        yield
    except RuntimeError as error:
        if not str(error).startswith("File descriptor"):
            raise
        raise aiohttp.ClientConnectionError(str(error)) from error


@lru_cache(maxsize=16)
def _within(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds)


def _body(request: Request, allow: Callable[[], None] | None = None) -> Body | None:
    return None if request.body is None else Body(request.body, allow)


async def _read(response: aiohttp.ClientResponse, request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > request.max_bytes:
            response.close()
            raise AnswerTooLargeError(f"{request}: the answer is longer than {request.max_bytes} bytes")
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _retry_after(response: aiohttp.ClientResponse) -> float | None:
    text = response.headers.get(hdrs.RETRY_AFTER)
    # The API server writes whole seconds; the other form, a date, comes from no part of it.
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
