"""The instant path: streams of events that name the sources to read again at once.

An event carries no order and no value: it says that a folder's list changed, and the sources that read the folder
are due. For each identity and project one stream of the whole project is tried; where the identity may not, streams
of the places that it reads; where neither is to be had, polling is left. Polling goes on in any case, so that a lost
event costs one interval. After each (re)connection all sources of the stream are due once, for nothing is replayed.
So they are when a stream that was open is refused: who lost the right to listen may have lost the right to read, and
nobody else would notice before the next poll.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Collection
from contextvars import Context
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.client import ClientError, EventPlace, ProjectEvent
from keybearer.controllers.event_feed import EventFeed, FeedRefusal, RefusalKind
from keybearer.controllers.registrations import covers, outermost, pack
from keybearer.controllers.sources.query import SourceKey, SourceQuery
from keybearer.controllers.sources.session import SourceSession

__all__ = ["STREAMS_MAX", "InstantUpdates"]

STREAMS_MAX = 256
"""Open at once, over all identities."""
_STREAMS_PER_IDENTITY = 50

_RECONNECT = Backoff(floor=timedelta(seconds=1), ceiling=timedelta(seconds=60), jitter=0.5)
_CROWDED = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(minutes=10), jitter=0.3)
"""A stream of ours that was just closed may still be counted."""
_RARELY = Backoff(floor=timedelta(minutes=10), ceiling=timedelta(minutes=10), jitter=0.3)
_STEADY_SECONDS = 60.0
"""A stream that lasted so long was no failure."""
_GRACE_SECONDS = 120.0
"""For how long a broken stream is not shown: a restart of the service costs no status writes."""
_SETTLE_SECONDS = 2.0
"""What a first read waits for its stream: one that begins after the stream is open need not be repeated."""
_REPACK_SECONDS = 0.5
_log = get_logger(__name__)


class _Topic(NamedTuple):
    """What streams are shared by: an identity at a service, and a project as manifests name it."""

    session_id: str
    project: str
    by_slug: bool


@dataclass(slots=True, eq=False)
class _Stream:
    """One stream, open or to be opened. Without places it is of the whole project."""

    places: frozenset[EventPlace]
    told: bool | None = None
    """Whether its sources are shown as instant; None as long as that isn't known."""
    refused: RefusalKind | None = None
    """Why the last attempt failed; None before it, and while the stream is open."""
    was_open: bool = False
    """Whether it was open since a refusal made its sources due."""
    failures: int = 0
    task: asyncio.Task[None] | None = None
    grace: asyncio.TimerHandle | None = None

    def hears(self, query: SourceQuery) -> bool:
        return not self.places or any(covers(place, query.environment, query.path) for place in self.places)


@dataclass(slots=True, eq=False)
class _Follower:
    """The streams of one topic, and the sources that they serve."""

    topic: _Topic
    session: SourceSession
    sources: dict[SourceKey, bool] = field(default_factory=dict)
    """Each with whether it could be read last: others could get a stream refused that serves good ones as well."""
    streams: list[_Stream] = field(default_factory=list)
    by_place: bool = False
    is_lost: bool = False
    """Whether the whole project was listened to until that was denied."""
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    repack: asyncio.TimerHandle | None = None

    def heard_by(self, stream: _Stream) -> frozenset[SourceKey]:
        return frozenset(key for key in self.sources if stream.hears(key.query))


