"""A clock that nobody waits for: whoever sleeps moves it on."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from keybearer.base.clock import Clock

__all__ = ["JumpingClock"]


class JumpingClock(Clock):
    """All three clocks. It begins now, since real servers compare what is signed with their own time."""

    def __init__(self) -> None:
        self._begun = datetime.now(UTC)
        self._passed = timedelta(0)

    def now(self) -> datetime:
        """Return the wall clock."""
        return self._begun + self._passed

    def monotonic(self) -> float:
        """Return seconds since it was made."""
        return self._passed.total_seconds()

    def boottime(self) -> float:
        """Return seconds since it was made."""
        return self._passed.total_seconds()

    def move(self, time: timedelta) -> None:
        """Have so much time pass."""
        self._passed += time

    async def sleep(self, seconds: float) -> None:
        """Return at once, so many seconds later."""
        self.move(timedelta(seconds=seconds))
        await asyncio.sleep(0)
