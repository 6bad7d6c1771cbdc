"""What a run of a SecretSync came to, and how that becomes its status: one patch, if it says something new."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from keybearer.base.clock import Clock
from keybearer.controllers.conditions import BUDGET_USED, Tone, build_conditions
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.reading import read_status
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.status import (
    KEYS_MAX,
    KeyState,
    KeyStatus,
    PushStatus,
    RemoteSyncStatus,
    SecretSyncStatus,
    Updates,
)
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.status_patch import StatusPatch
from keybearer.controllers.target.changes import KeyChanges, plan_status
from keybearer.controllers.target.spec import TargetKind
from keybearer.controllers.target.status import PastRemoval, TargetName, TargetStatus
from keybearer.controllers.telemetry import Telemetry

__all__ = ["Report", "StatusWriter", "build_status", "says_the_same"]


@dataclass(frozen=True, slots=True)
class Report:
    """The end of one reconcile. What is None stays as the previous status says.

    Attributes:
        tone: whose turn it is.
        reason: of the condition that tells it.
        message: of that condition, for people.
        source: label of the sources.
        target: what was written, or found as planned.
        settled: that target is the only one there is.
        keys: state of each key, problems included.
        changes: key names that are held back.
        handled: the request that was answered.
        refreshed_at: when the source was last read.
        sync: the sync to the destination, as the service tells of it.
        push: what was given to it.
        drops_sync: there is none any more.
    """

    tone: Tone
    reason: Reason | str
    message: str
    source: str | None = None
    target: TargetStatus | None = None
    settled: bool = False
    keys: tuple[KeyStatus, ...] | None = None
    changes: KeyChanges = field(default_factory=KeyChanges)
    handled: str | None = None
    refreshed_at: datetime | None = None
    sync: RemoteSyncStatus | None = None
    push: PushStatus | None = None
    drops_sync: bool = False

    def tells_only_of_target(self, previous: SecretSyncStatus) -> bool:
        """Tell whether a later run would find all of it again: the object was in sync and is, with other data."""
        was_synced = any(
            condition.type == "Ready" and condition.reason == Reason.SYNCED
            for condition in previous.conditions
        )
        is_about_target = self.reason == Reason.SYNCED and self.settled and previous.moving_to is None
        # What the guard is to remember no later run would find.
        is_about_target &= _removals(self.target) == _removals(previous.target)
        has_no_push = self.sync is None and self.push is None and not self.drops_sync
        return was_synced and is_about_target and has_no_push


_FURTHER = {
    str(Reason.GUARDED): ("Stalled", "Guarded"),
    str(Reason.TARGET_CONTESTED): (BUDGET_USED,),
    str(Reason.PUSHED_TOO_OFTEN): (BUDGET_USED,),
}
"""Conditions that come with a reason, besides those of its tone."""


def _removals(target: TargetStatus | None) -> tuple[PastRemoval, ...] | None:
    return None if target is None else target.removals


def build_status(
    previous: SecretSyncStatus, report: Report, *, generation: int, updates: Updates, now: datetime
) -> SecretSyncStatus:
    """Return the whole status that the report leads to."""
    keys, total = previous.keys, previous.keys_total
    if report.keys is not None:
        keys = _bounded(report.keys)
        total = sum(key.state is not KeyState.OVERRIDDEN for key in report.keys)
    return SecretSyncStatus(
        observed_generation=generation,
        conditions=build_conditions(
            previous.conditions,
            report.tone,
            str(report.reason),
            report.message,
            generation=generation,
            now=now,
            also=_FURTHER.get(str(report.reason), ()),
        ),
        source=report.source or previous.source,
        last_refresh_time=report.refreshed_at or previous.last_refresh_time,
        updates=updates,
        target=report.target or previous.target,
        moving_to=None if report.settled else previous.moving_to,
        keys=keys,
        keys_total=total,
        plan=plan_status(report.changes) if report.tone is Tone.HELD else None,
        sync=None if report.drops_sync else report.sync or previous.sync,
        push=None if report.drops_sync else report.push or previous.push,
        last_handled_requested_at=report.handled or previous.last_handled_requested_at,
    )


def says_the_same(one: SecretSyncStatus, other: SecretSyncStatus) -> bool:
    """Tell whether two statuses differ in nothing but the time of the last refresh, which alone is not written."""
    return one.model_copy(update={"last_refresh_time": other.last_refresh_time}) == other


def _bounded(keys: tuple[KeyStatus, ...]) -> tuple[KeyStatus, ...]:
    problems = [key for key in keys if key.state is not KeyState.SYNCED or key.reason]
    fine = [key for key in keys if key.state is KeyState.SYNCED and not key.reason]
    return tuple((problems + fine)[:KEYS_MAX])


class StatusWriter:
    """Writes what a run came to, and notes what must be known should it be cut off."""

    def __init__(
        self,
        clock: Clock,
        objects: ObjectStore,
        patch: StatusPatch,
        sources: SourceReader,
        telemetry: Telemetry,
    ) -> None:
        self._clock = clock
        self._objects = objects
        self._patch = patch
        self._sources = sources
        self._telemetry = telemetry

    def latest(self, seen: ObservedObject, previous: SecretSyncStatus) -> SecretSyncStatus:
        """Return the status of before the run, or what the run itself has noted there."""
        current = self._objects.get(seen.key)
        if current is None or current.uid != seen.uid or current.status_json == seen.status_json:
            return previous
        return read_status(current, SecretSyncStatus)

    async def write(self, seen: ObservedObject, previous: SecretSyncStatus, report: Report) -> None:
        """Write the status that the report leads to, and tell of it.

        Raises:
            ObjectGoneError: the SecretSync is gone, or another one of the same name.
            KubeError: the API server refuses or can't be asked.
        """
        status = build_status(
            previous,
            report,
            generation=seen.generation,
            updates=_updates(previous, is_instant=self._sources.is_instant(seen.key)),
            now=self._clock.now(),
        )
        # Ready comes first and keeps its reason under a suspension; the last one is what was told last.
        was = previous.conditions[-1].reason if previous.conditions else None
        fine = report.tone in (Tone.READY, Tone.PAUSED) or report.reason == Reason.PLANNED
        self._telemetry.outcome(
            seen, str(report.reason), report.message, was=was, fine=fine, conditions=status.conditions
        )
        if not says_the_same(status, previous):
            await self._patch.apply(seen, status.to_wire())

    async def note_move(self, seen: ObservedObject, previous: SecretSyncStatus, now: TargetKey) -> None:
        """Note that this target is about to be written in place of the one that the status names.

        Raises:
            ObjectGoneError: the SecretSync is gone, or another one of the same name.
            KubeError: the API server refuses or can't be asked.
        """
        moving_to = TargetName(kind=TargetKind(now.kind), name=now.name)
        await self._patch.apply(seen, previous.model_copy(update={"moving_to": moving_to}).to_wire())


def _updates(previous: SecretSyncStatus, *, is_instant: bool | None) -> Updates:
    """Return how changes arrive; as before while that isn't known, for a restart must cost no status writes."""
    if is_instant is None:
        return previous.updates or Updates.POLLING
    return Updates.EVENTS if is_instant else Updates.POLLING
