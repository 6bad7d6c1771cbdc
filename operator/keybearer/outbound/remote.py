"""HTTP with remotes that a connection leads to: through the gate, kept alive, patient with those who throttle.

What a remote answers is classified once, so that the sync engine knows what is worth another try. No text of an
error holds a header, a body that was sent, or a value: a remote that echoes what it was given is not quoted.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlsplit
from weakref import WeakValueDictionary

import httpcore
import orjson
from pydantic import JsonValue

from keybearer.base.clock import Clock
from keybearer.outbound.errors import OutboundError, OutboundFailedError, OutboundRefusedError
from keybearer.outbound.gate import Gate
from keybearer.outbound.http import GatedBackend
from keybearer.outbound.trust import trust
from keybearer.outbound.urls import HTTP_PORTS, OutboundUrl, parse_url

__all__ = [
    "RemoteAnswer",
    "RemoteDeniedError",
    "RemoteError",
    "RemoteHttp",
    "RemoteMissingError",
    "RemoteRefusedError",
    "RemoteRequest",
    "RemoteThrottledError",
    "RemoteUnavailableError",
    "asked_wait",
    "quotable",
    "segment",
]

_BODY_LIMIT_BYTES = 16 * 1024 * 1024
_EXCHANGE = timedelta(seconds=30)
_THROTTLED_RETRIES = 10
"""wire.md section 3.5."""
_THROTTLED_WAIT = timedelta(seconds=1)
_THROTTLED_WAIT_MAX = timedelta(seconds=30)
_HEADER_VALUE = re.compile(r"[ -~]*")
_VISIBLE = re.compile(r"[!-~]*")
_OPAQUE = re.compile(r"[A-Za-z0-9_.+=-]{20,}")
_QUOTED_MAX = 300
_CONNECTIONS = 100
_AT_ONCE = 10
"""Requests to one place: a remote that is slow takes no turn from the others."""
_KEPT = timedelta(seconds=20)


class RemoteError(OutboundError):
    """A remote didn't do what it was asked; the text may be shown to whoever may see the sync or connection.

    Attributes:
        is_retryable: whether the same may work later, by itself.
    """

    is_retryable = False


class RemoteDeniedError(RemoteError):
    """The remote doesn't take the credentials, or they may not do this."""


class RemoteMissingError(RemoteError):
    """What the configuration names (a repository, a mount, a project) isn't there."""


class RemoteRefusedError(RemoteError):
    """The remote can't hold this: a name or a value it doesn't take, too many of them."""


class RemoteThrottledError(RemoteError):
    """The remote kept asking to come later."""

    is_retryable = True


class RemoteUnavailableError(RemoteError):
    """The remote can't be reached, fails, or answers something that can't be used."""

    is_retryable = True


@dataclass(frozen=True, slots=True)
class RemoteRequest:
    """A request; neither headers nor content ever show."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """What came back; names of headers in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def json(self) -> JsonValue:
        """Return the body read as JSON.

        Raises:
            RemoteUnavailableError: it is none; what answers is hardly the remote that was meant.
        """
        try:
            content: JsonValue = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            raise RemoteUnavailableError(
                f"the remote answers {self.status} with something other than JSON"
            ) from None
        return content


Throttling = Callable[[RemoteAnswer], bool]
"""Whether an answer asks to come later."""


def quotable(text: str) -> str:
    """Return what a remote says as it may be shown: in one line, cut, and without anything that looks like a token.

    A remote, or what stands before it, may repeat what it was sent; long runs of letters and digits are left out
    before the text is cut, so that no half of one stays.
    """
    return _OPAQUE.sub("[...]", " ".join(text.split()))[:_QUOTED_MAX]


def asked_wait(answer: RemoteAnswer, now: datetime) -> timedelta | None:
    """Return how long an answer asks to wait (RFC 9110 section 10.2.3), unbounded; None where it doesn't say."""
    given = answer.headers.get("retry-after", "").strip()
    if given.isdecimal() and len(given) < 9:
        return timedelta(seconds=int(given))
    try:
        return parsedate_to_datetime(given).astimezone(UTC) - now if given else None
    except (ValueError, OverflowError):
        return None


def segment(text: str) -> str:
    """Return a text as one segment of a URL's path, whatever it holds.

    Raises:
        RemoteRefusedError: it would step out of its place.
    """
    if text in (".", ".."):
        raise RemoteRefusedError("a name must not be . or ..")
    return quote(text, safe="")


def _asks_to_wait(answer: RemoteAnswer) -> bool:
    return answer.status == 429


