"""How a reconcile's end becomes conditions, the same for all kinds (kstatus). Pure; the instant is passed in."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import Enum

from keybearer.controllers.custom_resource import Condition, ConditionStatus

__all__ = ["Tone", "build_conditions"]


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


def build_conditions(
    previous: Iterable[Condition],
    tone: Tone,
    reason: str,
    message: str,
    *,
    generation: int,
    now: datetime,
    also: Iterable[str] = (),
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

    if tone is Tone.READY:
        return (say("Ready", true=True),)
    if tone is Tone.PAUSED:
        ready = before.get("Ready")
        if ready is None:
            return (say("Ready", true=False), say("Reconciling", true=False))
        # What was good stays good: the user paused the updates, not what was written.
        is_ready = ready.status is ConditionStatus.TRUE
        kept = say("Ready", true=is_ready, reason=ready.reason, message=ready.message)
        return (kept, say("Reconciling", true=False))
    conditions = [say("Ready", true=False)]
    if tone is Tone.WAITING:
        conditions.append(say("Reconciling", true=True))
    if tone is Tone.STALLED:
        conditions.append(say("Stalled", true=True))
    return (*conditions, *(say(kind, true=True) for kind in also))
