"""Rate limits (wire.md section 8.3): so many requests of a class, from one address, in a window of time.

By default of failed logins alone. Each process counts by itself and in memory; a window begins with its first
request.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keybearer.base.clock import Clock
from keybearer.base.durations import parse_duration
from keybearer.base.errors import ConfigurationError
from keybearer.domain.addresses import source_of
from keybearer.server.answers import json_response
from keybearer.server.request_scope import request_id_of
from keybearer.wire.errors import ErrorBody

__all__ = [
    "USUAL_RATE_LIMITS",
    "RateLimit",
    "RateLimitShell",
    "RateLimits",
    "RequestClass",
    "class_of",
    "parse_rate_limits",
]

_ADDRESSES_MAX = 10_000
"""Of each class: about 2 MiB. Who has more addresses than that has no use for forgotten counts."""
_REQUESTS_MAX = 1_000_000
_WINDOW_MAX = timedelta(hours=1)
_FORM = re.compile(r"([a-z-]+)=([0-9]{1,7})/([0-9]{1,5}[smh])")


class RequestClass(StrEnum):
    """What is counted together.

    `ALL` counts every request beside its own class, `FAILED_LOGINS` the requests of `AUTH` that were answered 401.
    """

    ALL = "all"
    READ = "read"
    WRITE = "write"
    SECRETS = "secrets"
    AUTH = "auth"
    CREATION = "creation"
    FAILED_LOGINS = "failed-logins"


_CREATING = frozenset({"/api/v1/projects", "/api/v2/workspace", "/api/v1/identities", "/api/v1/users"})
_LOGIN = re.compile(r"/api/v[0-9]/auth(/[^/]+)?/login")
_TOKENS = frozenset({"/api/v1/auth/token/renew", "/api/v1/admin/bootstrap"})
_SECRETS = ("/api/v3/secrets", "/api/v4/secrets")
_UNAUTHORIZED = 401
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_ASKING = re.compile(r"/api/v1/(events|cert-manager/ocsp)/.*|/api/v1/workspace/[^/]+/memberships/details")


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `requests` of a class within `window`, for each address."""

    kind: RequestClass
    requests: int
    window: timedelta


USUAL_RATE_LIMITS = (RateLimit(RequestClass.FAILED_LOGINS, 60, timedelta(seconds=60)),)
"""Guesses cost the service work, and logins that succeed are not among them."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a limit stands after a request: what is left of it, and the seconds until it begins anew."""

    limit: int
    remaining: int
    reset: int
    is_refused: bool = False


@dataclass(slots=True)
class _Window:
    end: float
    count: int = 0


def parse_rate_limits(texts: Iterable[str]) -> tuple[RateLimit, ...]:
    """Return the limits of texts such as `auth=60/60s`, and the usual ones of classes that they don't name.

    Raises:
        ConfigurationError: one is none, or a class has two; the message says what to write.
    """
    limits = tuple(_parsed(text) for text in texts)
    if len({limit.kind for limit in limits}) < len(limits):
        raise ConfigurationError("--rate-limit gives a class twice; give each once")
    named = {limit.kind for limit in limits}
    return (*limits, *(usual for usual in USUAL_RATE_LIMITS if usual.kind not in named))


def _parsed(text: str) -> RateLimit:
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in set(RequestClass):
        classes = ", ".join(RequestClass)
        raise ConfigurationError(
            f"--rate-limit {text!r} is no CLASS=N/WINDOW; write for example auth=60/60s; classes are {classes}"
        )
    limit = RateLimit(RequestClass(match[1]), int(match[2]), parse_duration(match[3]))
    if not 1 <= limit.requests <= _REQUESTS_MAX or not timedelta() < limit.window <= _WINDOW_MAX:
        raise ConfigurationError(f"--rate-limit {text!r}: N is 1 to {_REQUESTS_MAX}, and the window 1s to 1h")
    return limit


def class_of(method: str, path: str) -> RequestClass | None:
    """Return what the request is counted with; nothing for the status, which is always free."""
    if path == "/api/status":
        return None
    if method == "POST" and (_LOGIN.fullmatch(path) or path in _TOKENS):
        return RequestClass.AUTH
    if method == "POST" and path in _CREATING:
        return RequestClass.CREATION
    if path.startswith(_SECRETS):
        return RequestClass.SECRETS
    # To subscribe, and to ask for a certificate's standing or a member, are POSTs that change nothing.
    reads = method in _READING or _ASKING.fullmatch(path) is not None
    return RequestClass.READ if reads else RequestClass.WRITE


