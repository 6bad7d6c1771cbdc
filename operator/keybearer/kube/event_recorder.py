"""Posts Kubernetes Events (events.k8s.io/v1) without holding up or failing the work they tell about."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.kube.errors import KubeError, NotFoundError
from keybearer.kube.events import EventBook, NewEvent, Occurrence, RepeatedEvent
from keybearer.kube.gateway import Gateway
from keybearer.kube.microtime import format_micro_time
from keybearer.kube.resources import EVENTS, JsonObject, ObjectKey

__all__ = ["EventCounts", "EventRecorder"]

_CONTROLLER = "keybearer.dev/operator"
_MAX_QUEUED = 1024
_DRAIN_SECONDS = 2.0
_PATIENCE_SECONDS = 2.0
"""How long an Event waits for the work to pause, before it competes with it for the API server."""
_LOG_PAUSE_SECONDS = 60.0

# Bounds of events.k8s.io/v1 (pkg/apis/core/validation/events.go): longer ones are refused.
_MAX_WORD = 128
_MAX_NOTE_BYTES = 1024
_MAX_NAME_STEM = 230
_NO_NAME = re.compile(r"[^a-z0-9.-]")
_BESIDE_DOTS = re.compile(r"[-.]*\.[-.]*")

_log = get_logger(__name__)


@dataclass(slots=True)
class EventCounts:
    """What became of the occurrences since the start.

    Attributes:
        posted: as an Event of their own.
        repeated: by raising the count of one.
        held_back: they are counted only, or their object had used up its share.
        overflowed: they came faster than they could be posted.
        failed: the API server refused, or could not be reached.
    """

    posted: int = 0
    repeated: int = 0
    held_back: int = 0
    overflowed: int = 0
    failed: int = 0


class EventRecorder:
    """Takes occurrences without waiting and posts them from its own task.

    Args:
        gateway: its `may_write` keeps a replica without the Lease silent.
        instance: which replica reports, such as the pod's name.
        clock: for the times in Events and the windows of the rules.
        idle: returns when there is no more urgent work for the API server.
    """

    def __init__(
        self, gateway: Gateway, *, instance: str, clock: Clock, idle: Callable[[], Awaitable[None]]
    ) -> None:
        self._gateway = gateway
        self._instance = instance[:_MAX_WORD]
        self._clock = clock
        self._idle = idle
        self._book = EventBook()
        self._queue: asyncio.Queue[tuple[float, Occurrence]] = asyncio.Queue(_MAX_QUEUED)
        # Names of Events end in this and a serial number: unique among replicas and restarts.
        self._run = secrets.token_hex(6)
        self._logged_at = float("-inf")
        self.counts = EventCounts()

    def record(self, occurrence: Occurrence) -> None:
        """Take one occurrence to be posted soon; never waits and never raises."""
        try:
            self._queue.put_nowait((self._clock.monotonic(), occurrence))
        except asyncio.QueueFull:
            self.counts.overflowed += 1

    async def run(self) -> None:
        """Post until cancelled; then post what is queued, for two seconds at most."""
        held_back: Occurrence | None = None
        try:
            while True:
                recorded_at, held_back = await self._queue.get()
                await self._give_way(recorded_at + _PATIENCE_SECONDS)
                occurrence, held_back = held_back, None
                await self._post(occurrence)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_SECONDS):
                    if held_back is not None:
                        await self._post(held_back)
                    while not self._queue.empty():
                        _, occurrence = self._queue.get_nowait()
                        await self._post(occurrence)

    async def _give_way(self, until: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(until - self._clock.monotonic()):
                await self._idle()

    async def _post(self, occurrence: Occurrence) -> None:
        match self._book.judge(occurrence, self._clock.monotonic()):
            case NewEvent(serial):
                await self._create(occurrence, serial)
            case RepeatedEvent(serial, count):
                await self._raise_count(occurrence, serial, count)
            case None:
                self.counts.held_back += 1

    async def _create(self, occurrence: Occurrence, serial: int) -> None:
        try:
            await self._gateway.create(EVENTS, self._key(occurrence, serial), self._body(occurrence))
        except KubeError as error:
            self._failed(occurrence, error)
        else:
            self.counts.posted += 1

    async def _raise_count(self, occurrence: Occurrence, serial: int, count: int) -> None:
        series: JsonObject = {"count": count, "lastObservedTime": format_micro_time(self._clock.now())}
        try:
            await self._gateway.merge_patch(EVENTS, self._key(occurrence, serial), {"series": series})
        except NotFoundError:
            self._book.forget(occurrence)
            await self._post(occurrence)  # now a new one: it was deleted, or outlived the API server's TTL
        except KubeError as error:
            self._failed(occurrence, error)
        else:
            self.counts.repeated += 1

    def _failed(self, occurrence: Occurrence, error: KubeError) -> None:
        self._book.forget(occurrence)
        self.counts.failed += 1
        now = self._clock.monotonic()
        if now - self._logged_at >= _LOG_PAUSE_SECONDS:
            self._logged_at = now
            _log.warning("event_not_posted", error=str(error), failed_so_far=self.counts.failed)

    def _key(self, occurrence: Occurrence, serial: int) -> ObjectKey:
        key = occurrence.regarding.key
        # What lives in no namespace has its Events in `default`, where `kubectl describe` looks for them.
        return ObjectKey(key.namespace or "default", f"{_stem(key.name)}.{self._run}{serial:x}")

    def _body(self, occurrence: Occurrence) -> JsonObject:
        about = occurrence.regarding
        regarding: JsonObject = {
            "apiVersion": about.resource.api_version,
            "kind": about.resource.kind,
            "name": about.key.name,
            "uid": about.uid,
        }
        if about.key.namespace:
            regarding["namespace"] = about.key.namespace
        return {
            "eventTime": format_micro_time(self._clock.now()),
            "reportingController": _CONTROLLER,
            "reportingInstance": self._instance,
            "type": occurrence.type_,
            "reason": occurrence.reason[:_MAX_WORD],
            "action": occurrence.action[:_MAX_WORD],
            "note": occurrence.message.encode()[:_MAX_NOTE_BYTES].decode(errors="ignore"),
            "regarding": regarding,
        }


def _stem(name: str) -> str:
    """Return what of an object's name may begin that of an Event; not all kinds have names as strict as Events."""
    lowered = _NO_NAME.sub("-", name.lower()[:_MAX_NAME_STEM])
    return _BESIDE_DOTS.sub(".", lowered).strip("-.") or "object"
