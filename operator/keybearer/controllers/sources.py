"""Coalesced reads: one source is read once for all who want it, and again only to ask what changed.

A source is a folder seen by an identity with certain flags. It is polled at the shortest interval among its
subscribers with `If-None-Match`; a change, a failure and a recovery put the subscribers on the queue. So 1,000
SecretSyncs over ten sources cost ten requests per interval, and none of them reads by itself.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from keybearer.base.backoff import Backoff, jittered
from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.client import EventPlace
from keybearer.controllers.event_feed import EventFeed, FeedRefusal
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.queue import Lane, Trigger, WorkKey

__all__ = [
    "Listing",
    "NotChanged",
    "PollingOnly",
    "SourceFailure",
    "SourceFollower",
    "SourceKey",
    "SourceQuery",
    "SourceReader",
    "SourceReading",
]

_log = get_logger(__name__)

_MIN_GAP = 0.5
"""Seconds between the starts of two reads of a source: a burst of manifests becomes a few reads."""
_SETTLING = 0.02
"""Seconds between hearing of a change and reading it: several events about one write come together."""
_SPREAD_PER_SOURCE, _SPREAD_MAX = 0.01, 5.0
"""Seconds over which the reads of many sources that are due at once are spread."""
_RETRY = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(seconds=60), jitter=0.3)
_TOLERATED = 1
"""Passing failures in a row that are not shown while a good listing is at hand: a blip costs no status writes."""
_AFTER_MAX = timedelta(minutes=10)
"""The longest wait a service is granted: what it asks beyond would be a source that nobody looks after."""
_VALUES_MAX_BYTES = 128 * 1024 * 1024
"""Values kept over all sources, as memory holds them; the least recently used listing goes first, and is read
whole when next needed."""


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """What is asked of the service; `project` is an id, or a slug where `by_slug`."""

    project: str
    by_slug: bool
    environment: str
    path: str
    recursive: bool = False
    include_imports: bool = True
    expand_references: bool = True
    tag_slugs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.project}/{self.environment}:{self.path}"


@dataclass(frozen=True, slots=True)
class SourceKey:
    """A query, and the session (service and identity) that asks it."""

    session_id: str
    query: SourceQuery


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """Why a source can't be read: a condition's reason and message, without values.

    Attributes:
        passing: it may come right by itself (an outage), as opposed to what a person must mend.
        after: the wait the service asked for; two failures that differ in nothing else are the same one.
    """

    reason: str
    message: str
    passing: bool
    after: timedelta | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Listing:
    """A whole answer: secrets from the lowest precedence to the highest, and the tag to ask by next time."""

    etag: str | None
    secrets: tuple[SourceSecret, ...] = field(repr=False)


class NotChanged:
    """The service answered 304: what we hold is still what is there."""


class SourceSession(Protocol):
    """The service as one identity sees it."""

    @property
    def id(self) -> str:
        """A name for the session, safe to show."""
        ...

    def list_source(
        self, query: SourceQuery, etag: str | None
    ) -> Awaitable[Listing | NotChanged | SourceFailure]:
        """Ask once; never raises for what the service answers or fails to answer."""
        ...

    def open_feed(
        self, query: SourceQuery, places: Sequence[EventPlace]
    ) -> Awaitable[EventFeed | FeedRefusal]:
        """Open a feed of the query's project: of these places, or of all of it without any."""
        ...


class SourceFollower(Protocol):
    """Listens for changes of sources, so that they need not wait for their next poll."""

    def follow(self, key: SourceKey, session: SourceSession) -> None:
        """Listen for changes of a source; the newest session given is used."""
        ...

    def forget(self, key: SourceKey) -> None:
        """Listen no more for changes of a source."""
        ...

    def judged(self, key: SourceKey, *, readable: bool) -> None:
        """Learn whether the source could be read."""
        ...

    def settle(self, key: SourceKey) -> Awaitable[None]:
        """Wait a moment until it is known whether changes will be heard: the first read comes after."""
        ...

    def is_instant(self, key: SourceKey) -> bool | None:
        """Tell whether changes are heard; None if that isn't known yet."""
        ...


