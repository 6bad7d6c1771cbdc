"""The budget of what an object causes outside: repairs of a target, pushes, restarts, certificates.

Nothing of it is noticed in normal use. It bounds what a fight with another controller or a loop can cost: what is
spent is counted for each effect and for each owner of a budget, and what comes after that waits. A certificate, a
target, a sync and a workload have a budget each. Counting is pure and conservative: never more than `Limit.count` in
any window. What must outlive the process (certificates) keeps its ledger in a status; the rest is held by
`EffectBudgets`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated

from pydantic import Field

from keybearer.base.clock import Clock
from keybearer.controllers.custom_resource import ResourceModel
from keybearer.controllers.resource_fields import Instant

__all__ = [
    "LEDGER_MAX",
    "PUSHES",
    "REFRESHES",
    "REPAIRS",
    "RESTARTS",
    "EffectBudgets",
    "Ledger",
    "Limit",
    "Overrun",
    "Spent",
    "free_at",
    "issues_limit",
    "put_right",
    "spend",
    "used",
]

_PARTS = 6
"""What is spent within such a part of the window is counted as one entry."""
LEDGER_MAX = _PARTS + 2
"""Entries that a ledger has at most."""
_HELD_MAX = 50_000
_QUIET = 1.2
"""So many of the longest pauses without the effect end what used its budget up."""
_A_MOMENT = timedelta(seconds=1)
"""By which an entry may be ahead of the present: a status holds whole seconds."""


@dataclass(frozen=True, slots=True)
class Limit:
    """So much of an effect within any time of that length.

    Attributes:
        effect: one word, for metrics.
        count: how often at most.
        window: within which time.
        at_once: how often without a pause; None: as often as `count`.
        pause: after what came without one, doubled each time.
        longest_pause: where the doubling ends.
    """

    effect: str
    count: int
    window: timedelta
    at_once: int | None = None
    pause: timedelta = timedelta()
    longest_pause: timedelta = timedelta()


class Spent(ResourceModel):
    """Several effects of one kind, close to each other in time."""

    since: Annotated[Instant, Field(description="When the first of them was caused.")]
    last: Annotated[Instant, Field(description="When the last of them was caused.")]
    count: Annotated[int, Field(ge=1, description="How many there were.")]


Ledger = tuple[Spent, ...]
"""What was spent, oldest first."""


def used(ledger: Sequence[Spent], limit: Limit, now: datetime) -> int:
    """Return how much of the budget is used."""
    return sum(one.count for one in _counting(ledger, limit, now))


def free_at(ledger: Sequence[Spent], limit: Limit, now: datetime) -> datetime | None:
    """Return when the effect may be caused again; None: now."""
    current = _counting(ledger, limit, now)
    count = sum(one.count for one in current)
    at_once = limit.count if limit.at_once is None else limit.at_once
    if count < at_once:
        return None
    free = min(current[-1].last, now)
    if count < limit.count:
        # The exponent is bounded by the count.
        free += min(limit.pause * 2.0 ** (count - at_once), limit.longest_pause)
    else:
        left = count
        for one in current:
            left -= one.count
            free = min(one.last, now) + limit.window
            if left < limit.count:
                break
    return free if free > now else None


def put_right(ledger: Ledger, now: datetime) -> Ledger:
    """Return the ledger with what a wrong clock noted for later as of now, so that it ends as the rest does."""
    if all(one.last <= now + _A_MOMENT for one in ledger):
        return ledger
    return tuple(_by_now(one, now) for one in ledger)


def spend(ledger: Sequence[Spent], limit: Limit, now: datetime) -> Ledger:
    """Return the ledger after the effect was caused once more."""
    current = [_by_now(one, now) for one in _counting(ledger, limit, now)]
    since = now.replace(microsecond=0)
    until = since if since == now else since + _A_MOMENT
    if current and now < current[-1].since + limit.window / _PARTS:
        last = current[-1]
        return (*current[:-1], last.model_copy(update={"last": until, "count": last.count + 1}))
    return (*current, Spent(since=since, last=until, count=1))


def _counting(ledger: Sequence[Spent], limit: Limit, now: datetime) -> list[Spent]:
    """Return the entries that still count; an instant ahead of the present counts as now."""
    return [one for one in ledger if one.last + limit.window > now]


def _by_now(one: Spent, now: datetime) -> Spent:
    if one.last <= now:
        return one
    return one.model_copy(update={"since": min(one.since, now), "last": now})


_WINDOW = timedelta(minutes=10)
_PAUSE, _LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=5)
REPAIRS = Limit("repair", 30, _WINDOW, at_once=15, pause=_PAUSE, longest_pause=_LONGEST_PAUSE)
"""Of a target that others change."""
PUSHES = Limit("push", 60, _WINDOW, at_once=40, pause=_PAUSE, longest_pause=_LONGEST_PAUSE)
"""Of a sync to a destination: changes of its definition, and its runs, but for those that a person asks for."""
RESTARTS = Limit("restart", 1, timedelta(minutes=1))
"""Of one workload."""
REFRESHES = Limit("refresh", 300, _WINDOW)
"""Of the pods that mount one target. Beyond that, the kubelet's own pace shows what changed."""
_ISSUES = 6
_ISSUES_PER_LIFETIME = 3


