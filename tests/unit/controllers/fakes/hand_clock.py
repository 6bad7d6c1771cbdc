"""A clock that a test moves by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["HandClock"]


class HandClock:
    """All three clocks of `keybearer.base.clock.Clock`; `seconds` is what the monotonic one shows."""

    def __init__(self, wall: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> None:
        self._wall = wall
        self.seconds = 1000.0

    def now(self) -> datetime:
        return self._wall + timedelta(seconds=self.seconds - 1000)

    def monotonic(self) -> float:
        return self.seconds

    def boottime(self) -> float:
        return self.seconds
