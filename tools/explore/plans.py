"""Plans: which scenario is run, and what is done to it where."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

__all__ = ["Act", "Disturbance", "Plan", "field_plans", "pairs_of", "plans_of"]


class Act(StrEnum):
    """What is done at a moment."""

    KILLED_BEFORE = "killed before it"
    KILLED_AFTER = "killed after it"
    ANSWER_LOST = "answer lost"
    CONFLICT = "answer 409"
    THROTTLED = "answer 429"
    FAILED = "answer 500"
    DELAYED = "delayed 20 s"
    EVENT_DELAYED = "event delayed"
    EVENT_DROPPED = "dropped until the next list"
    EVENT_TWICE = "delivered twice"

    @property
    def kills(self) -> bool:
        """Tell whether the operator is killed."""
        return self in (Act.KILLED_BEFORE, Act.KILLED_AFTER)

    @property
    def withholds(self) -> bool:
        """Tell whether an event is kept from the operator, so that a list may show it first."""
        return self in (Act.EVENT_DELAYED, Act.EVENT_DROPPED)


_OF_EVENTS = (Act.EVENT_DELAYED, Act.EVENT_DROPPED, Act.EVENT_TWICE)
_OF_WRITES = tuple(act for act in Act if act not in _OF_EVENTS)


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One act at one moment, as `moments` calls it."""

    moment: str
    act: Act

    def __str__(self) -> str:
        return f"{self.moment}: {self.act}"


@dataclass(frozen=True, slots=True)
class Plan:
    """One run to be made.

    Attributes:
        number: it is replayed by.
        scenario: by its name.
        disturbances: none for an undisturbed run.
    """

    number: int
    scenario: str
    disturbances: tuple[Disturbance, ...]

    @property
    def kills(self) -> bool:
        """Tell whether the operator is killed in it."""
        return any(one.act.kills for one in self.disturbances)

    def __str__(self) -> str:
        return f"{self.scenario} / " + (" + ".join(map(str, self.disturbances)) or "undisturbed")


def disturbances_of(moments: Iterable[str]) -> list[Disturbance]:
    """Return everything that can be done at these moments, once each."""
    return [
        Disturbance(moment, act)
        for moment in moments
        for act in (_OF_EVENTS if moment.startswith("event ") else _OF_WRITES)
    ]


def plans_of(moments: Mapping[str, Sequence[str]]) -> list[Plan]:
    """Return a plan for each disturbance of each scenario, numbered from 1.

    Args:
        moments: of the undisturbed run, by scenario.
    """
    number = count(1)
    return [
        Plan(next(number), scenario, (one,))
        for scenario, there in moments.items()
        for one in disturbances_of(there)
    ]


def field_plans(scenarios: Iterable[str], first: int) -> list[Plan]:
    """Return a plan for each of these scenarios, undisturbed.

    Args:
        scenarios: by name.
        first: the number of the first plan.
    """
    return [Plan(number, scenario, ()) for number, scenario in enumerate(scenarios, first)]


def pairs_of(moments: Mapping[str, Sequence[str]], how_many: int, seed: int, first: int) -> list[Plan]:
    """Return plans with two disturbances at two moments of one scenario, chosen by the seed.

    Args:
        moments: of the undisturbed run, by scenario.
        how_many: plans.
        seed: the same seed and moments give the same plans.
        first: the number of the first plan.
    """
    rng = random.Random(seed)  # noqa: S311 - a search that can be repeated
    able = [scenario for scenario, there in moments.items() if len(there) > 1]
    plans: dict[tuple[str, tuple[Disturbance, ...]], None] = {}
    while able and len(plans) < how_many:
        scenario = rng.choice(able)
        earlier, later = sorted(rng.sample(range(len(moments[scenario])), 2))
        pair = tuple(rng.choice(disturbances_of([moments[scenario][place]])) for place in (earlier, later))
        plans[scenario, pair] = None
    return [Plan(number, scenario, pair) for number, (scenario, pair) in enumerate(plans, first)]
