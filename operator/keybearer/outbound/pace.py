"""When a remote may be asked again: what its answers say of limits, in every form, and writes that are spread.

`Retry-After` (RFC 9110 section 10.2.3), reset and remaining counts with and without `x-` before them (GitHub, GitLab
and others), and the fields of draft-ietf-httpapi-ratelimit-headers.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from keybearer.destinations.remote import Limits, RemoteAnswer

__all__ = ["Pace", "Paces", "asked_wait"]

_PACES_MAX = 10_000
_WAIT_MAX = timedelta(hours=24)
_SINCE_1970 = 1_000_000_000
"""A larger reset is an instant, a smaller one a number of seconds: vendors differ, and don't say which it is."""
_RESETS = ("x-ratelimit-reset", "ratelimit-reset", "x-rate-limit-reset")
_REMAINING = ("x-ratelimit-remaining", "ratelimit-remaining", "x-rate-limit-remaining")
_STRUCTURED = re.compile(r";\s*r=(\d{1,9})(?=.*;\s*t=(\d{1,9}))|;\s*t=(\d{1,9})(?=.*;\s*r=(\d{1,9}))")
_MINUTE_SECONDS = 60
_UNSAID_GROW = timedelta(minutes=1)
"""Assumed waits of at least this double while requests are refused. Shorter ones are bounded by the retries of a
request (wire.md section 3.5), and by the pauses between attempts of a run."""
_UNSAID_MAX = timedelta(hours=1)
_LEAST = timedelta(seconds=1)
_FAILED_FROM = 500
"""Such an answer doesn't say how the remote will take the next request."""
_UNAVAILABLE = 503
"""This status may come with Retry-After (RFC 9110 section 15.6.4)."""


def asked_wait(answer: RemoteAnswer, now: datetime) -> timedelta | None:
    """Return how long an answer asks to wait (RFC 9110 section 10.2.3); None if it doesn't say."""
    given = answer.headers.get("retry-after", "").strip()
    if given.isdecimal() and given.isascii():
        return min(timedelta(seconds=min(int(given[:12]), 10**9)), _WAIT_MAX)
    try:
        return parsedate_to_datetime(given).astimezone(UTC) - now if given else None
    except (ValueError, OverflowError):
        return None


def _number(answer: RemoteAnswer, names: tuple[str, ...]) -> float | None:
    for name in names:
        given = answer.headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", given):
            return float(given)
    return None


def _until_reset(answer: RemoteAnswer, now: datetime) -> timedelta | None:
    reset = _number(answer, _RESETS)
    if reset is None:
        return None
    seconds = reset - now.timestamp() if reset > _SINCE_1970 else reset
    return timedelta(seconds=max(seconds, 0))


def _used_up(answer: RemoteAnswer, now: datetime) -> timedelta | None:
    """Return how long until requests are allowed again; None if they are, or the answer doesn't say."""
    structured = _STRUCTURED.search(answer.headers.get("ratelimit", ""))
    if structured:
        left, seconds = (structured[1], structured[2]) if structured[1] else (structured[4], structured[3])
        return timedelta(seconds=int(seconds)) if int(left) == 0 else None
    return _until_reset(answer, now) if _number(answer, _REMAINING) == 0 else None


class Pace:
    """The pace of one account at one origin. Instants are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._not_before = 0.0
        self._is_well = asyncio.Event()
        self._is_well.set()
        self._probe = asyncio.Lock()
        self._unsaid = timedelta(0)
        self._refuses_writes = False
        self._writes_left = 0.0
        self._refilled_at: float | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a turn while a request waits and is sent; after a limit, one at a time until one is answered well."""
        async with AsyncExitStack() as alone:
            if not self._is_well.is_set():
                await alone.enter_async_context(self._probe)
                if self._is_well.is_set():
                    await alone.aclose()
            yield

    def delay(self, limits: Limits, at: float, *, is_write: bool) -> timedelta:
        """Return how long a request must wait; one that need not wait counts as sent."""
        wait = max(self._not_before - at, 0.0)
        if is_write and limits.writes_per_minute is not None:
            wait = max(wait, self._until_refilled(limits.writes_per_minute, at))
            if not wait:
                self._writes_left -= 1
        return timedelta(seconds=wait)

    def _until_refilled(self, per_minute: int, at: float) -> float:
        gained = 0.0 if self._refilled_at is None else (at - self._refilled_at) * per_minute / _MINUTE_SECONDS
        left = per_minute if self._refilled_at is None else self._writes_left + gained
        self._writes_left = min(left, per_minute)
        self._refilled_at = at
        if self._writes_left >= 1:
            return 0.0
        # Wait until half of them are allowed: a short wait before each write would occupy a worker for a minute.
        return (per_minute / 2 - self._writes_left) * _MINUTE_SECONDS / per_minute

    def hear(self, answer: RemoteAnswer, limits: Limits, now: datetime, at: float, *, is_write: bool) -> bool:
        """Note what an answer says about limits; return whether it refuses the request for now.

        Args:
            answer: of the remote.
            limits: of the remote.
            now: the present time, for resets that are instants.
            at: the same instant, by the clock of `delay`.
            is_write: whether the request was one; where writes are refused, readings may be answered.
        """
        # An answer to a request from before the limit says nothing about whether the limit is over.
        is_news = at >= self._not_before
        used_up = _used_up(answer, now)
        if limits.is_throttled(answer):
            self._refuses_writes = is_write
            asked = asked_wait(answer, now) or used_up
            if asked is None and _number(answer, _REMAINING) is None:
                asked = _until_reset(answer, now)
            if asked is not None:
                self._hold(max(asked, _LEAST), at)
            elif is_news:
                self._hold(self._unsaid_wait(limits), at)
            return True
        if is_news and answer.status < _FAILED_FROM and (is_write or not self._refuses_writes):
            self._is_well.set()
            self._unsaid = timedelta(0)
            self._refuses_writes = False
        wait = asked_wait(answer, now) if answer.status == _UNAVAILABLE else used_up
        if wait is not None and wait > timedelta(0):
            self._hold(wait, at)
        return False

    def _unsaid_wait(self, limits: Limits) -> timedelta:
        if limits.unsaid_wait < _UNSAID_GROW:
            return limits.unsaid_wait
        self._unsaid = min(self._unsaid * 2, _UNSAID_MAX) or limits.unsaid_wait
        return self._unsaid

    def _hold(self, wait: timedelta, at: float) -> None:
        self._is_well.clear()
        self._not_before = max(self._not_before, at + min(wait, _WAIT_MAX).total_seconds())


class Paces:
    """The paces of all places that were called recently."""

    def __init__(self) -> None:
        self._paces: OrderedDict[tuple[str, str, int, str], Pace] = OrderedDict()

    def of(self, origin: tuple[str, str, int], place: str) -> Pace:
        """Return the pace of requests of that place at the origin."""
        key = (*origin, place)
        pace = self._paces.setdefault(key, Pace())
        self._paces.move_to_end(key)
        while len(self._paces) > _PACES_MAX:
            self._paces.popitem(last=False)
        return pace
