"""What keeps others from being asked too much: a service identity too often or in vain, the API server at once."""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from datetime import timedelta

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock

__all__ = ["CircuitBreaker", "ConcurrencyLimit", "TokenBucket", "WriteGate", "urgent_work"]

urgent_work: ContextVar[bool] = ContextVar("urgent_work", default=True)
"""Whether what runs now is what people wait for; a worker says so of each key that it takes."""

_WINDOW = 1000
"""Writes after which the shortest latency seen begins to be forgotten, in case the API server has become slower."""
_QUEUED_NONE, _QUEUED_LOW, _QUEUED_HIGH = 0.5, 2.0, 4.0
"""Writes of ours that may stand in the API server's queue: fewer, and it idles; more, and urgent ones wait."""

_URGENT_RUN_SECONDS = 0.05
"""How long the newest urgent run is given way before it writes: ten times what a repair takes to come so far."""
_URGENT_WRITE_SECONDS = 0.25
"""How long the newest urgent write is."""
_CLOCK_SECONDS = 0.001
"""By how much a timer of the event loop may come too early for the clock."""


class TokenBucket:
    """Lets `burst` calls through at once and `rate` per second after that; callers wait in order."""

    def __init__(self, clock: Clock, *, rate: float, burst: int) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = float(burst)
        self._level = float(burst)
        self._filled_at = clock.monotonic()
        self._turnstile = asyncio.Lock()

    async def take(self) -> None:
        """Wait for a token and take it."""
        async with self._turnstile:
            self._fill()
            if self._level < 1:
                await asyncio.sleep((1 - self._level) / self._rate)
                self._fill()
            self._level -= 1

    def _fill(self) -> None:
        now = self._clock.monotonic()
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now


class CircuitBreaker:
    """Opens after `threshold` failures in a row; then lets one probe through per backoff, until one succeeds."""

    def __init__(self, clock: Clock, backoff: Backoff, *, threshold: int, rng: random.Random) -> None:
        self._clock = clock
        self._backoff = backoff
        self._threshold = threshold
        self._rng = rng
        self._failures = 0
        self._open_until = 0.0

    def admit(self) -> bool:
        """Tell whether a call may go out now; when open, as a probe that holds all others back meanwhile."""
        if self._failures < self._threshold:
            return True
        if self._clock.monotonic() < self._open_until:
            return False
        self._hold_back()
        return True

    def wait(self) -> timedelta:
        """Return how long calls are held back; zero when closed."""
        left = self._open_until - self._clock.monotonic()
        return timedelta(seconds=max(left, 0.0)) if self._failures >= self._threshold else timedelta()

    def succeeded(self) -> None:
        """Close: the service answered, were it with a refusal."""
        self._failures = 0

    def failed(self) -> None:
        """Count a call that got no proper answer; open when there were too many in a row."""
        self._failures += 1
        if self._failures >= self._threshold:
            self._hold_back()

    def _hold_back(self) -> None:
        pause = self._backoff.delay(self._failures - self._threshold + 1, self._rng)
        self._open_until = self._clock.monotonic() + pause.total_seconds()


