"""When the destinations of syncs are looked at by the service itself: after an interval, and not all at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.domain.syncs.queueing import queue_look
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["LookTimes", "latest_look"]

_AT_ONCE = 50
"""Looks queued in one transaction; other writers wait for it."""
_SPREAD = 10
"""Looks that are due at the same time begin within this part of an interval, and so often it is asked for some."""
_RNG = random.Random()  # noqa: S311 - spreads, protects nothing
_log = get_logger(__name__)


class LookTimes:
    """Queues looks that are due, of whichever process is first; `run` must be under way."""

    def __init__(self, database: Database, clock: Clock, interval: timedelta) -> None:
        self._database = database
        self._clock = clock
        self._interval = interval

    async def run(self) -> None:
        """Queue looks when it is time, until cancelled."""
        while True:
            wait = self._interval / _SPREAD
            try:
                await self.queue_due()
                wait = min(wait, await self._next_due())
            except Exception as error:  # noqa: BLE001 - whatever it is, the next round finds them again
                _log.warning("secret_sync_looks_not_queued", kind=type(error).__name__)
            # What is due and can't be queued now is not asked for over and over.
            await asyncio.sleep(max(wait, self._interval / _SPREAD / _SPREAD).total_seconds())

    async def queue_due(self) -> int:
        """Queue the looks that are due, to be begun within a part of the interval; return how many."""
        queued = 0
        while True:
            async with self._database.reading() as unit:
                due = await self._due(unit, self._clock.now(), _AT_ONCE)
            if not due:
                return queued

            if (count := await self._database.write(partial(self._queue, due))) == 0:
                # Another process was quicker.
                return queued
            queued += count

    async def _queue(self, due: Sequence[str], unit: UnitOfWork) -> int:
        now = self._clock.now()
        syncs = await unit.secret_syncs.by_ids(due, for_change=True)
        # Another process may have queued some before they were locked.
        still = set(await self._due(unit, now, len(due), among=due))
        for sync in syncs:
            if sync.record.id in still:
                await queue_look(unit, sync, now + self._interval / _SPREAD * _RNG.random(), now)
        return len(still)

    async def _due(
        self, unit: UnitOfWork, now: datetime, limit: int, *, among: Sequence[str] | None = None
    ) -> list[str]:
        latest = latest_look(now, self._interval)
        return await unit.sync_looks.due(now - self._interval, limit, listed_after=latest, among=among)

    async def _next_due(self) -> timedelta:
        async with self._database.reading() as unit:
            listed_at = await unit.sync_looks.first_listed()
        if listed_at is None:
            return self._interval
        return listed_at + self._interval - self._clock.now()


def latest_look(now: datetime, interval: timedelta) -> datetime:
    """Return up to when a look may be dated: clocks of several processes differ a little.

    What is dated later was noted before a clock was set back, so that nobody knows how long ago it was.
    """
    return now + interval / _SPREAD
