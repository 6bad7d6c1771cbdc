"""Which Events are posted anew, which are counted into one that exists, and which are left out.

Decides only; `event_recorder` posts. The rules are those of client-go: the same thing said again about the same
object within a window raises the `series.count` of its Event, at once the first time and then after pauses. One
object may cause a burst of 25 requests and then one in five minutes, so that a hot loop can't fill etcd.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from keybearer.kube.resources import ObjectKey, Resource

__all__ = ["EventBook", "EventType", "NewEvent", "ObjectReference", "Occurrence", "RepeatedEvent"]

EventType = Literal["Normal", "Warning"]

_SERIES_WINDOW = timedelta(minutes=10)
"""From the last occurrence; well under the hour for which the API server keeps an Event (`--event-ttl`)."""

_SERIES_PAUSE = timedelta(minutes=5)
"""Between two counts of a series that are sent, but for the first (client-go: half an hour)."""
_BURST = 25
_REFILL = timedelta(minutes=5)
_MAX_REMEMBERED = 4096
"""Series, and objects, that are remembered; the longest untouched go first. client-go's LRU has this size."""


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The object that an Event is about."""

    resource: Resource
    key: ObjectKey
    uid: str


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something that happened to an object.

    Attributes:
        regarding: to which.
        type_: `Normal` or `Warning`.
        reason: why, as one word in UpperCamelCase.
        action: what we did or tried, as one verb in UpperCamelCase.
        message: for people; no values.
    """

    regarding: ObjectReference
    type_: EventType
    reason: str
    action: str
    message: str


@dataclass(frozen=True, slots=True)
class NewEvent:
    """Post an Event of this serial number; it makes the name unique."""

    serial: int


@dataclass(frozen=True, slots=True)
class RepeatedEvent:
    """Raise the count of the Event that was posted under this serial number."""

    serial: int
    count: int


@dataclass(slots=True)
class _Series:
    serial: int
    count: int
    last_at: float
    counted_at: float | None = None


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class EventBook:
    """Remembers what was said lately; not more than a fixed number of entries."""

    def __init__(self) -> None:
        self._serial = 0
        self._series: OrderedDict[int, _Series] = OrderedDict()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def judge(self, occurrence: Occurrence, now: float) -> NewEvent | RepeatedEvent | None:
        """Return what to send about the occurrence; None where it is only counted, or its object used up its share.

        Args:
            occurrence: what happened.
            now: monotonic seconds.
        """
        identity = _identity(occurrence)
        series = self._series.get(identity)
        if series is not None and now - series.last_at > _SERIES_WINDOW.total_seconds():
            del self._series[identity]
            series = None
        if series is not None:
            # Counted even when nothing is sent now, so that the next count that is sent is true.
            series.count += 1
            series.last_at = now
            self._series.move_to_end(identity)
            if series.counted_at is not None and now - series.counted_at < _SERIES_PAUSE.total_seconds():
                return None
        if not self._take_token(occurrence.regarding.uid, now):
            return None
        if series is not None:
            series.counted_at = now
            return RepeatedEvent(series.serial, series.count)
        self._serial += 1
        self._series[identity] = _Series(self._serial, 1, now)
        _shorten(self._series)
        return NewEvent(self._serial)

    def forget(self, occurrence: Occurrence) -> None:
        """Begin anew with the next one: its Event was not stored, or is gone."""
        self._series.pop(_identity(occurrence), None)

    def _take_token(self, uid: str, now: float) -> bool:
        bucket = self._buckets.pop(uid, None) or _Bucket(_BURST, now)
        gained = (now - bucket.filled_at) / _REFILL.total_seconds()
        bucket.tokens = min(bucket.tokens + gained, _BURST)
        bucket.filled_at = now
        self._buckets[uid] = bucket
        _shorten(self._buckets)
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _identity(occurrence: Occurrence) -> int:
    # 64 bits in place of the texts: messages may be long. Seeded per process, so nobody can aim for a clash.
    return hash(
        (occurrence.regarding.uid, occurrence.type_, occurrence.reason, occurrence.action, occurrence.message)
    )


def _shorten(entries: OrderedDict[int, _Series] | OrderedDict[str, _Bucket]) -> None:
    while len(entries) > _MAX_REMEMBERED:
        entries.popitem(last=False)
