"""What keeps one service identity from being asked too often, or in vain."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock

__all__ = ["CircuitBreaker", "TokenBucket"]


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
