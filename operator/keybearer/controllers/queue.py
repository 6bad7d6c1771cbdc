"""One queue of work for all kinds: keys without events, so that many triggers become one reconcile.

Level-triggered: a key says *look at this object*, never what happened to it. A key is at most once in the queue
and is never worked on by two workers; a trigger that arrives meanwhile makes it run once more. Lanes order what
people wait for before what runs by itself, namespaces take turns inside a lane, and every `_AGING`th turn goes to
the least urgent lane that has work, so that no tenant's hot loop starves another's refresh.
"""

from __future__ import annotations

import asyncio
import heapq
import random
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock

__all__ = ["Lane", "Trigger", "WorkItem", "WorkKey", "WorkQueue"]

_AGING = 8
"""Every eighth turn serves the lowest lane that waits: its share is 12.5 % under any load above it."""


class Lane(IntEnum):
    """Why a key waits; the lower goes first."""

    URGENT = 0
    """Drift of a target, an edited spec, a request by a person, a corrected credential."""
    FIRST = 1
    """An object that was never in sync."""
    CHANGE = 2
    """Its source changed."""
    REFRESH = 3
    """A retry, an audit, a resync."""


@dataclass(frozen=True, slots=True)
class WorkKey:
    """What to look at."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A key whose turn has come, how urgent it was, and since when it waited (monotonic seconds)."""

    key: WorkKey
    lane: Lane
    since: float


