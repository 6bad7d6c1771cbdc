"""A queue of keys in virtual time, and what a worker would get from it now."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from keybearer.base.backoff import Backoff
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.work import WorkItem, WorkKey
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.virtual_loop import LoopClock, settle

__all__ = ["EXACT", "key", "new_queue", "run_one", "taken"]

EXACT = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(minutes=5), jitter=0)


def key(name: str, namespace: str = "team-a") -> WorkKey:
    return WorkKey("SecretSync", namespace, name)


def new_queue() -> WorkQueue:
    return WorkQueue(LoopClock(), EXACT, SteadyChance())


async def taken(queue: WorkQueue) -> WorkItem | None:
    """Return what a worker would get now, or None where it would have to wait; no time passes."""
    taking = asyncio.create_task(queue.take())
    await settle()
    if taking.done():
        return taking.result()
    taking.cancel()
    await settle()
    return None


async def run_one(queue: WorkQueue) -> WorkKey | None:
    item = await taken(queue)
    if item is None:
        return None
    queue.done(item.key)
    return item.key
