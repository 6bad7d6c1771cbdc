"""How a reconcile's end becomes conditions, the same for all kinds (kstatus). Pure; the instant is passed in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from keybearer.controllers.custom_resource import Condition, ConditionStatus

__all__ = ["BUDGET_USED", "CLOCK_IN_SYNC", "Aspect", "Tone", "aspects_in", "build_conditions", "last_reason"]

BUDGET_USED = "BudgetUsed"
"""True while an object may cause no more of an effect: something makes it needed again and again."""
CLOCK_IN_SYNC = "ClockInSync"
"""False while the operator's clock and the service's differ."""
_ASPECTS = frozenset({BUDGET_USED, CLOCK_IN_SYNC})


@dataclass(frozen=True, slots=True)
class Aspect:
    """A condition with a reason of its own, whatever the end of the reconcile."""

    type: str
    true: bool
    reason: str
    message: str


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


def last_reason(conditions: Iterable[Condition]) -> str | None:
    """Return the reason of the end that these conditions tell of; None where there was none."""
    told = [one.reason for one in conditions if one.type not in _ASPECTS]
    return told[-1] if told else None


def aspects_in(conditions: Iterable[Condition]) -> tuple[Aspect, ...]:
    """Return the conditions that say something else than how the reconcile ended."""
    return tuple(
        Aspect(one.type, one.status is ConditionStatus.TRUE, one.reason, one.message)
        for one in conditions
        if one.type in _ASPECTS
    )


def build_conditions(
    previous: Iterable[Condition],
    tone: Tone,
    reason: str,
    message: str,
    *,
    generation: int,
    now: datetime,
    also: Iterable[str] = (),
    beside: Iterable[Aspect] = (),
) -> tuple[Condition, ...]:
    """Return the conditions that an end leads to.

    Args:
        previous: those of before.
        tone: whose turn it is.
        reason: why, in a word.
        message: why, for people.
        generation: that was reconciled.
        now: the instant of a change.
        also: further conditions that hold for the same reason.
        beside: conditions that say something else.
    """
    before = {condition.type: condition for condition in previous}

    def say(kind: str, *, true: bool, reason: str = reason, message: str = message) -> Condition:
        status = ConditionStatus.TRUE if true else ConditionStatus.FALSE
        known = before.get(kind)
        is_known = known is not None and known.status is status
        return Condition(
            type=kind,
            status=status,
            observed_generation=generation,
            last_transition_time=known.last_transition_time
            if known is not None and is_known
            else now.replace(microsecond=0),
            reason=reason,
            message=message,
        )

    others = [say(one.type, true=one.true, reason=one.reason, message=one.message) for one in beside]
    if tone is Tone.READY:
        return (say("Ready", true=True), *others)
    if tone is Tone.PAUSED:
        ready = before.get("Ready")
        if ready is None:
            return (say("Ready", true=False), say("Reconciling", true=False), *others)
        # What was good stays good: the user paused the updates, not what was written.
        is_ready = ready.status is ConditionStatus.TRUE
        kept = say("Ready", true=is_ready, reason=ready.reason, message=ready.message)
        return (kept, say("Reconciling", true=False), *others)
    conditions = [say("Ready", true=False)]
    if tone is Tone.WAITING:
        conditions.append(say("Reconciling", true=True))
    if tone is Tone.STALLED:
        conditions.append(say("Stalled", true=True))
    return (*conditions, *(say(kind, true=True) for kind in also), *others)