class InstantUpdates:
    """Owns the streams. `run` must be under way before a source is followed."""

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng
        self._followers: dict[_Topic, _Follower] = {}
        self._open: Counter[str] = Counter()
        self._group: asyncio.TaskGroup | None = None
        self.on_touch: Callable[[Collection[SourceKey], float], None] = lambda _keys, _since: None
        """Told which sources are due, unless a read of them began since that instant in monotonic seconds."""
        self.on_told: Callable[[Collection[SourceKey]], None] = lambda _keys: None
        """Told of which sources it changed whether they are shown as instant."""
        self.on_attempt: Callable[[str], None] = lambda _result: None
        """Told `opened` or the kind of refusal after each attempt, `ended` at the end of a stream; for metrics."""
        self.on_event: Callable[[], None] = lambda: None
        """Told of each event; for metrics."""

    @property
    def open_streams(self) -> int:
        """How many streams are open."""
        return self._open.total()

    async def run(self, started: asyncio.Event) -> None:
        """Own the streams until cancelled; then all are closed."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            started.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._group = None
                for follower in self._followers.values():
                    _stop_timers(follower)

    def follow(self, key: SourceKey, session: SourceSession) -> None:
        """Listen for changes of a source, through the newest session given."""
        topic = _topic_of(key)
        follower = self._followers.get(topic)
        if follower is None:
            follower = self._followers[topic] = _Follower(topic, session)
            self._start(follower, _Stream(frozenset()))
        follower.session = session
        follower.sources.setdefault(key, False)

    def forget(self, key: SourceKey) -> None:
        """Listen no more for changes of a source."""
        topic = _topic_of(key)
        follower = self._followers.get(topic)
        if follower is None:
            return
        follower.sources.pop(key, None)
        if follower.sources:
            self._plan_repack(follower)
            return
        del self._followers[topic]
        follower.decided.set()
        _stop_timers(follower)
        for stream in follower.streams:
            _cancel(stream)

    def judged(self, key: SourceKey, *, readable: bool) -> None:
        """Learn whether the source could be read."""
        follower = self._followers.get(_topic_of(key))
        # What nobody follows any more has no place in the sources.
        if follower is None or follower.sources.get(key, readable) is readable:
            return
        follower.sources[key] = readable
        if readable and follower.is_lost:
            self._listen_to_all_again(follower)
        else:
            self._plan_repack(follower)

    async def settle(self, key: SourceKey) -> None:
        """Wait a moment until it is known whether there is a stream for the source."""
        follower = self._followers.get(_topic_of(key))
        if follower is None or follower.decided.is_set():
            return
        try:
            async with asyncio.timeout(_SETTLE_SECONDS):
                await follower.decided.wait()
        except TimeoutError:
            return

    def is_instant(self, key: SourceKey) -> bool | None:
        """Tell whether the source is to be shown as one whose changes arrive by events; None if not known yet."""
        follower = self._followers.get(_topic_of(key))
        if follower is None:
            return None
        told = {stream.told for stream in follower.streams if stream.hears(key.query)}
        if True in told:
            return True
        if follower.is_lost:
            return False
        # Single places are listened to only once they were read.
        is_open = follower.by_place and (follower.repack is not None or not follower.sources.get(key))
        return None if None in told or is_open else False

    def why_polling(self, key: SourceKey) -> RefusalKind | None:
        """Return why changes of the source don't arrive by events; None where they do, or that isn't known."""
        follower = self._followers.get(_topic_of(key))
        if follower is None or self.is_instant(key) is not False:
            return None
        refused = [stream.refused for stream in follower.streams if stream.hears(key.query)]
        if refused:
            return next((one for one in refused if one is not None), RefusalKind.FAILED)
        return RefusalKind.CROWDED if follower.sources.get(key) else RefusalKind.DENIED

    def _start(self, follower: _Follower, stream: _Stream) -> None:
        if self._group is None:
            return
        follower.streams.append(stream)
        stream.task = self._group.create_task(
            self._keep(follower, stream),
            name=f"events of {follower.topic.project}",
            # It outlives what asked for it by far, and is no part of it.
            context=Context(),
        )

    async def _keep(self, follower: _Follower, stream: _Stream) -> None:
        """Have the stream open as far as that is to be had."""
        while True:
            opened = await self._try(follower, stream)
            follower.decided.set()
            if isinstance(opened, FeedRefusal):
                self._note_loss(follower, stream, opened)
                if opened.kind is RefusalKind.DENIED and not stream.places:
                    self._listen_by_place(follower, stream)
                    return
                wait = self._refused(follower, stream, opened)
            else:
                wait = await self._listen(follower, stream, opened)
            await asyncio.sleep(wait.total_seconds())

    def _note_loss(self, follower: _Follower, stream: _Stream, refusal: FeedRefusal) -> None:
        """Have the sources read that the stream told of, if what refuses it now may concern them as well."""
        if not stream.was_open or refusal.passing:
            return
        stream.was_open = False
        if refusal.kind is RefusalKind.DENIED and not stream.places:
            follower.is_lost = True
        self.on_touch(follower.heard_by(stream), self._clock.monotonic())

    async def _try(self, follower: _Follower, stream: _Stream) -> EventFeed | FeedRefusal:
        topic = follower.topic
        if self.open_streams >= STREAMS_MAX or self._open[topic.session_id] >= _STREAMS_PER_IDENTITY:
            return FeedRefusal(RefusalKind.UNAVAILABLE, "the operator has as many streams as it may")
        query = SourceQuery(topic.project, by_slug=topic.by_slug, environment="", path="/")
        # Counted from here on, or many would pass the bound at once.
        self._open[topic.session_id] += 1
        opened: EventFeed | FeedRefusal | None = None
        try:
            opened = await follower.session.open_feed(query, sorted(stream.places, key=_place_order))
        except Exception as error:  # noqa: BLE001 - a fault with one stream must not end all others
            _log.error("event_stream_broke", project=topic.project, error=type(error).__name__)
            opened = FeedRefusal(RefusalKind.FAILED, f"an unexpected {type(error).__name__}")
        finally:
            if opened is None or isinstance(opened, FeedRefusal):
                self._release(topic)
        self.on_attempt(opened.kind.value if isinstance(opened, FeedRefusal) else "opened")
        return opened

    def _release(self, topic: _Topic) -> None:
        self._open[topic.session_id] -= 1
        if not self._open[topic.session_id]:
            del self._open[topic.session_id]

    async def _listen(self, follower: _Follower, stream: _Stream, feed: EventFeed) -> timedelta:
        """Pass on what the feed tells until it ends; return how long to wait before the next one."""
        opened_at = self._clock.monotonic()
        try:
            await self._hear(follower, stream, feed)
        except ClientError as error:
            _log.info("event_stream_ended", project=follower.topic.project, reason=str(error))
        except Exception as error:  # noqa: BLE001 - as above
            _log.error("event_stream_broke", project=follower.topic.project, error=type(error).__name__)
        self.on_attempt("ended")
        self._plan_untelling(follower, stream)
        lasted = self._clock.monotonic() - opened_at
        stream.failures = 1 if lasted >= _STEADY_SECONDS else stream.failures + 1
        return _RECONNECT.delay(stream.failures, self._rng)

    async def _hear(self, follower: _Follower, stream: _Stream, feed: EventFeed) -> None:
        try:
            stream.was_open = True
            self._tell(follower, stream, told=True)
            self.on_touch(follower.heard_by(stream), self._clock.monotonic())
            while True:
                self._touch(follower, stream, await feed.__anext__())
        finally:
            self._release(follower.topic)
            await feed.aclose()

    def _touch(self, follower: _Follower, stream: _Stream, event: ProjectEvent) -> None:
        self.on_event()
        touched = {
            key
            for key in follower.heard_by(stream)
            if not event.places
            or any(_reads(key.query, place.environment, place.path) for place in event.places)
        }
        if touched:
            self.on_touch(touched, self._clock.monotonic())

    def _refused(self, follower: _Follower, stream: _Stream, refusal: FeedRefusal) -> timedelta:
        """Return how long to wait before the next attempt."""
        stream.failures += 1
        backoff = {RefusalKind.FAILED: _RECONNECT, RefusalKind.CROWDED: _CROWDED}.get(refusal.kind, _RARELY)
        if refusal.kind is RefusalKind.FAILED:
            self._plan_untelling(follower, stream)
        else:
            self._tell(follower, stream, told=False, refused=refusal.kind)
        log = _log.info if stream.failures == 1 else _log.debug
        log(
            "event_stream_refused",
            project=follower.topic.project,
            kind=refusal.kind.value,
            reason=refusal.why,
        )
        return max(backoff.delay(stream.failures, self._rng), refusal.after or timedelta())

    def _listen_by_place(self, follower: _Follower, whole: _Stream) -> None:
        """Go on with streams of single places, after the whole project was denied."""
        follower.streams.remove(whole)
        follower.by_place = True
        self._repack(follower)

    def _listen_to_all_again(self, follower: _Follower) -> None:
        """Go back to one stream of the whole project: a right came back, perhaps all of it."""
        follower.by_place = follower.is_lost = False
        _stop_timers(follower)
        for stream in follower.streams:
            _cancel(stream)
        follower.streams = []
        self._start(follower, _Stream(frozenset()))

    def _plan_repack(self, follower: _Follower) -> None:
        if follower.by_place and follower.repack is None and self._group is not None:
            loop = asyncio.get_running_loop()
            follower.repack = loop.call_later(_REPACK_SECONDS, self._repack, follower)

    def _repack(self, follower: _Follower) -> None:
        follower.repack = None
        wanted = outermost(
            EventPlace(key.query.environment, key.query.path)
            for key, readable in follower.sources.items()
            if readable
        )
        before = list(follower.streams)
        follower.streams = []
        packed = pack(wanted, [stream.places for stream in before])
        for places, old in zip(packed, [*before, *[None] * len(packed)], strict=False):
            if old is not None and old.places == places:
                follower.streams.append(old)
                continue
            if old is not None:
                _cancel(old)
            if places:
                # What was instant is so again in a moment.
                stream = _Stream(places, told=True if old is not None and old.told else None)
                self._start(follower, stream)
                self._plan_untelling(follower, stream)

    def _tell(
        self, follower: _Follower, stream: _Stream, *, told: bool, refused: RefusalKind | None = None
    ) -> None:
        if stream.grace is not None:
            stream.grace.cancel()
            stream.grace = None
        if (stream.told, stream.refused) != (told, refused):
            stream.told, stream.refused = told, refused
            self.on_told(follower.heard_by(stream))

    def _plan_untelling(self, follower: _Follower, stream: _Stream) -> None:
        if stream.told is not False and stream.grace is None:

            def untell() -> None:
                self._tell(follower, stream, told=False, refused=RefusalKind.FAILED)

            stream.grace = asyncio.get_running_loop().call_later(_GRACE_SECONDS, untell)


def _topic_of(key: SourceKey) -> _Topic:
    return _Topic(key.session_id, key.query.project, key.query.by_slug)


def _place_order(place: EventPlace) -> tuple[str, str]:
    return place.environment, place.path


def _reads(query: SourceQuery, environment: str, path: str) -> bool:
    """Tell whether the list of the folder is part of what the query reads."""
    if query.recursive:
        return covers(EventPlace(query.environment, query.path), environment, path)
    return query.environment == environment and query.path.rstrip("/") == path.rstrip("/")


def _cancel(stream: _Stream) -> None:
    if stream.grace is not None:
        stream.grace.cancel()
        stream.grace = None
    if stream.task is not None:
        stream.task.cancel()


def _stop_timers(follower: _Follower) -> None:
    if follower.repack is not None:
        follower.repack.cancel()
        follower.repack = None
    for stream in follower.streams:
        if stream.grace is not None:
            stream.grace.cancel()
            stream.grace = None
