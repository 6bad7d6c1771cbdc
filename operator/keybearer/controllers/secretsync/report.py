"""How a reconcile's end becomes a status: conditions, keys, plan. Pure; the instant is passed in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from keybearer.controllers.custom_resource import Condition, ConditionStatus
from keybearer.controllers.secretsync.changes import KeyChanges, plan_status
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.status import (
    KEYS_MAX,
    KeyState,
    KeyStatus,
    SecretSyncStatus,
    TargetStatus,
    Updates,
)

__all__ = ["Report", "Tone", "build_status", "says_the_same"]


class Tone(Enum):
    """What the outcome asks of whom."""

    READY = "ready"
    """Nothing of anybody."""
    WAITING = "waiting"
    """Nothing of the user: it is tried again."""
    STALLED = "stalled"
    """Something of the user."""
    HELD = "held"
    """A decision: the plan waits for approval, or the guard for release."""
    PAUSED = "paused"
    """The user asked for nothing to be done."""


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
        conditions=_conditions(previous, report, generation, now),
        source=report.source or previous.source,
        last_refresh_time=report.refreshed_at or previous.last_refresh_time,
        updates=updates,
        target=report.target or previous.target,
        moving_to=None if report.settled else previous.moving_to,
        keys=keys,
        keys_total=total,
        plan=plan_status(report.changes) if report.tone is Tone.HELD else None,
        last_handled_requested_at=report.handled or previous.last_handled_requested_at,
    )


def says_the_same(one: SecretSyncStatus, other: SecretSyncStatus) -> bool:
    """Tell whether two statuses differ in nothing but the time of the last refresh, which alone is not written."""
    return one.model_copy(update={"last_refresh_time": other.last_refresh_time}) == other


def _conditions(
    previous: SecretSyncStatus, report: Report, generation: int, now: datetime
) -> tuple[Condition, ...]:
    before = {condition.type: condition for condition in previous.conditions}

    def say(kind: str, *, true: bool, reason: str, message: str) -> Condition:
        status = ConditionStatus.TRUE if true else ConditionStatus.FALSE
        known = before.get(kind)
        since = known.last_transition_time if known is not None and known.status is status else _second(now)
        return Condition(
            type=kind,
            status=status,
            observed_generation=generation,
            last_transition_time=since,
            reason=reason,
            message=message,
        )

    reason, message = str(report.reason), report.message
    tone = report.tone
    if tone is Tone.READY:
        return (say("Ready", true=True, reason=reason, message=message),)
    if tone is Tone.PAUSED:
        paused = say("Reconciling", true=False, reason=reason, message=message)
        ready = before.get("Ready")
        if ready is None:
            return (say("Ready", true=False, reason=reason, message=message), paused)
        # What was good stays good: the user paused the updates, not the Secret.
        is_ready = ready.status is ConditionStatus.TRUE
        return (say("Ready", true=is_ready, reason=ready.reason, message=ready.message), paused)
    conditions = [say("Ready", true=False, reason=reason, message=message)]
    if tone is Tone.WAITING:
        conditions.append(say("Reconciling", true=True, reason=reason, message=message))
    if tone is Tone.STALLED or (tone is Tone.HELD and reason == Reason.GUARDED):
        conditions.append(say("Stalled", true=True, reason=reason, message=message))
    if reason == Reason.GUARDED:
        conditions.append(say("Guarded", true=True, reason=reason, message=message))
    return tuple(conditions)


def _bounded(keys: tuple[KeyStatus, ...]) -> tuple[KeyStatus, ...]:
    problems = [key for key in keys if key.state is not KeyState.SYNCED or key.reason]
    fine = [key for key in keys if key.state is KeyState.SYNCED and not key.reason]
    return tuple((problems + fine)[:KEYS_MAX])


def _second(instant: datetime) -> datetime:
    return instant.replace(microsecond=0)
