"""How one run of a SecretSync ended, and the status that this leads to. Pure; the instant is passed in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from keybearer.controllers.conditions import BUDGET_USED, Tone, build_conditions
from keybearer.controllers.event_feed import RefusalKind
from keybearer.controllers.outcome import Outcome
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.status import (
    KEYS_MAX,
    KeyState,
    KeyStatus,
    PollingReason,
    PushStatus,
    RemoteSyncStatus,
    SecretSyncStatus,
    Updates,
)
from keybearer.controllers.target.changes import KeyChanges, plan_status
from keybearer.controllers.target.status import PastRemoval, TargetStatus, WorkloadStatus

__all__ = ["Arrival", "SyncOutcome", "arrival_of", "build_status", "says_the_same"]


_POLLING_REASONS = {
    RefusalKind.DENIED: PollingReason.DENIED,
    RefusalKind.UNAVAILABLE: PollingReason.UNAVAILABLE,
    RefusalKind.CROWDED: PollingReason.CROWDED,
    RefusalKind.FAILED: PollingReason.FAILED,
}


@dataclass(frozen=True, slots=True)
class Arrival:
    """How changes of the sources become known, and why by polling, where that is known."""

    updates: Updates
    polling_reason: PollingReason | None = None


@dataclass(frozen=True, slots=True)
class SyncOutcome(Outcome):
    """How one run of a SecretSync ended.

    Attributes:
        source: label of the sources.
        target: what was written, or found as planned.
        settled: that target is the only one there is.
        workloads: what there is to say of the workloads that follow the target.
        keys: state of each key, problems included.
        changes: key names that are held back.
        is_planned_ahead: they change once another owner lets the target go, and the status shows them until then.
        refreshed_at: when the source was last read.
        sync: the sync to the destination, as the service tells of it.
        push: what was given to it.
        drops_sync: there is none any more.
        used_request: a person's request let the target's plan pass, so that it lets nothing else pass.
        import_settled: an import, if a person asks for one, has begun in the service, or there is no destination.
    """

    source: str | None = None
    target: TargetStatus | None = None
    settled: bool = False
    workloads: tuple[WorkloadStatus, ...] | None = None
    keys: tuple[KeyStatus, ...] | None = None
    changes: KeyChanges = field(default_factory=KeyChanges)
    is_planned_ahead: bool = False
    refreshed_at: datetime | None = None
    sync: RemoteSyncStatus | None = None
    push: PushStatus | None = None
    drops_sync: bool = False
    used_request: bool = False
    import_settled: bool = False

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
    previous: SecretSyncStatus, outcome: SyncOutcome, *, generation: int, arrival: Arrival, now: datetime
) -> SecretSyncStatus:
    """Return the whole status that the outcome leads to."""
    keys, total = previous.keys, previous.keys_total
    if outcome.keys is not None:
        keys = _bounded(outcome.keys)
        total = sum(key.state is not KeyState.OVERRIDDEN for key in outcome.keys)
    return SecretSyncStatus(
        observed_generation=generation,
        conditions=build_conditions(
            previous.conditions,
            outcome.tone,
            outcome.reason,
            outcome.message,
            generation=generation,
            now=now,
            also=_FURTHER.get(outcome.reason, ()),
        ),
        source=outcome.source or previous.source,
        last_refresh_time=outcome.refreshed_at or previous.last_refresh_time,
        updates=arrival.updates,
        polling_reason=arrival.polling_reason,
        target=outcome.target or previous.target,
        moving_to=None if outcome.settled else previous.moving_to,
        workloads=previous.workloads if outcome.workloads is None else outcome.workloads,
        keys=keys,
        keys_total=total,
        plan=plan_status(outcome.changes) if outcome.tone is Tone.HELD or outcome.is_planned_ahead else None,
        sync=None if outcome.drops_sync else outcome.sync or previous.sync,
        push=None if outcome.drops_sync else outcome.push or previous.push,
        last_handled_requested_at=outcome.handled or previous.last_handled_requested_at,
    )


def says_the_same(one: SecretSyncStatus, other: SecretSyncStatus) -> bool:
    """Tell whether two statuses differ in nothing but the time of the last refresh, which alone is not written."""
    return one.model_copy(update={"last_refresh_time": other.last_refresh_time}) == other


def _bounded(keys: tuple[KeyStatus, ...]) -> tuple[KeyStatus, ...]:
    problems = [key for key in keys if key.state is not KeyState.SYNCED or key.reason]
    fine = [key for key in keys if key.state is KeyState.SYNCED and not key.reason]
    return tuple((problems + fine)[:KEYS_MAX])


def arrival_of(previous: SecretSyncStatus, *, is_instant: bool | None, why: RefusalKind | None) -> Arrival:
    """Return how changes arrive; as before while that isn't known, for a restart must cost no status writes.

    Args:
        previous: the status so far.
        is_instant: whether changes of all sources are heard; None if not known yet.
        why: what kind of refusal has them polled.
    """
    if is_instant is None:
        return Arrival(previous.updates or Updates.POLLING, previous.polling_reason)
    if is_instant:
        return Arrival(Updates.EVENTS)
    return Arrival(Updates.POLLING, None if why is None else _POLLING_REASONS[why])