@lru_cache(maxsize=256)
def issues_limit(lifetime: timedelta) -> Limit:
    """Return how many certificates may be issued within an hour in the place of one that lives so long."""
    hour = timedelta(hours=1)
    lifetimes = hour / lifetime if lifetime > timedelta() else 0.0
    return Limit("issue", max(_ISSUES, int(_ISSUES_PER_LIFETIME * lifetimes)), hour)


@dataclass(frozen=True, slots=True)
class Overrun:
    """A budget that is used up but for what comes after pauses.

    Attributes:
        since: when it was found so first.
        why: what used it, for people.
        left: how long until it counts as over if nothing more is spent.
    """

    since: datetime
    why: str
    left: timedelta


class EffectBudgets:
    """What this process caused. Another leader begins anew: each budget can be spent once for each leader.

    Args:
        clock: for the windows.
        on_delay: told of each effect that had to wait.
    """

    def __init__(self, clock: Clock, on_delay: Callable[[str], None] = lambda _: None) -> None:
        self._clock = clock
        self._on_delay = on_delay
        self._ledgers: dict[Limit, OrderedDict[str, Ledger]] = {}
        self._overruns: OrderedDict[tuple[str, Limit], tuple[datetime, str]] = OrderedDict()

    def take(self, of: str, limit: Limit, why: str = "") -> datetime | None:
        """Count that the effect is caused now, and return None; or return when it may be caused.

        Args:
            of: whose budget it is. Pushes: the UID of a SecretSync. Repairs: the UID of the owner with kind and
                name of the target, for each target has a budget (decision 0042). Restarts: kind and name of the
                workload.
            limit: of the effect.
            why: who or what makes it needed, for people.
        """
        now = self._clock.now()
        ledgers = self._ledgers.setdefault(limit, OrderedDict())
        ledger = put_right(ledgers.pop(of, ()), now)
        free = free_at(ledger, limit, now)
        ledgers[of] = ledger if free is not None else spend(ledger, limit, now)
        if free is not None:
            self._on_delay(limit.effect)
            if self.overrun(of, limit) is None:
                self._overruns[of, limit] = (now.replace(microsecond=0), why)
        # The oldest come first: those that count no more go, and so does the rest beyond what is held.
        while len(ledgers) > _HELD_MAX or not used(next(iter(ledgers.values())), limit, now):
            ledgers.popitem(last=False)
        while len(self._overruns) > _HELD_MAX:
            self._overruns.popitem(last=False)
        return free

    def give_back(self, of: str, limit: Limit) -> None:
        """Take back the last `take`: the effect was not caused. Nothing changes where that counts no more."""
        ledger = self._ledger(of, limit)
        if not ledger:
            return
        *before, last = ledger
        less = [last.model_copy(update={"count": last.count - 1})] if last.count > 1 else []
        self._ledgers[limit][of] = (*before, *less)

    def wait(self, of: str, limit: Limit) -> timedelta:
        """Return how long until the effect may be caused again; not at all where it may be now."""
        now = self._clock.now()
        free = free_at(self._ledger(of, limit), limit, now)
        return timedelta() if free is None else free - now

    def overrun(self, of: str, limit: Limit) -> Overrun | None:
        """Return since when the budget is used up; None where it isn't, or that is over."""
        begun = self._overruns.get((of, limit))
        if begun is None:
            return None
        ledger = self._ledger(of, limit)
        # A fight that goes on has a repair after each of the longest pauses.
        now = self._clock.now()
        left = (ledger[-1].last if ledger else begun[0]) + limit.longest_pause * _QUIET - now
        if left <= timedelta():
            del self._overruns[of, limit]
            return None
        return Overrun(*begun, left)

    def _ledger(self, of: str, limit: Limit) -> Ledger:
        ledgers = self._ledgers.get(limit)
        return () if ledgers is None else ledgers.get(of, ())