class PollingOnly:
    """Listens for nothing."""

    def follow(self, key: SourceKey, session: SourceSession) -> None:
        """Do nothing."""

    def forget(self, key: SourceKey) -> None:
        """Do nothing."""

    def judged(self, key: SourceKey, *, readable: bool) -> None:
        """Do nothing."""

    async def settle(self, key: SourceKey) -> None:
        """Return at once."""

    def is_instant(self, key: SourceKey) -> bool | None:  # noqa: ARG002 - it is the same for all
        """Return that nothing is."""
        return False


@dataclass(frozen=True, slots=True)
class SourceReading:
    """What is known of a source: the last good secrets, when a read that confirmed them began, and what ails it.

    There are no secrets beside a failure that doesn't pass by itself.
    """

    secrets: tuple[SourceSecret, ...] | None = field(repr=False)
    read_at: float
    failure: SourceFailure | None


@dataclass(slots=True)
class _Source:
    key: SourceKey
    session: SourceSession
    subscribers: dict[WorkKey, timedelta] = field(default_factory=dict)
    etag: str | None = None
    secrets: tuple[SourceSecret, ...] | None = None
    size: int = 0
    evicted: int = 0
    """Hash of the secrets that are held no longer, to tell whether those that are read next are still the same."""
    read_at: float = -1.0
    started_at: float = -1.0
    failure: SourceFailure | None = None
    failed_at: float = -1.0
    failures: int = 0
    reading: asyncio.Task[None] | None = None
    is_due: bool = False
    """A change was heard of since the read under way began."""
    next_poll: asyncio.TimerHandle | None = None

    def interval(self) -> timedelta | None:
        wanted = [interval for interval in self.subscribers.values() if interval]
        return min(wanted) if wanted else None


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
        self._sources: OrderedDict[SourceKey, _Source] = OrderedDict()
        self._wanted: dict[WorkKey, frozenset[SourceKey]] = {}
        self._values_bytes = 0
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
                    _stop_poll(source)

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
                return self._reading(source)
            await self._join_read(source)

    def retain(self, subscriber: WorkKey, keys: frozenset[SourceKey]) -> None:
        """Keep the subscriber's subscriptions to these sources and end its others."""
        for gone in self._wanted.get(subscriber, frozenset()) - keys:
            source = self._sources.get(gone)
            if source is None:
                continue
            source.subscribers.pop(subscriber, None)
            if not source.subscribers:
                _stop_poll(source)
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

    def sessions_in_use(self) -> set[str]:
        """Return the ids of the sessions that some source asks through."""
        return {key.session_id for key in self._sources}

    def _subscribe(
        self, key: SourceKey, session: SourceSession, subscriber: WorkKey, interval: timedelta
    ) -> _Source:
        source = self._sources.get(key)
        if source is None:
            source = self._sources[key] = _Source(key, session)
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

    async def _join_read(self, source: _Source) -> None:
        if source.reading is None:
            if self._group is None:
                raise asyncio.CancelledError
            source.reading = self._group.create_task(self._read_once(source), name=f"read {source.key.query}")
        # A cancelled reconcile must not take the read away from the others who wait for it.
        await asyncio.shield(source.reading)

    async def _read_once(self, source: _Source) -> None:
        try:
            _stop_poll(source)
            gap = source.started_at + _MIN_GAP - self._clock.monotonic()
            if source.started_at < 0:
                await self._follower.settle(source.key)
            elif gap > 0:
                await asyncio.sleep(gap)
            etag = source.etag if source.secrets is not None else None
            source.started_at = started_at = self._clock.monotonic()
            source.is_due = False
            answer = await _ask(source, etag)
            self._take_answer(source, answer, started_at)
        finally:
            source.reading = None
            if source.subscribers:
                self._schedule(source)

    def _take_answer(
        self, source: _Source, answer: Listing | NotChanged | SourceFailure, started_at: float
    ) -> None:
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
        changed = isinstance(answer, Listing) and not (known and _is_held(source, answer.secrets))
        source.read_at = started_at
        if isinstance(answer, Listing):
            source.etag = answer.etag
            self._keep(source, answer.secrets)
        self.on_read("changed" if changed else "unchanged")
        # Who waits for the first answer gets it from `read`; nobody else is subscribed yet.
        if (changed and known) or recovered:
            self._notify(source, Lane.CHANGE)

    def _take_failure(self, source: _Source, failure: SourceFailure, started_at: float) -> None:
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
            _log.warning("source_read_failed", source=str(source.key.query), reason=failure.reason)
            self._notify(source, Lane.REFRESH)

    def _keep(self, source: _Source, secrets: tuple[SourceSecret, ...]) -> None:
        # In memory, a text of n characters takes up to 4n bytes.
        size = sum(sys.getsizeof(secret.value) + sys.getsizeof(secret.key) for secret in secrets)
        before, source.secrets, source.size = source.size, secrets, size
        if self._sources.get(source.key) is not source:
            return  # its last subscriber has left meanwhile: it goes with those who still wait for the read
        self._values_bytes += size - before
        for other in self._sources.values():
            if self._values_bytes <= _VALUES_MAX_BYTES:
                break
            if other is not source:
                self._drop_values(other)

    def _drop_values(self, source: _Source) -> None:
        if source.secrets is None:
            return
        if self._sources.get(source.key) is source:
            self._values_bytes -= source.size
        source.evicted, source.secrets, source.size = hash(source.secrets), None, 0

    def _notify(self, source: _Source, lane: Lane) -> None:
        for subscriber in source.subscribers:
            self._trigger(subscriber, lane)

    def _schedule(self, source: _Source) -> None:
        if source.is_due:
            self._schedule_in(source, _SETTLING)
            return
        _stop_poll(source)
        if source.failures:
            wait = _RETRY.delay(source.failures, self._rng)
            if source.failure is not None and source.failure.after is not None:
                wait = max(wait, min(source.failure.after, _AFTER_MAX))
        else:
            interval = source.interval()
            if interval is None:
                return
            wait = jittered(interval, self._rng)
        self._schedule_in(source, wait.total_seconds())

    def _schedule_in(self, source: _Source, seconds: float) -> None:
        """Have the source read in so many seconds, or before if that is planned already."""
        loop = asyncio.get_running_loop()
        if source.next_poll is None or source.next_poll.when() > loop.time() + seconds:
            _stop_poll(source)
            source.next_poll = loop.call_later(seconds, self._poll, source)

    def _poll(self, source: _Source) -> None:
        source.next_poll = None
        if source.reading is None and self._group is not None and source.subscribers:
            source.reading = self._group.create_task(self._read_once(source), name=f"poll {source.key.query}")

    def _reading(self, source: _Source) -> SourceReading:
        return SourceReading(source.secrets, source.read_at, source.failure)


async def _ask(source: _Source, etag: str | None) -> Listing | NotChanged | SourceFailure:
    try:
        answer = await source.session.list_source(source.key.query, etag)
    except Exception as error:  # noqa: BLE001 - a fault with one source must not end the reads of all others
        # Neither text nor traceback: both may hold what the service answered.
        _log.error("source_read_broke", source=str(source.key.query), error=type(error).__name__)
        return SourceFailure(
            "InternalError",
            f"an unexpected {type(error).__name__} while {source.key.query} was read; it is tried again",
            passing=True,
        )
    if etag is None and isinstance(answer, NotChanged):
        text = (
            f"what answers for {source.key.query} says that nothing changed since nothing; it is tried again"
        )
        return SourceFailure("ServiceRefused", text, passing=True)
    return answer


def _is_held(source: _Source, secrets: tuple[SourceSecret, ...]) -> bool:
    return source.evicted == hash(secrets) if source.secrets is None else source.secrets == secrets


def _stop_poll(source: _Source) -> None:
    if source.next_poll is not None:
        source.next_poll.cancel()
        source.next_poll = None
