"""One run as the proxies see it: which moments it had, and what is to be done at which of them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aiohttp import web

from tools.explore.moments import Naming
from tools.explore.plans import Act, Disturbance

__all__ = ["Post"]


@dataclass(slots=True)
class Post:
    """Told of each moment of a run by the proxies.

    Attributes:
        naming: of the run.
        disturbances: what is to be done.
        kill: kills the operator at once; somebody else starts it again.
        is_armed: whether moments count: what a scenario prepares is not disturbed.
        moments: all that counted, in their order.
        reached: disturbances that happened.
        writes: to the API server while armed; dry runs count.
        calls: of the service while armed, reading or not.
        changed_at: monotonic seconds of the last moment that was no event, armed or not.
        late: what was held up and has not been carried out yet.
    """

    naming: Naming
    disturbances: Sequence[Disturbance] = ()
    kill: Callable[[], None] = lambda: None
    is_armed: bool = False
    moments: list[str] = field(default_factory=list)
    reached: list[Disturbance] = field(default_factory=list)
    writes: int = 0
    calls: int = 0
    changed_at: float = field(default_factory=time.monotonic)
    late: set[asyncio.Task[None] | asyncio.Task[web.Response]] = field(default_factory=set)
    _seen: Counter[str] = field(default_factory=Counter)

    def meet(self, what: str) -> Act | None:
        """Note that a moment has come, and return what is to be done at it."""
        if not what.startswith("event "):
            self.changed_at = time.monotonic()
        if not self.is_armed:
            return None
        if what.startswith("write "):
            self.writes += 1
        self._seen[what] += 1
        moment = f"{what}#{self._seen[what]}"
        self.moments.append(moment)
        for one in self.disturbances:
            if one.moment == moment and one not in self.reached:
                self.reached.append(one)
                return one.act
        return None

    def note_call(self) -> None:
        """Note a request to the service."""
        if self.is_armed:
            self.calls += 1

    @property
    def unreached(self) -> list[Disturbance]:
        """Return what was to be done and never was."""
        return [one for one in self.disturbances if one not in self.reached]

    def quiet_seconds(self) -> float:
        """Return for how long nothing was written, and nothing is to come."""
        return 0.0 if self.late else time.monotonic() - self.changed_at
