"""HTTP with the remotes of connections: through the gate, over pooled connections, within their rate limits."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import httpcore

from keybearer.base.clock import Clock
from keybearer.destinations.remote import (
    NO_LIMITS,
    Limits,
    RemoteAnswer,
    RemoteRefusedError,
    RemoteRequest,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.outbound.errors import OutboundFailedError, OutboundRefusedError
from keybearer.outbound.gate import Gate
from keybearer.outbound.http import GatedBackend
from keybearer.outbound.pace import Pace, Paces
from keybearer.outbound.trust import trust
from keybearer.outbound.urls import HTTP_PORTS, OutboundUrl, parse_url

__all__ = ["RemoteHttp"]

_BODY_LIMIT_BYTES = 16 * 1024 * 1024
_EXCHANGE = timedelta(seconds=30)
_THROTTLED_RETRIES = 10
"""wire.md section 3.5."""
_KEPT_ASKING = "the remote throttles requests and kept asking to come later"
_PATIENCE = timedelta(seconds=5)
"""A longer wait ends the run, so that it doesn't occupy a worker."""
_LEAST_SLEEP = timedelta(milliseconds=2)
"""Timers of event loops count whole milliseconds, and may end one early: what is left then would be slept in no time,
again and again, until the tries are over."""
_REPEATS = (timedelta(milliseconds=500), timedelta(seconds=2))
"""Pauses before a request that failed for a passing reason is repeated."""
_PASSING = frozenset({500, 502, 503, 504})
_READING = frozenset({"GET", "HEAD"})
_HEADER_VALUE = re.compile(r"[ -~]*")
_VISIBLE = re.compile(r"[!-~]*")
_CONNECTIONS = 100
_AT_ONCE = 10
"""Requests at once to one origin, so that a slow remote doesn't block the others."""
_KEPT = timedelta(seconds=20)


class RemoteHttp:
    """Sends requests over pooled connections. Closed with `close`.

    Args:
        gate: for all requests.
        clock: for signatures, and for dates in answers.
        trusted: for TLS; the system's CAs by default.
        sleep: takes seconds.
        endpoint: a URL that may be called too, with all paths below it, but no other path of its host.
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
        self._paces = Paces()
        self._turns: WeakValueDictionary[tuple[str, str, int], asyncio.Semaphore] = WeakValueDictionary()

    def now(self) -> datetime:
        """Return the present time, for signatures."""
        return self._clock.now()

    async def pause(self, wait: timedelta) -> None:
        """Wait that long: some remotes take a moment until a change is visible everywhere."""
        await self._sleep(wait.total_seconds())

    async def close(self) -> None:
        """Close all connections."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    async def send(
        self, request: RemoteRequest, *, limits: Limits = NO_LIMITS, place: str = ""
    ) -> RemoteAnswer:
        """Return the answer of the remote, whatever its status; repeat a request that failed for a passing reason.

        Args:
            request: to be sent.
            limits: of the remote.
            place: the account; requests of one place at one origin share their limits and waits.

        Raises:
            RemoteRefusedError: the URL or a header can't be sent, or the host may not be called.
            RemoteThrottledError: the remote asks for a longer wait than is made here; the error says how long.
            RemoteUnavailableError: it can't be reached or verified, took too long, or its answer is too large.
        """
        url, target = _target(request.url)
        pace = self._paces.of(url.origin, place)
        is_write = request.method not in _READING
        for _ in range(1 + _THROTTLED_RETRIES):
            async with pace.turn():
                await self._wait_for(pace, limits, is_write=is_write)
                answer = await self._repeatedly(request, url, target)
                now, at = self._clock.now(), self._clock.monotonic()
                if not pace.hear(answer, limits, now, at, is_write=is_write):
                    return answer
        raise RemoteThrottledError(_KEPT_ASKING)

    async def _wait_for(self, pace: Pace, limits: Limits, *, is_write: bool) -> None:
        for _ in range(1 + _THROTTLED_RETRIES):
            wait = pace.delay(limits, self._clock.monotonic(), is_write=is_write)
            if not wait:
                return
            if wait > _PATIENCE:
                raise RemoteThrottledError(
                    f"the remote limits requests; it takes more in {_in_words(wait)}", wait=wait
                )
            await self._sleep(max(wait, _LEAST_SLEEP).total_seconds())
            # Answers to other requests may have extended the wait meanwhile.
        raise RemoteThrottledError(_KEPT_ASKING)

    async def _repeatedly(
        self, request: RemoteRequest, url: OutboundUrl, target: httpcore.URL
    ) -> RemoteAnswer:
        for pause in _REPEATS if request.is_repeatable else ():
            with suppress(_PassingError):
                answer = await self._once(request, url, target)
                if answer.status not in _PASSING or "retry-after" in answer.headers:
                    return answer
            await self._sleep(pause.total_seconds())
        return await self._once(request, url, target)

    async def _once(self, request: RemoteRequest, url: OutboundUrl, target: httpcore.URL) -> RemoteAnswer:
        headers = {"Host": _authority(url), "User-Agent": "keybearer", **request.headers}
        if any(not _HEADER_VALUE.fullmatch(value) for value in headers.values()):
            raise RemoteRefusedError("the credentials hold a character that is not allowed in a header")
        turn = self._turns.setdefault(url.origin, asyncio.Semaphore(_AT_ONCE))
        try:
            async with turn, asyncio.timeout(_EXCHANGE.total_seconds()):
                return await self._exchange(request, url, target, headers)
        except TimeoutError as error:
            raise RemoteUnavailableError("the remote took too long to answer") from error
        except OutboundRefusedError as error:
            raise RemoteRefusedError(str(error)) from error
        except OutboundFailedError as error:
            raise _PassingError(str(error)) from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            # The message may repeat what was sent. A failed TLS verification raises this too.
            raise _PassingError(f"no usable answer came: {type(error).__name__}") from error

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
        # A pooled connection is not checked again, so each gate has its own pool.
        pool = self._pools.get((url.scheme, gate))
        if pool is None:
            pool = self._pools[url.scheme, gate] = httpcore.AsyncConnectionPool(
                # Loaded with the first request: most services have no remotes.
                ssl_context=self._trusted or trust(""),
                max_connections=_CONNECTIONS,
                keepalive_expiry=_KEPT.total_seconds(),
                http2=False,
                network_backend=GatedBackend(gate, needs_listing=url.scheme == "http"),
            )
        return pool


class _PassingError(RemoteUnavailableError):
    """No answer came; another attempt may succeed."""


def _in_words(wait: timedelta) -> str:
    seconds = round(wait.total_seconds())
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


def _target(text: str) -> tuple[OutboundUrl, httpcore.URL]:
    if not _VISIBLE.fullmatch(text):
        raise RemoteRefusedError("the address holds a character that is not allowed in an address")
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
