"""What the watches deliver: remembered as slim copies, and put on the queue where it is worth a look.

No decision is taken here; nothing here waits or fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from pydantic import JsonValue

from keybearer.base.clock import Clock
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import KindReading, ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.observed_targets import ObservedStore, ObservedTarget
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.target.backup import is_backup, is_trial
from keybearer.controllers.target.observed import observe_target
from keybearer.controllers.work import Lane, WorkKey
from keybearer.kube.resources import ObjectKey

__all__ = ["EventIntake"]

_STRANGE_STATUS = timedelta(seconds=20)
"""Until a status that isn't what we wrote last is put right: a fight over it costs no more than one over a target."""


class EventIntake:
    """Takes in what the watches deliver: remembers it, and puts on the queue what is worth a look."""

    def __init__(
        self,
        clock: Clock,
        queue: WorkQueue,
        objects: ObjectStore,
        observed: ObservedStore,
        fingerprinter: Fingerprinter,
        readings: Mapping[str, KindReading],
        forget: Callable[[WorkKey], None],
    ) -> None:
        """Take what it needs; `readings` has an entry for each kind that it is told of."""
        self._clock = clock
        self._queue = queue
        self._objects = objects
        self._observed = observed
        self._fingerprinter = fingerprinter
        self._readings = readings
        self._forget = forget
        objects.on_end = self._ended
        self._started_at = clock.monotonic()
        self.on_managed: Callable[[TargetKey, str | None, tuple[WorkKey, ...]], None] = lambda *_: None
        """Told of each object with our label: its version (None: it is gone), and who writes it."""
        self.on_backup: Callable[[str, ObjectKey], None] = lambda *_: None
        """Told of each backup of a target, by the kind of both."""
        self.on_seen: Callable[[WorkKey], None] = lambda _: None
        """Told of each custom resource that was created or changed, be it in its status or metadata only."""
        self.on_new: Callable[[WorkKey], None] = lambda _: None
        """Told of each custom resource that this process didn't know yet; those of a listing come in any order."""
        self.on_request: Callable[[WorkKey], None] = lambda _: None
        """Told of each custom resource of which a person asks something by annotation."""

    def custom_resource(self, kind: str, event_type: str | None, body: Mapping[str, JsonValue]) -> None:
        """Take in an event of one of our kinds; `event_type` is None for what a listing found."""
        reading = self._readings[kind]
        seen = ObservedObject.from_body(
            kind,
            body,
            trigger_at=self._clock.monotonic(),
            targets_of=reading.targets_of,
            identity_of=reading.identity_of,
        )
        if event_type == "DELETED":
            self._objects.end(seen.key, seen.uid)
            return
        if not self._objects.is_news(seen):
            return
        before = self._objects.get(seen.key)
        if before is not None and before.uid != seen.uid:
            before = None  # its end wasn't told yet
        if before is not None and before.asks_the_same(seen):
            # Our own status, or metadata of others: nothing new is asked, so no newer reading is owed.
            if self._objects.is_strange(seen):
                self._queue.add_after(seen.key, _STRANGE_STATUS)
            self._objects.put(seen.since(before.trigger_at))
            self.on_seen(seen.key)
            return
        if before is None and event_type is None:
            # A listing found it, so it was there before: what was read since the start includes what led to it.
            seen = seen.since(self._started_at)
        self._objects.put(seen)
        self.on_seen(seen.key)
        if before is None:
            self.on_new(seen.key)
        else:
            self._note_change(before, seen)
        self._queue.add(seen.key, _lane(seen, event_type))

    def _note_change(self, before: ObservedObject, seen: ObservedObject) -> None:
        if seen.requested_at != before.requested_at:
            self.on_request(seen.key)
        for target in before.targets:
            if target not in seen.targets:
                self._leave(target)
        if before.logs_in_by != seen.logs_in_by:
            self._free(before)

    def forget_targets(self) -> None:
        """Believe nothing that was seen of targets: whoever writes one looks at it anew."""
        self._observed.clear()

    def target_listed(self, kind: str, body: Mapping[str, JsonValue]) -> None:
        """Take in a Secret or ConfigMap with our label that a listing found."""
        if self._is_backup(kind, body):
            return
        seen = observe_target(kind, body, self._fingerprinter)
        if self._observed.get(seen.key) is None:
            # Found at the start: whoever writes it has it compared when its own turn comes.
            self._observed.put(seen)
            self.on_managed(seen.key, seen.resource_version, self._objects.writers_of(seen.key))
        else:
            self._note(seen, body)

    def target_changed(self, kind: str, body: Mapping[str, JsonValue]) -> None:
        """Take in a Secret or ConfigMap with our label that was created or changed."""
        if not self._is_backup(kind, body):
            self._note(observe_target(kind, body, self._fingerprinter), body)

    def target_gone(self, key: TargetKey, uid: str | None) -> None:
        """Take in the end of a Secret or ConfigMap, or of its label.

        Args:
            key: which.
            uid: of the one that ended; None where a listing lacks it.
        """
        known = self._observed.get(key)
        if known is not None and uid is not None and known.uid != uid:
            return  # the end of a predecessor, which comes late
        self._observed.drop(key)
        writers = self._objects.writers_of(key)
        self.on_managed(key, None, writers)
        if writers:
            self._observed.mark_gone(key)
        self._call(writers)

    def _is_backup(self, kind: str, body: Mapping[str, JsonValue]) -> bool:
        if not (is_backup(body) or is_trial(body)):
            return False
        self.on_backup(kind, ObjectKey.of(body))
        return True

    def _note(self, seen: ObservedTarget, body: Mapping[str, JsonValue]) -> None:
        writers = self._objects.writers_of(seen.key)
        # What one of several writers does is news to the others.
        expected = self._observed.is_expected(seen) and len(writers) < 2
        self._observed.put(seen)
        self.on_managed(seen.key, seen.resource_version, writers)
        if expected:
            return
        if writers:
            self._observed.keep_body(seen.key, body)
        self._call(writers)

    def _call(self, writers: tuple[WorkKey, ...]) -> None:
        for key in writers:
            self._queue.add(key, Lane.URGENT)

    def _ended(self, gone: ObservedObject) -> None:
        for target in gone.targets:
            self._leave(target)
        self._free(gone)
        self._queue.forget(gone.key)
        self._forget(gone.key)

    def _leave(self, target: TargetKey) -> None:
        """One object less names the target: another may take it now."""
        writers = self._objects.writers_of(target)
        if not writers:
            self._observed.expect(target, None)
        self._call(writers)

    def _free(self, before: ObservedObject) -> None:
        """One object less logs in by this Secret: the Secret's writers may now be allowed to take it over."""
        self._call(self._objects.writers_of(before.identity_secret))


def _lane(seen: ObservedObject, event_type: str | None) -> Lane:
    if seen.never_reported:
        return Lane.FIRST
    return Lane.REFRESH if event_type is None else Lane.URGENT
