"""A clock that moves only when a test says so, and a sleep that waits for it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from datetime import UTC, datetime, timedelta

__all__ = ["VirtualTime"]

_ROUNDS = 50
"""Turns of the event loop that let tasks run on until each of them waits for time again."""


class VirtualTime:
    """All three clocks of `keybearer.base.clock.Clock`, moved together by `advance`.

    Args:
        wall: what the wall clock shows at the start; clocks of different machines differ by it.
    """

    def __init__(self, wall: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> None:
        self._wall = wall
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> datetime:
        """Return the wall clock."""
        return self._wall + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return 1,000 s and what has passed."""
        return 1000.0 + self._elapsed

    def boottime(self) -> float:
        """Return 5,000 s and what has passed."""
        return 5000.0 + self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Return when the clock has moved so far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        wake = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), wake))
        await wake

    async def settle(self) -> None:
        """Let every task run on until it waits for time, or for something else."""
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)

    async def advance(self, seconds: float) -> None:
        """Move the clock, waking each sleeper at its own instant, in order."""
        await self.settle()
        until = self._elapsed + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            at, _, wake = heapq.heappop(self._sleepers)
            self._elapsed = max(self._elapsed, at)
            if not wake.done():
                wake.set_result(None)
            await self.settle()
        self._elapsed = until
        await self.settle()
