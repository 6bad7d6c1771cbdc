"""Queues looks at the destinations of syncs: one each interval, spread over time."""

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
"""Due looks begin within this fraction of the interval; they are searched for as often."""
_RNG = random.Random()  # noqa: S311 - jitter, not cryptography
_log = get_logger(__name__)


class LookTimes:
    """Queues due looks while `run` runs; of several processes, the first one does."""

    def __init__(self, database: Database, clock: Clock, interval: timedelta) -> None:
        self._database = database
        self._clock = clock
        self._interval = interval

    async def run(self) -> None:
        """Queue looks when they are due, until cancelled."""
        while True:
            wait = self._interval / _SPREAD
            try:
                await self.queue_due()
                wait = min(wait, await self._next_due())
            except Exception as error:  # noqa: BLE001 - the next round finds them again, whatever the error
                _log.warning("secret_sync_looks_not_queued", kind=type(error).__name__)
            # Due looks that can't be queued now must not make this a busy loop.
            await asyncio.sleep(max(wait, self._interval / _SPREAD / _SPREAD).total_seconds())

    async def queue_due(self) -> int:
        """Queue due looks, to begin within a fraction of the interval; return how many."""
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
    """Return the latest plausible time of a look, since the clocks of processes differ a little.

    A look with a later time was noted before a clock was set back, so its age is unknown.
    """
    return now + interval / _SPREAD
