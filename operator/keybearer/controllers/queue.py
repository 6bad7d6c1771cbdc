"""One queue of work for all kinds: keys without events, so that many triggers become one reconcile.

Level-triggered: a key says *look at this object*, never what happened to it. A key is at most once in the queue
and is never worked on by two workers; a trigger that arrives meanwhile makes it run once more. Lanes order what
people wait for before what runs by itself, namespaces take turns inside a lane, and every `_AGING`th turn goes to
one of the less urgent lanes, each in its turn, so that no tenant's hot loop starves another's refresh. A namespace
has a bounded number of keys in work at once, so that slow ones of one tenant never hold all workers; urgent ones are
counted apart, so that none waits for the bulk of its own namespace.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, OrderedDict, deque
from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import timedelta

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.controllers.delays import Delays
from keybearer.controllers.work import Lane, WorkItem, WorkKey

__all__ = ["Shares", "WorkQueue"]

_AGING = 8
"""Every eighth turn goes to the lanes below the first, each in turn: a 24th of all turns is sure to each."""

_LANES = tuple(Lane)


@dataclass(frozen=True, slots=True)
class Shares:
    """How many keys of one namespace may be in work at once, urgent ones and others."""

    urgent: int
    other: int


@dataclass(slots=True)
class _Run:
    """A key in work: how it is counted, and the lane and instant of a trigger that came meanwhile."""

    urgent: bool
    again: tuple[Lane, float] | None = None


class _FairLane:
    """Keys of one lane, first come first served inside a namespace, namespaces in turn."""

    def __init__(self) -> None:
        # OrderedDicts, for they give their first entry in constant time however many went before it.
        self._by_namespace: OrderedDict[str, OrderedDict[WorkKey, None]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._by_namespace)

    def push(self, key: WorkKey) -> None:
        self._by_namespace.setdefault(key.namespace, OrderedDict())[key] = None

    def pop(self, full: Container[str]) -> WorkKey | None:
        """Return the next key outside the namespaces that have their share, if there is one."""
        namespace = next((namespace for namespace in self._by_namespace if namespace not in full), None)
        if namespace is None:
            return None
        keys = self._by_namespace[namespace]
        key, _ = keys.popitem(last=False)
        if keys:
            self._by_namespace.move_to_end(namespace)
        else:
            del self._by_namespace[namespace]
        return key

    def discard(self, key: WorkKey) -> None:
        keys = self._by_namespace[key.namespace]
        del keys[key]
        if not keys:
            del self._by_namespace[key.namespace]


class WorkQueue:
    """Deduplicating, fair, with lanes, delayed adds and per-key backoff. Belongs to one event loop."""

    def __init__(
        self,
        clock: Clock,
        backoff: Backoff,
        rng: random.Random | None = None,
        *,
        shares: Shares | None = None,
    ) -> None:
        """Start empty.

        Args:
            clock: for delays.
            backoff: the delays of keys that fail.
            rng: for their jitter.
            shares: of a namespace; None lets one have all workers.
        """
        self._clock = clock
        self._shares = None if shares is None else {True: shares.urgent, False: shares.other}
        self._backoff = backoff
        self._rng = rng or random.Random()  # noqa: S311 - jitter, not cryptography
        self._lanes = tuple(_FairLane() for _ in Lane)
        self._waiting: dict[WorkKey, tuple[Lane, float]] = {}
        self._running: dict[WorkKey, _Run] = {}
        self._running_in: Counter[tuple[str, bool]] = Counter()
        self._full: dict[bool, set[str]] = {True: set(), False: set()}
        self._failures: dict[WorkKey, int] = {}
        self._delays = Delays(clock, self.add)
        self._turn = 0
        self._closed = False
        self._takers: deque[asyncio.Future[None]] = deque()
        self._urgent_takers: deque[asyncio.Future[None]] = deque()
        self._idle: list[asyncio.Future[None]] = []

    def __len__(self) -> int:
        """Return how many keys wait for their turn; delayed ones don't count."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Return how many keys are being worked on."""
        return len(self._running)

    def is_waiting(self, lane: Lane) -> bool:
        """Tell whether a key waits in the lane."""
        return bool(self._lanes[lane])

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
        self._delays.discard(key)
        run = self._running.get(key)
        if run is not None:
            run.again = (lane, now) if run.again is None else (min(lane, run.again[0]), run.again[1])
        else:
            self._wait(key, lane, now)

    def add_after(self, key: WorkKey, delay: timedelta, lane: Lane = Lane.REFRESH) -> None:
        """Make the key run after the delay, unless it is added sooner; the nearer of two delays wins."""
        if not self._closed:
            self._delays.add(key, delay, lane)

    def forget(self, key: WorkKey) -> None:
        """Drop all that is remembered of a key whose object is gone; a run under way is not touched."""
        self._failures.pop(key, None)
        self._delays.discard(key)
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            self._lanes[waiting[0]].discard(key)
        if key in self._running:
            self._running[key].again = None
        self._tell_idle()

    def failures(self, key: WorkKey) -> int:
        """Return how many runs in a row asked for backoff."""
        return self._failures.get(key, 0)

    async def take(self, *, urgent_only: bool = False) -> WorkItem:
        """Wait for the next key, which is then this worker's until `done`.

        Args:
            urgent_only: pass over all lanes but the first; workers kept for it make it wait for nothing else.

        Raises:
            asyncio.CancelledError: the worker was cancelled, or the queue is closed.
        """
        takers = self._urgent_takers if urgent_only else self._takers
        while True:
            item = self._pop(urgent_only=urgent_only)
            if item is not None:
                if self._waiting:
                    # It may have taken what woke another, who finds nothing now: whoever takes wakes the next.
                    self._wake_any()
                return item
            if self._closed:
                raise asyncio.CancelledError
            taker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            takers.append(taker)
            try:
                await taker
            except asyncio.CancelledError:
                if taker.done() and not taker.cancelled():
                    self._wake_any()  # the wake-up was ours: hand it on
                raise

    def done(self, key: WorkKey, *, failed: bool = False, requeue_after: timedelta | None = None) -> None:
        """End the run of a key.

        Args:
            key: what `take` gave.
            failed: run again after the backoff of the key; otherwise its count of failures starts anew.
            requeue_after: run again after this time (without backoff).
        """
        run = self._running.pop(key)
        self._release(key.namespace, urgent=run.urgent)
        if failed:
            count = self._failures[key] = self._failures.get(key, 0) + 1
            self.add_after(key, self._backoff.delay(count, self._rng))
        else:
            self._failures.pop(key, None)
        if requeue_after is not None:
            self.add_after(key, requeue_after)
        if run.again is not None and not self._closed:
            self._delays.discard(key)
            self._wait(key, *run.again)
        self._tell_idle()

    def _tell_idle(self) -> None:
        if self._running:
            return
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

    async def rest(self) -> None:
        """Return when no key waits for its turn and none runs."""
        while self._waiting or self._running:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter

    def close(self) -> None:
        """Give out no more keys; waiting workers end with `CancelledError`."""
        self._closed = True
        self._waiting.clear()
        self._delays.stop()
        for taker in (*self._takers, *self._urgent_takers):
            if not taker.done():
                taker.set_result(None)
        self._takers.clear()
        self._urgent_takers.clear()

    def _wait(self, key: WorkKey, lane: Lane, since: float) -> None:
        """Put a key that doesn't run into a lane; one that waits moves up, never down."""
        waiting = self._waiting.get(key)
        if waiting is not None:
            if waiting[0] <= lane:
                return
            self._lanes[waiting[0]].discard(key)
            since = waiting[1]
        self._waiting[key] = (lane, since)
        self._lanes[lane].push(key)
        if not (lane is Lane.URGENT and _wake_one(self._urgent_takers)):
            _wake_one(self._takers)

    def _pop(self, *, urgent_only: bool) -> WorkItem | None:
        if not self._waiting:
            return None
        if urgent_only:
            order: Sequence[Lane] = (Lane.URGENT,)
        else:
            self._turn += 1
            order = self._order()
        for lane in order:
            urgent = lane is Lane.URGENT
            key = self._lanes[lane].pop(self._full[urgent])
            if key is not None:
                _, since = self._waiting.pop(key)
                self._occupy(key, urgent=urgent)
                return WorkItem(key, lane, since)
        return None

    def _occupy(self, key: WorkKey, *, urgent: bool) -> None:
        self._running[key] = _Run(urgent)
        if self._shares is None:
            return
        self._running_in[key.namespace, urgent] += 1
        if self._running_in[key.namespace, urgent] == self._shares[urgent]:
            self._full[urgent].add(key.namespace)

    def _release(self, namespace: str, *, urgent: bool) -> None:
        if self._shares is None:
            return
        self._running_in[namespace, urgent] -= 1
        if not self._running_in[namespace, urgent]:
            del self._running_in[namespace, urgent]
        if namespace in self._full[urgent]:
            self._full[urgent].remove(namespace)
            self._wake_any()  # one of its keys may run now

    def _order(self) -> Sequence[Lane]:
        """Return the lanes in the order of this turn."""
        if self._turn % _AGING:
            return _LANES
        urgent, *lower = _LANES
        shift = self._turn // _AGING % len(lower)
        return (*lower[shift:], *lower[:shift], urgent)

    def _wake_any(self) -> None:
        _wake_one(self._urgent_takers)
        _wake_one(self._takers)


def _wake_one(takers: deque[asyncio.Future[None]]) -> bool:
    while takers:
        taker = takers.popleft()
        if not taker.done():
            taker.set_result(None)
            return True
    return False
