"""Keys that are to run later: each at most once, and told of when it is due."""

from __future__ import annotations

import asyncio
import heapq
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.controllers.work import Lane, Trigger, WorkKey

__all__ = ["Delays"]

_STALE_MAX = 256
"""Delays that were overtaken by a trigger and may still lie in the heap, beyond as many as those that count."""

_Delayed = tuple[float, int, WorkKey, Lane]
"""When it is due, a serial number that orders equals, and what."""


class Delays:
    """A timer for the key that is due first. Belongs to one event loop."""

    def __init__(self, clock: Clock, trigger: Trigger) -> None:
        """Start empty.

        Args:
            clock: says when a key is due.
            trigger: told of each key that is.
        """
        self._clock = clock
        self._trigger = trigger
        self._heap: list[_Delayed] = []
        self._due: dict[WorkKey, _Delayed] = {}
        self._serial = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, key: WorkKey, delay: timedelta, lane: Lane) -> None:
        """Have the key told of after the delay; the nearer of two delays wins."""
        due = self._clock.monotonic() + max(delay.total_seconds(), 0.0)
        known = self._due.get(key)
        if known is not None and known[0] <= due:
            return
        self._serial += 1
        self._due[key] = entry = (due, self._serial, key, lane)
        heapq.heappush(self._heap, entry)
        if len(self._heap) > 2 * len(self._due) + _STALE_MAX:
            self._heap = sorted(self._due.values())
        if self._heap[0] is entry:
            self._set_timer()

    def discard(self, key: WorkKey) -> None:
        """Tell of the key no more, until it is added again."""
        self._due.pop(key, None)

    def stop(self) -> None:
        """Tell of no key any more; none may be added after that."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        self.stop()
        if self._heap:
            wait = max(self._heap[0][0] - self._clock.monotonic(), 0.0)
            self._timer = asyncio.get_running_loop().call_later(wait, self._release_due)

    def _release_due(self) -> None:
        now = self._clock.monotonic()
        while self._heap and self._heap[0][0] <= now:
            entry = heapq.heappop(self._heap)
            _, _, key, lane = entry
            if self._due.get(key) is entry:
                self._trigger(key, lane)
        self._set_timer()
