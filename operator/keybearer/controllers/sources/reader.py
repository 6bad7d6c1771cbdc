"""Coalesced reads: one source is read once for all who want it, and again only to ask what changed.

A source is a folder seen by an identity with certain flags. It is polled at the shortest interval among its
subscribers with `If-None-Match`; a change, a failure and a recovery put the subscribers on the queue. So 1,000
SecretSyncs over ten sources cost ten requests per interval, and none of them reads by itself.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable, Collection
from contextvars import Context
from datetime import timedelta
from itertools import count, islice

from keybearer.base.clock import Clock
from keybearer.base.log_subject import log_subject
from keybearer.base.logs import get_logger
from keybearer.controllers.event_feed import RefusalKind
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.sources.follower import PollingOnly, SourceFollower
from keybearer.controllers.sources.query import SourceKey
from keybearer.controllers.sources.session import (
    Listing,
    SourceAnswer,
    SourceFailure,
    SourceSession,
    ask_source,
)
from keybearer.controllers.sources.state import SourceReading, SourceState
from keybearer.controllers.work import Lane, Trigger, WorkKey

__all__ = ["SourceReader"]

_log = get_logger(__name__)

_MIN_GAP = 0.5
"""Seconds between the starts of two reads of a source: a burst of manifests becomes a few reads."""
_SETTLING = 0.02
"""Seconds between hearing of a change and reading it: several events about one write come together."""
_SPREAD_PER_SOURCE, _SPREAD_MAX = 0.01, 5.0
"""Seconds over which the reads of many sources that are due at once are spread."""
_TOLERATED = 1
"""Passing failures in a row that are not shown while a good listing is at hand: a blip costs no status writes."""
_NAMED = 5
"""Subscribers that a line of the log names."""
_VALUES_MAX_BYTES = 128 * 1024 * 1024
"""Values kept over all sources, as memory holds them; the least recently used listing goes first, and is read
whole when next needed."""


class SourceReader:
    """Owns the sources, their polls and their subscribers. `run` must be under way before `read` is called."""

    def __init__(
        self,
        clock: Clock,
        trigger: Trigger,
        rng: random.Random | None = None,
        follower: SourceFollower | None = None,
    ) -> None:
        self._clock = clock
        self._trigger = trigger
        self._follower = follower or PollingOnly()
        self._rng = rng or random.Random()  # noqa: S311 - jitter, not cryptography
        self._sources: OrderedDict[SourceKey, SourceState] = OrderedDict()
        self._wanted: dict[WorkKey, frozenset[SourceKey]] = {}
        self._values_bytes = 0
        self._contents = count(1)
        self._group: asyncio.TaskGroup | None = None
        self.on_read: Callable[[str], None] = lambda _: None
        """Told `changed`, `unchanged` or `failed` after each read; for metrics."""
        self.on_saved: Callable[[], None] = lambda: None
        """Told of each `read` that a reading of another subscriber's served; for metrics."""

    def __len__(self) -> int:
        return len(self._sources)

    async def run(self, started: asyncio.Event) -> None:
        """Own the tasks that read, until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            started.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._group = None
                for source in self._sources.values():
                    source.stop_poll()

    async def read(
        self,
        key: SourceKey,
        session: SourceSession,
        subscriber: WorkKey,
        interval: timedelta,
        *,
        not_before: float,
    ) -> SourceReading:
        """Subscribe to a source, and return what is known of it.

        Args:
            key: the source.
            session: who asks; the newest one given is used from now on.
            subscriber: put on the queue when the source changes, fails or recovers.
            interval: the longest time between two polls; zero asks for none.
            not_before: monotonic seconds; what was read before is read anew.
        """
        source = self._subscribe(key, session, subscriber, interval)
        if source.reading is not None or source.read_at >= max(not_before, 0.0):
            self.on_saved()
        while True:
            fresh = source.secrets is not None and source.read_at >= not_before
            tried = source.failure is not None and source.failed_at >= not_before
            if fresh or tried:
                return source.told()
            await self._join_read(source)

    def retain(self, subscriber: WorkKey, keys: frozenset[SourceKey]) -> None:
        """Keep the subscriber's subscriptions to these sources and end its others."""
        for gone in self._wanted.get(subscriber, frozenset()) - keys:
            source = self._sources.get(gone)
            if source is None:
                continue
            source.subscribers.pop(subscriber, None)
            if not source.subscribers:
                source.stop_poll()
                self._values_bytes -= source.size
                del self._sources[gone]
                self._follower.forget(gone)
        if keys:
            self._wanted[subscriber] = keys
        else:
            self._wanted.pop(subscriber, None)

    def touch(self, keys: Collection[SourceKey], since: float) -> None:
        """Read these sources again soon, as something was heard of them.

        Many at once are spread over a while; a burst about one source becomes a few reads.

        Args:
            keys: the sources.
            since: monotonic seconds; a read that began after it needs no repetition.
        """
        spread = min(len(keys) * _SPREAD_PER_SOURCE, _SPREAD_MAX)
        for key in keys:
            source = self._sources.get(key)
            if source is None or source.started_at >= since:
                continue
            source.changes.heard(self._clock.now().timestamp() - (self._clock.monotonic() - since))
            if source.reading is not None:
                source.is_due = True
            else:
                self._schedule_in(source, _SETTLING + spread * self._rng.random())

    def show(self, keys: Collection[SourceKey]) -> None:
        """Have the subscribers show anew whether changes are heard."""
        for key in keys:
            source = self._sources.get(key)
            # Who waits for the first read shows it after that.
            if source is not None and source.started_at >= 0:
                self._notify(source, Lane.REFRESH)

    def is_instant(self, subscriber: WorkKey) -> bool | None:
        """Tell whether changes of all sources of the subscriber are heard; None if that isn't known yet."""
        heard = {self._follower.is_instant(key) for key in self._wanted.get(subscriber, frozenset())}
        if False in heard:
            return False
        return None if None in heard or not heard else True

    def why_polling(self, subscriber: WorkKey) -> RefusalKind | None:
        """Return why changes of a source of the subscriber are not heard; None where all are, or that isn't known."""
        found = {self._follower.why_polling(key) for key in self._wanted.get(subscriber, frozenset())}
        # The same one each time, or the status would be written each time.
        return next((why for why in RefusalKind if why in found), None)

    def sessions_in_use(self) -> set[str]:
        """Return the ids of the sessions that some source asks through."""
        return {key.session_id for key in self._sources}

    def _subscribe(
        self, key: SourceKey, session: SourceSession, subscriber: WorkKey, interval: timedelta
    ) -> SourceState:
        source = self._sources.get(key)
        if source is None:
            source = self._sources[key] = SourceState(key, session)
        self._sources.move_to_end(key)
        source.session = session
        self._follower.follow(key, session)
        if source.subscribers.get(subscriber) != interval:
            before = source.interval()
            source.subscribers[subscriber] = interval
            self._wanted[subscriber] = self._wanted.get(subscriber, frozenset()) | {key}
            after = source.interval()
            is_nearer = after is not None and (before is None or after < before)
            # Before the first read, and while one is under way, its end schedules the next.
            if is_nearer and source.started_at >= 0 and source.reading is None:
                self._schedule(source)
        return source

    async def _join_read(self, source: SourceState) -> None:
        if source.reading is None:
            if self._group is None:
                raise asyncio.CancelledError
            source.reading = self._group.create_task(self._read_once(source), name=f"read {source.key.query}")
        # A cancelled reconcile must not take the read away from the others who wait for it.
        await asyncio.shield(source.reading)

    async def _read_once(self, source: SourceState) -> None:
        # It is read for all of them, whoever was the first to ask.
        with log_subject({"source": str(source.key.query), "objects": len(source.subscribers)}):
            await self._read(source)

    async def _read(self, source: SourceState) -> None:
        try:
            source.stop_poll()
            gap = source.started_at + _MIN_GAP - self._clock.monotonic()
            if source.started_at < 0:
                await self._follower.settle(source.key)
            elif gap > 0:
                await asyncio.sleep(gap)
            etag = source.etag if source.secrets is not None else None
            source.started_at = started_at = self._clock.monotonic()
            source.is_due = False
            answer = await ask_source(source.session, source.key.query, etag)
            self._take_answer(source, answer, started_at)
        finally:
            source.reading = None
            if source.subscribers:
                self._schedule(source)

    def _take_answer(self, source: SourceState, answer: SourceAnswer, started_at: float) -> None:
        if isinstance(answer, SourceFailure):
            if not answer.passing:
                self._follower.judged(source.key, readable=False)
            self._take_failure(source, answer, started_at)
            return
        self._follower.judged(source.key, readable=True)
        recovered = source.failure is not None
        source.failure = None
        source.failures = 0
        known = source.read_at >= 0
        source.read_at = started_at
        changed = False
        if isinstance(answer, Listing) and not (known and source.is_held(answer.secrets)):
            changed = True
            source.content = next(self._contents)
            source.changes.read(answer.updated)
        if not source.is_due:
            source.changes.heard_at = None
        if isinstance(answer, Listing):
            source.etag = answer.etag
            self._keep(source, answer.secrets)
        self.on_read("changed" if changed else "unchanged")
        # Who waits for the first answer gets it from `read`; nobody else is subscribed yet.
        if (changed and known) or recovered:
            self._notify(source, Lane.CHANGE)

    def _take_failure(self, source: SourceState, failure: SourceFailure, started_at: float) -> None:
        self.on_read("failed")
        source.failures += 1
        source.failed_at = started_at
        told = source.failure
        if not failure.passing:
            self._drop_values(source)  # whoever may not read them any more is given none of them
        if failure.passing and source.secrets is not None and source.failures <= _TOLERATED:
            return
        source.failure = failure
        if told != failure:
            _log.warning(
                "source_read_failed",
                source=str(source.key.query),
                reason=failure.reason,
                read_for=[str(key) for key in islice(source.subscribers, _NAMED)],
            )
            self._notify(source, Lane.REFRESH)

    def _keep(self, source: SourceState, secrets: tuple[SourceSecret, ...]) -> None:
        before = source.size
        source.hold(secrets)
        if self._sources.get(source.key) is not source:
            return  # its last subscriber has left meanwhile: it goes with those who still wait for the read
        self._values_bytes += source.size - before
        for other in self._sources.values():
            if self._values_bytes <= _VALUES_MAX_BYTES:
                break
            if other is not source:
                self._drop_values(other)

    def _drop_values(self, source: SourceState) -> None:
        if source.secrets is None:
            return
        if self._sources.get(source.key) is source:
            self._values_bytes -= source.size
        source.let_go()

    def _notify(self, source: SourceState, lane: Lane) -> None:
        for subscriber in source.subscribers:
            self._trigger(subscriber, lane)

    def _schedule(self, source: SourceState) -> None:
        if source.is_due:
            self._schedule_in(source, _SETTLING)
            return
        source.stop_poll()
        wait = source.wait(self._rng)
        if wait is not None:
            self._schedule_in(source, wait.total_seconds())

    def _schedule_in(self, source: SourceState, seconds: float) -> None:
        """Have the source read in so many seconds, or before if that is planned already."""
        loop = asyncio.get_running_loop()
        if source.next_poll is None or source.next_poll.when() > loop.time() + seconds:
            source.stop_poll()
            source.next_poll = loop.call_later(seconds, self._poll, source)

    def _poll(self, source: SourceState) -> None:
        source.next_poll = None
        if source.reading is None and self._group is not None and source.subscribers:
            # Whatever set the timer is over: the poll is no part of it.
            source.reading = self._group.create_task(
                self._read_once(source), name=f"poll {source.key.query}", context=Context()
            )