class RemoteHttp:
    """Sends requests over pooled connections. Closed with `close`.

    Args:
        gate: for all of them.
        clock: for what is signed, and for dates that remotes name.
        trusted: for TLS; the system's CAs by default.
        sleep: takes seconds.
        endpoint: a place that may be called besides, with all that lies below it; nothing else of its host is.
        body_limit_bytes: of each answer.
    """

    def __init__(
        self,
        gate: Gate,
        clock: Clock,
        trusted: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        endpoint: OutboundUrl | None = None,
        *,
        body_limit_bytes: int = _BODY_LIMIT_BYTES,
    ) -> None:
        self._body_limit_bytes = body_limit_bytes
        self._gate = gate
        self._endpoint = endpoint
        self._gate_of_endpoint = gate if endpoint is None else gate.opened_to(endpoint.place)
        self._clock = clock
        self._sleep = sleep
        self._trusted = trusted
        self._pools: dict[tuple[str, Gate], httpcore.AsyncConnectionPool] = {}
        self._turns: WeakValueDictionary[tuple[str, str, int], asyncio.Semaphore] = WeakValueDictionary()

    def now(self) -> datetime:
        """Return the present instant, for what is signed with it."""
        return self._clock.now()

    async def pause(self, wait: timedelta) -> None:
        """Return after that time: a remote needs a moment until what it answered holds everywhere."""
        await self._sleep(wait.total_seconds())

    async def close(self) -> None:
        """Close all connections."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    async def send(self, request: RemoteRequest, *, is_throttled: Throttling = _asks_to_wait) -> RemoteAnswer:
        """Return what the remote answers, whatever its status; while it is throttled, wait and ask again.

        Raises:
            RemoteRefusedError: the URL or a header has a form that can't be sent, or the host may not be called.
            RemoteThrottledError: it asked to come later too often.
            RemoteUnavailableError: it can't be reached or verified, took too long, or answers too much.
        """
        answer = await self._once(request)
        for _ in range(_THROTTLED_RETRIES):
            if not is_throttled(answer):
                return answer
            await self._sleep(self._wait(answer).total_seconds())
            answer = await self._once(request)
        if is_throttled(answer):
            raise RemoteThrottledError("the remote throttles requests and kept asking to come later")
        return answer

    def _wait(self, answer: RemoteAnswer) -> timedelta:
        wait = asked_wait(answer, self._clock.now()) or _THROTTLED_WAIT
        return min(max(wait, _THROTTLED_WAIT), _THROTTLED_WAIT_MAX)

    async def _once(self, request: RemoteRequest) -> RemoteAnswer:
        url, target = _target(request.url)
        headers = {"Host": _authority(url), "User-Agent": "keybearer", **request.headers}
        if any(not _HEADER_VALUE.fullmatch(value) for value in headers.values()):
            raise RemoteRefusedError("the credentials hold a character that no header may")
        turn = self._turns.setdefault(url.origin, asyncio.Semaphore(_AT_ONCE))
        try:
            async with turn, asyncio.timeout(_EXCHANGE.total_seconds()):
                return await self._exchange(request, url, target, headers)
        except TimeoutError as error:
            raise RemoteUnavailableError("the remote took too long to answer") from error
        except OutboundRefusedError as error:
            raise RemoteRefusedError(str(error)) from error
        except OutboundFailedError as error:
            raise RemoteUnavailableError(str(error)) from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            # Its text may repeat what was sent; TLS that can't be verified comes here as well.
            raise RemoteUnavailableError(f"no usable answer came: {type(error).__name__}") from error

    async def _exchange(
        self, request: RemoteRequest, url: OutboundUrl, target: httpcore.URL, headers: Mapping[str, str]
    ) -> RemoteAnswer:
        received = bytearray()
        async with self._pool(url).stream(
            request.method, target, headers=list(headers.items()), content=request.content
        ) as response:
            async for part in response.aiter_stream():
                received += part
                if len(received) > self._body_limit_bytes:
                    raise RemoteUnavailableError(
                        f"the remote answers more than {self._body_limit_bytes >> 20} MiB"
                    )
            found = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
            }
            return RemoteAnswer(response.status, found, bytes(received))

    def _pool(self, url: OutboundUrl) -> httpcore.AsyncConnectionPool:
        is_endpoint = self._endpoint is not None and self._endpoint.holds(url)
        gate = self._gate_of_endpoint if is_endpoint else self._gate
        # A connection that is kept alive passes no gate again: each gate has those that it let through.
        pool = self._pools.get((url.scheme, gate))
        if pool is None:
            pool = self._pools[url.scheme, gate] = httpcore.AsyncConnectionPool(
                # Read when the first remote is called: most services have none.
                ssl_context=self._trusted or trust(""),
                max_connections=_CONNECTIONS,
                keepalive_expiry=_KEPT.total_seconds(),
                http2=False,
                network_backend=GatedBackend(gate, needs_listing=url.scheme == "http"),
            )
        return pool


def _target(text: str) -> tuple[OutboundUrl, httpcore.URL]:
    if not _VISIBLE.fullmatch(text):
        raise RemoteRefusedError("the address holds a character that none may")
    try:
        parts = urlsplit(text)
        url = parse_url(f"{parts.scheme}://{parts.netloc}", HTTP_PORTS)
    except ValueError as error:
        raise RemoteRefusedError(f"the address {error}") from None
    target = parts.path or "/"
    if parts.query:
        target = f"{target}?{parts.query}"
    whole = replace(url, path=parts.path)
    return whole, httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=target)


def _authority(url: OutboundUrl) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return host if url.port == HTTP_PORTS[url.scheme] else f"{host}:{url.port}"
