"""The kopf shell: watches in, keys out. No decision is taken here, and nothing is kept but slim copies.

kopf gives authentication, discovery, reconnecting watches and re-listing. Its diff handlers, daemons, timers,
indexes, finalizers and annotations are not used; what they cost and where they break was measured (see
`docs/decisions/0003-kopf-as-a-shell.md`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

import aiohttp
import kopf
from pydantic import JsonValue

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObjectStore, ObservedObject, ObservedStore, TargetKey
from keybearer.controllers.queue import Lane, WorkKey, WorkQueue
from keybearer.controllers.secretsync.desired import MANAGED_LABEL
from keybearer.controllers.secretsync.observed import observe_target

__all__ = ["EventIntake", "kopf_settings", "new_registry"]

_log = get_logger(__name__)

_IDLE_SECONDS = 0.5
"""How long kopf keeps the task and queue of an object that says nothing; its default of 5 s keeps 10,000 alive."""
_EXIT_SECONDS = 5.0
_PAGE = 50
"""Objects per page of a listing. kopf holds a page parsed until all of it is taken in: 4 MiB for 1 MiB of data."""


class EventIntake:
    """Takes in what the watches deliver: remembers it, and puts on the queue what is worth a look."""

    def __init__(
        self,
        clock: Clock,
        queue: WorkQueue,
        objects: ObjectStore,
        observed: ObservedStore,
        fingerprinter: Fingerprinter,
        forget: Callable[[WorkKey], None],
    ) -> None:
        self._clock = clock
        self._queue = queue
        self._objects = objects
        self._observed = observed
        self._fingerprinter = fingerprinter
        self._forget = forget
        self._started_at = clock.monotonic()
        self.on_managed: Callable[[TargetKey, str | None, tuple[WorkKey, ...]], None] = lambda *_: None
        """Told of each object with our label: its version (None: it is gone), and who writes it."""

    def custom_resource(self, kind: str, event_type: str | None, body: Mapping[str, JsonValue]) -> None:
        """Take in an event of one of our kinds; `event_type` is None for what a listing found."""
        seen = ObservedObject.from_body(kind, body, trigger_at=self._clock.monotonic())
        if event_type == "DELETED":
            self._drop(seen.key)
            return
        before = self._objects.get(seen.key)
        if before is not None and before.asks_the_same(seen):
            # Our own status, or metadata of others: nothing new is asked, so no newer reading is owed.
            self._objects.put(seen.since(before.trigger_at))
            return
        if before is None and event_type is None:
            # A listing found it, so it was there before: what was read since the start includes what led to it.
            seen = seen.since(self._started_at)
        self._objects.put(seen)
        if before is not None and before.target != seen.target:
            self._leave(before.target)
        self._queue.add(seen.key, _lane(seen, event_type))

    def target(self, kind: str, event_type: str | None, body: Mapping[str, JsonValue]) -> None:
        """Take in an event of a Secret or ConfigMap that carries our label."""
        seen = observe_target(kind, body, self._fingerprinter)
        writers = self._objects.writers_of(seen.key)
        if event_type == "DELETED":
            known = self._observed.get(seen.key)
            if known is not None and known.uid != seen.uid:
                return  # the end of a predecessor, which comes late
            self._observed.drop(seen.key)
            expected = False
        else:
            # What one of several writers does is news to the others.
            expected = self._observed.is_expected(seen) and len(writers) < 2
            self._observed.put(seen)
        self.on_managed(seen.key, None if event_type == "DELETED" else seen.resource_version, writers)
        if expected or event_type is None:
            return
        if writers and event_type == "DELETED":
            self._observed.mark_gone(seen.key)
        elif writers:
            self._observed.keep_body(seen.key, body)
        for key in writers:
            self._queue.add(key, Lane.URGENT)

    def _drop(self, key: WorkKey) -> None:
        gone = self._objects.drop(key)
        if gone is not None:
            self._leave(gone.target)
        self._queue.forget(key)
        self._forget(key)

    def _leave(self, target: TargetKey) -> None:
        """One object less names the target: another may take it now."""
        writers = self._objects.writers_of(target)
        if not writers:
            self._observed.expect(target, None)
        for key in writers:
            self._queue.add(key, Lane.URGENT)


def _lane(seen: ObservedObject, event_type: str | None) -> Lane:
    if seen.never_reported:
        return Lane.FIRST
    return Lane.REFRESH if event_type is None else Lane.URGENT


def new_registry(intake: EventIntake, session: aiohttp.ClientSession, server: str) -> kopf.OperatorRegistry:
    """Return the handlers: one login, and one event handler for each watched resource."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    async def login(**_: object) -> kopf.AiohttpSession:
        return kopf.AiohttpSession(server=server, aiohttp_session=session)

    @kopf.on.event("keybearer.dev", "v1alpha1", "secretsyncs", registry=registry)
    async def secret_sync(event: kopf.RawEvent, **_: object) -> None:
        intake.custom_resource("SecretSync", event["type"], _body(event))

    @kopf.on.event("", "v1", "secrets", registry=registry)
    async def secret(event: kopf.RawEvent, **_: object) -> None:
        intake.target("Secret", event["type"], _body(event))

    @kopf.on.event("", "v1", "configmaps", registry=registry)
    async def config_map(event: kopf.RawEvent, **_: object) -> None:
        intake.target("ConfigMap", event["type"], _body(event))

    return registry


def kopf_settings() -> kopf.OperatorSettings:
    """Return settings under which kopf writes nothing, keeps little and never gives up."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.peering.standalone = True
    settings.watching.chunk_size = _PAGE
    settings.queueing.idle_timeout = _IDLE_SECONDS
    settings.queueing.exit_timeout = _EXIT_SECONDS
    settings.persistence.diffbase_storage = _NoDiffBase()
    settings.persistence.progress_storage = _NoProgress()
    settings.networking.error_backoffs = _Endless()
    settings.watching.label_selectors["", "v1", "secrets"] = f"{MANAGED_LABEL}=true"
    settings.watching.label_selectors["", "v1", "configmaps"] = f"{MANAGED_LABEL}=true"
    return settings


class _Endless:
    """Waits between tries, without an end: kopf's own eight make an outage of a minute the end of the process."""

    def __iter__(self) -> Iterator[float]:
        return itertools.chain((0.2, 0.5, 1, 2), itertools.repeat(3))


class _NoDiffBase(kopf.DiffBaseStorage):
    """Remembers no last-handled state; building one would copy each object on each event."""

    def build(self, **_: object) -> kopf.BodyEssence:
        return kopf.BodyEssence()

    def fetch(self, **_: object) -> kopf.BodyEssence | None:
        return None

    def store(self, **_: object) -> None:
        return None


class _NoProgress(kopf.ProgressStorage):
    """Keeps no progress of handlers; there are none that could be interrupted."""

    def fetch(self, **_: object) -> None:
        return None

    def store(self, **_: object) -> None:
        return None

    def purge(self, **_: object) -> None:
        return None

    def touch(self, **_: object) -> None:
        return None

    def clear(self, *, essence: kopf.BodyEssence) -> kopf.BodyEssence:
        return essence


def _body(event: kopf.RawEvent) -> Mapping[str, JsonValue]:
    body: Mapping[str, JsonValue] = dict(event["object"])  # type: ignore[arg-type]
    return body