class RateLimits:
    """Counts requests by class and address, for a bounded number of addresses."""

    def __init__(
        self, limits: Iterable[RateLimit], clock: Clock, *, addresses_max: int = _ADDRESSES_MAX
    ) -> None:
        self._counters: Mapping[RequestClass, _Counter] = {
            limit.kind: _Counter(limit, clock, addresses_max) for limit in limits
        }
        self.only_failed_logins = self._counters.keys() <= {RequestClass.FAILED_LOGINS}
        """Whether no other class is limited."""
        self.refused: Counter[RequestClass] = Counter()
        """How many were refused of each class, for metrics."""

    def take(self, kind: RequestClass, address: str | None) -> Standing | None:
        """Count a request and return how the limit that is nearest to its end stands; nothing without limits.

        A refused request is not counted: who keeps asking is served again when the window ends.
        """
        counters = [self._counters[each] for each in (kind, RequestClass.ALL) if each in self._counters]
        if not counters:
            return None
        source = source_of(address)
        windows = [(counter, counter.window_of(source)) for counter in counters]
        full = [
            counter.standing(window, is_refused=True)
            for counter, window in windows
            if counter.is_full(window)
        ]
        if full:
            self.refused[kind] += 1
            return max(full, key=lambda standing: standing.reset)
        for _, window in windows:
            window.count += 1
        return min((counter.standing(window) for counter, window in windows), key=_nearness)

    def refuse_login(self, address: str | None) -> Standing | None:
        """Return the state of the limit of failed logins if it refuses this login, and count that; None otherwise."""
        counter = self._counters.get(RequestClass.FAILED_LOGINS)
        if counter is None:
            return None
        window = counter.window_of(source_of(address))
        if not counter.is_full(window):
            return None
        self.refused[RequestClass.FAILED_LOGINS] += 1
        return counter.standing(window, is_refused=True)

    def failed(self, address: str | None) -> None:
        """Count a login that failed."""
        counter = self._counters.get(RequestClass.FAILED_LOGINS)
        if counter is not None:
            counter.window_of(source_of(address)).count += 1


class _Counter:
    """The windows of one limit. All last equally long, so they end in the order in which they began."""

    def __init__(self, limit: RateLimit, clock: Clock, addresses_max: int) -> None:
        self._limit = limit
        self._clock = clock
        self._addresses_max = addresses_max
        self._windows: dict[str, _Window] = {}

    def window_of(self, source: str) -> _Window:
        now = self._clock.monotonic()
        while self._windows and next(iter(self._windows.values())).end <= now:
            del self._windows[next(iter(self._windows))]
        window = self._windows.get(source)
        if window is None:
            if len(self._windows) >= self._addresses_max:
                del self._windows[next(iter(self._windows))]
            window = self._windows[source] = _Window(now + self._limit.window.total_seconds())
        return window

    def is_full(self, window: _Window) -> bool:
        return window.count >= self._limit.requests

    def standing(self, window: _Window, *, is_refused: bool = False) -> Standing:
        left = self._limit.requests - window.count
        reset = max(1, math.ceil(window.end - self._clock.monotonic()))
        return Standing(self._limit.requests, left, reset, is_refused)


class RateLimitShell:
    """Stands before the application; an answer within the limits tells how they stand."""

    def __init__(self, app: ASGIApp, limits: RateLimits) -> None:
        self._app = app
        self._limits = limits

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve or refuse one request."""
        # By default only logins are limited, and these are POSTs: nothing else needs a class then.
        if self._limits.only_failed_logins and scope.get("method") != "POST":
            return self._app(scope, receive, send)
        return self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = class_of(scope["method"], scope["path"]) if scope["type"] == "http" else None
        client = scope.get("client") or (None, 0)
        standing = None if kind is None else self._limits.take(kind, client[0])
        if kind is RequestClass.AUTH and (standing is None or not standing.is_refused):
            standing = self._limits.refuse_login(client[0]) or standing
            send = self._watched(client[0], send)
        if standing is None:
            await self._app(scope, receive, send)
        elif standing.is_refused:
            await _refusal(scope, standing)(scope, receive, send)
        else:

            async def telling(message: Message) -> None:
                if message["type"] == "http.response.start":
                    MutableHeaders(scope=message).update(_headers(standing))
                await send(message)

            await self._app(scope, receive, telling)

    def _watched(self, address: str | None, send: Send) -> Send:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == _UNAUTHORIZED:
                self._limits.failed(address)
            await send(message)

        return watched


def _refusal(scope: Scope, standing: Standing) -> ASGIApp:
    body = ErrorBody(
        req_id=request_id_of(scope),
        status_code=429,
        message=f"Rate limit exceeded. Please try again in {standing.reset} seconds",
        error="RateLimitExceeded",
    )
    answer = json_response(body.model_dump(by_alias=True, exclude={"details"}), 429)
    answer.headers.update({**_headers(standing), "retry-after": str(standing.reset)})
    return answer


def _headers(standing: Standing) -> dict[str, str]:
    return {
        "x-ratelimit-limit": str(standing.limit),
        "x-ratelimit-remaining": str(standing.remaining),
        "x-ratelimit-reset": str(standing.reset),
    }


def _nearness(standing: Standing) -> tuple[int, int]:
    return (standing.remaining, -standing.reset)