class _FairLane:
    """Keys of one lane, first come first served inside a namespace, namespaces in turn."""

    def __init__(self) -> None:
        self._by_namespace: OrderedDict[str, deque[WorkKey]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def push(self, key: WorkKey) -> None:
        self._by_namespace.setdefault(key.namespace, deque()).append(key)
        self._size += 1

    def pop(self) -> WorkKey:
        namespace, keys = next(iter(self._by_namespace.items()))
        key = keys.popleft()
        self._size -= 1
        if keys:
            self._by_namespace.move_to_end(namespace)
        else:
            del self._by_namespace[namespace]
        return key


class WorkQueue:
    """Deduplicating, fair, with lanes, delayed adds and per-key backoff. Belongs to one event loop."""

    def __init__(self, clock: Clock, backoff: Backoff, rng: random.Random | None = None) -> None:
        self._clock = clock
        self._backoff = backoff
        self._rng = rng or random.Random()  # noqa: S311 - jitter, not cryptography
        self._lanes = tuple(_FairLane() for _ in Lane)
        self._waiting: dict[WorkKey, tuple[Lane, float]] = {}
        self._running: dict[WorkKey, tuple[Lane, float] | None] = {}
        self._failures: dict[WorkKey, int] = {}
        self._delayed: list[tuple[float, int, WorkKey, Lane]] = []
        self._due: dict[WorkKey, float] = {}
        self._serial = 0
        self._turn = 0
        self._closed = False
        self._takers: deque[asyncio.Future[None]] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """Return how many keys wait for their turn; delayed ones don't count."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Return how many keys are being worked on."""
        return len(self._running)

    def depth(self) -> dict[Lane, int]:
        """Return how many keys wait in each lane."""
        depth = dict.fromkeys(Lane, 0)
        for lane, _ in self._waiting.values():
            depth[lane] += 1
        return depth

    def add(self, key: WorkKey, lane: Lane) -> None:
        """Make the key run soon: at once, or again after its present run. A later, more urgent lane wins."""
        if self._closed:
            return
        now = self._clock.monotonic()
        self._due.pop(key, None)
        if key in self._running:
            again = self._running[key]
            self._running[key] = (lane, now) if again is None else (min(lane, again[0]), again[1])
            return
        waiting = self._waiting.get(key)
        if waiting is not None and waiting[0] <= lane:
            return
        # A more urgent trigger moves the key up; the entry in the old lane is skipped when its turn comes.
        self._waiting[key] = (lane, waiting[1] if waiting else now)
        self._lanes[lane].push(key)
        self._wake_one()

    def add_after(self, key: WorkKey, delay: timedelta, lane: Lane = Lane.REFRESH) -> None:
        """Make the key run after the delay, unless it is added sooner; the nearer of two delays wins."""
        if self._closed:
            return
        due = self._clock.monotonic() + max(delay.total_seconds(), 0.0)
        known = self._due.get(key)
        if known is not None and known <= due:
            return
        self._due[key] = due
        self._serial += 1
        heapq.heappush(self._delayed, (due, self._serial, key, lane))
        self._set_timer()

    def forget(self, key: WorkKey) -> None:
        """Drop all that is remembered of a key whose object is gone; a run under way is not touched."""
        self._failures.pop(key, None)
        self._due.pop(key, None)
        self._waiting.pop(key, None)
        if key in self._running:
            self._running[key] = None

    def failures(self, key: WorkKey) -> int:
        """Return how many runs in a row asked for backoff."""
        return self._failures.get(key, 0)

    async def take(self) -> WorkItem:
        """Wait for the next key, which is then this worker's until `done`.

        Raises:
            asyncio.CancelledError: the worker was cancelled, or the queue is closed.
        """
        while True:
            item = self._pop()
            if item is not None:
                return item
            if self._closed:
                raise asyncio.CancelledError
            taker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._takers.append(taker)
            try:
                await taker
            except asyncio.CancelledError:
                if taker.done() and not taker.cancelled():
                    self._wake_one()  # the wake-up was ours: hand it on
                raise

    def done(self, key: WorkKey, *, failed: bool = False, requeue_after: timedelta | None = None) -> None:
        """End the run of a key.

        Args:
            key: what `take` gave.
            failed: run again after the backoff of the key; otherwise its count of failures starts anew.
            requeue_after: run again after this time (without backoff).
        """
        again = self._running.pop(key)
        if failed:
            count = self._failures[key] = self._failures.get(key, 0) + 1
            self.add_after(key, self._backoff.delay(count, self._rng))
        else:
            self._failures.pop(key, None)
        if requeue_after is not None:
            self.add_after(key, requeue_after)
        if again is not None:
            self.add(key, again[0])
        if not self._running:
            for waiter in self._idle:
                if not waiter.done():
                    waiter.set_result(None)
            self._idle.clear()

    async def drain(self) -> None:
        """Give out no more keys, and return when those that run have ended."""
        self.close()
        if self._running:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter

    def close(self) -> None:
        """Give out no more keys; waiting workers end with `CancelledError`."""
        self._closed = True
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
        for taker in self._takers:
            if not taker.done():
                taker.set_result(None)
        self._takers.clear()

    def _pop(self) -> WorkItem | None:
        self._turn += 1
        lanes = reversed(self._lanes) if self._turn % _AGING == 0 else iter(self._lanes)
        for fair in lanes:
            while len(fair):
                key = fair.pop()
                waiting = self._waiting.get(key)
                if waiting is None or self._lanes[waiting[0]] is not fair:
                    continue  # forgotten, or moved up to a more urgent lane
                del self._waiting[key]
                self._running[key] = None
                return WorkItem(key, *waiting)
        return None

    def _wake_one(self) -> None:
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)
                return

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._delayed and not self._closed:
            wait = max(self._delayed[0][0] - self._clock.monotonic(), 0.0)
            self._timer = asyncio.get_running_loop().call_later(wait, self._release_due)

    def _release_due(self) -> None:
        now = self._clock.monotonic()
        while self._delayed and self._delayed[0][0] <= now:
            due, _, key, lane = heapq.heappop(self._delayed)
            if self._due.get(key) == due:
                self.add(key, lane)
        self._set_timer()


Trigger = Callable[[WorkKey, Lane], None]
"""How other parts ask for a reconcile: `WorkQueue.add`."""
