"""Turns among tenants: a few hold one at once, and none holds all of them while another waits."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["FairTurns"]


class FairTurns:
    """A semaphore that tenants take in turn, those first that hold nothing of it.

    Args:
        at_once: how many turns there are.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        """Wait for a turn, and hold it."""
        if self._free:
            self._grant(tenant)
        else:
            await self._wait(tenant)
        try:
            yield
        finally:
            self._release(tenant)

    async def _wait(self, tenant: str) -> None:
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._release(tenant)  # it was given at the same moment
            else:
                self._leave(tenant, mine)
            raise

    def _grant(self, tenant: str) -> None:
        self._free -= 1
        self._held[tenant] += 1

    def _release(self, tenant: str) -> None:
        self._free += 1
        self._held[tenant] -= 1
        if not self._held[tenant]:
            del self._held[tenant]
        first = {
            tenant: mine
            for tenant, queue in self._waiting.items()
            if (mine := next((one for one in queue if not one.done()), None)) is not None
        }
        if not first:
            return
        # Ties go to who has waited longest since its last turn.
        chosen = min(first, key=lambda waiting: self._held[waiting])
        self._leave(chosen, first[chosen])
        if chosen in self._waiting:
            self._waiting.move_to_end(chosen)
        self._grant(chosen)
        first[chosen].set_result(None)

    def _leave(self, tenant: str, mine: asyncio.Future[None]) -> None:
        self._waiting[tenant].remove(mine)
        if not self._waiting[tenant]:
            del self._waiting[tenant]