class ConcurrencyLimit:
    """Finds how many bulk writes at once keep the API server busy without making it a queue.

    TCP Vegas on the latency of writes: of `limit` in flight, `limit * (1 - shortest / present)` stand in line at
    the other side. A drift repair that arrives in the middle of ten thousand first syncs then waits for a few
    writes, not for all of them; on an API server that is far away and idle the limit grows to the maximum.
    """

    def __init__(self, *, minimum: int = 2, maximum: int) -> None:
        self._minimum = min(minimum, maximum)
        self._maximum = maximum
        self._limit = self._minimum  # small, so that the shortest latency is seen before a queue of ours
        self._shortest = [math.inf, math.inf]
        self._counted = 0
        self._sum = 0.0
        self._samples = 0

    @property
    def limit(self) -> int:
        """How many may run at once now."""
        return self._limit

    def observe(self, seconds: float, in_use: int) -> int:
        """Take in the latency of one write, and return the limit that follows.

        Args:
            seconds: from sending to answer.
            in_use: how many bulk writes are under way; a limit that isn't reached is not raised.
        """
        self._counted += 1
        if self._counted % _WINDOW == 0:
            # What is the shortest has to be seen without our own queue, or a busy server would pass for a far one.
            self._shortest = [self._shortest[1], math.inf]
            self._limit = self._minimum
            self._sum, self._samples = 0.0, 0
        self._shortest[1] = min(self._shortest[1], seconds)
        self._sum += seconds
        self._samples += 1
        if self._samples >= 2 * self._limit:
            present = self._sum / self._samples
            queued = self._limit * (1 - min(self._shortest) / present) if present > 0 else 0.0
            if queued > _QUEUED_HIGH:
                self._limit = max(self._minimum, self._limit - 1)
            elif queued < _QUEUED_LOW and in_use >= self._limit:
                step = self._limit if queued < _QUEUED_NONE else 1
                self._limit = min(self._maximum, self._limit + step)
            self._sum, self._samples = 0.0, 0
        return self._limit


class _Recent:
    """Counts what is under way, and tells whether the newest of it began a moment ago."""

    def __init__(self, clock: Clock, moment: float, over: Callable[[], None]) -> None:
        """Count nothing yet.

        Args:
            clock: for the age of the newest.
            moment: in seconds.
            over: called when something is not recent any more, or not under way.
        """
        self._clock = clock
        self._moment = moment
        self._over = over
        self._under_way = 0
        self._since = -math.inf

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count what runs within."""
        self._under_way += 1
        self._since = self._clock.monotonic()
        timer = asyncio.get_running_loop().call_later(self._moment + _CLOCK_SECONDS, self._over)
        try:
            yield
        finally:
            timer.cancel()
            self._under_way -= 1
            self._over()

    def is_recent(self) -> bool:
        """Tell whether something is under way whose newest began less than a moment ago."""
        return self._under_way > 0 and self._clock.monotonic() - self._since < self._moment


class WriteGate:
    """Lets urgent writes pass, and bulk writes in turn, as many at once as the limit says.

    While an urgent run is young, or writes, bulk writes have half of their places: it finds a shorter queue, and on
    an API server without one nobody loses more than that. An urgent run that waits for something else, a slow
    template say, is given way for a moment only.
    """

    def __init__(self, clock: Clock, limit: ConcurrencyLimit) -> None:
        self._clock = clock
        self._limit = limit
        self._in_use = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._urgent = _Recent(clock, _URGENT_RUN_SECONDS, self._admit)
        self._urgent_writes = _Recent(clock, _URGENT_WRITE_SECONDS, self._admit)

    @property
    def limit(self) -> int:
        """How many bulk writes may be under way at once where nothing urgent runs."""
        return self._limit.limit

    @contextmanager
    def run(self, *, urgent: bool) -> Iterator[None]:
        """Say of what runs within, and of its writes, whether it is urgent."""
        token = urgent_work.set(urgent)
        try:
            with self._urgent.one() if urgent else nullcontext():
                yield
        finally:
            urgent_work.reset(token)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[None]:
        """Wait for a place unless the work is urgent, then take the time of what is done within, if it succeeds."""
        if urgent_work.get():
            with self._urgent_writes.one():
                yield
            return
        await self._enter()
        began = self._clock.monotonic()
        try:
            yield
            # A refusal is quick whatever the queue: it says nothing of it.
            self._limit.observe(self._clock.monotonic() - began, self._in_use)
        finally:
            self._leave()

    async def _enter(self) -> None:
        if self._in_use < self._room() and not self._line:
            self._in_use += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()  # the place was ours already: hand it on
            raise

    def _leave(self) -> None:
        self._in_use -= 1
        self._admit()

    def _room(self) -> int:
        gives_way = self._urgent.is_recent() or self._urgent_writes.is_recent()
        return max(1, self._limit.limit // 2) if gives_way else self._limit.limit

    def _admit(self) -> None:
        room = self._room()
        while self._line and self._in_use < room:
            place = self._line.popleft()
            if not place.done():
                self._in_use += 1
                place.set_result(None)
