"""What is done to the programs: ended, killed, stopped for a while, and cut off from the service; one at a time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from tools.soak.actors import stopped_within
from tools.soak.fault_proxy import Fault
from tools.soak.freshness import Disturbance
from tools.soak.house import House, leads
from tools.soak.sight import Sight

__all__ = ["ALL", "Disturber", "Kind"]

_FROZEN_SECONDS_MAX = 40.0
"""A Lease may be taken after 15 s, and is asked for each 2 s."""
_WAKES_SECONDS = 30.0
_LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of disturbance.

    Attributes:
        settles_seconds: how long it may be felt after its end: a Lease of 15 s and a start, or a next attempt.
        kills: it ends or stops a program.
    """

    name: str
    settles_seconds: float
    happen: Callable[[Disturber], Awaitable[None]]
    kills: bool = True


class Disturber:
    """Does one after the other, with calm between.

    Attributes:
        past: what was done.
        present: what is being done; empty in between.
        violations: what a program did that it must not.
    """

    def __init__(self, house: House, sight: Sight, rng: random.Random, stop: asyncio.Event) -> None:
        self._house = house
        self._sight = sight
        self._rng = rng
        self._stop = stop
        self.past: list[Disturbance] = []
        self.present = ""
        self.violations: list[str] = []

    async def run(self) -> None:
        """Disturb until stopped, each kind once before any comes again."""
        options = self._house.options
        chosen = [
            kind for name, kind in ALL.items() if name in options.disturbances or not options.disturbances
        ]
        bag: list[Kind] = []
        first, last = (share * options.seconds for share in options.disturbed)
        if await stopped_within(self._stop, max(first - self._sight.now(), 0.0)):
            return
        while self._sight.now() < last:
            may_kill = self._sight.now() < options.seconds * options.killing_share
            allowed = [kind for kind in chosen if may_kill or not kind.kills]
            bag = [kind for kind in bag if kind in allowed] or self._rng.sample(allowed, len(allowed))
            if bag:
                await self._disturb(bag.pop())
            if await stopped_within(self._stop, self._rng.uniform(*options.rates.calm_seconds)):
                return

    async def _disturb(self, kind: Kind) -> None:
        began, self.present = self._sight.now(), kind.name
        await kind.happen(self)
        self.past.append(Disturbance(kind.name, began, self._sight.now(), kind.settles_seconds))
        self.present = ""

    async def end_leader(self) -> None:
        """The leader gets SIGTERM, and is started again."""
        name = await self._house.leader()
        operator = self._house.operators[name]
        with self._house.holding(name):
            try:
                if operator.running:
                    await asyncio.to_thread(operator.terminate)
            except AssertionError:  # its log doesn't say that it stopped
                self.violations.append(f"{name} didn't end in good order after SIGTERM")
            await asyncio.to_thread(operator.start, wait=False)

    async def kill_operator(self, *, leading: bool) -> None:
        """The leader, or the other one, dies at once, and is started again a moment later."""
        leader = await self._house.leader()
        name = next(name for name in self._house.operators if (name == leader) is leading)
        operator = self._house.operators[name]
        with self._house.holding(name):
            await asyncio.to_thread(operator.kill)
            await stopped_within(self._stop, self._rng.uniform(0.5, 5.0))
            await asyncio.to_thread(operator.start, wait=False)

    async def freeze_leader(self) -> None:
        """The leader stands still until the other one leads, and then some; awake, it must end."""
        name = await self._house.leader()
        operator = self._house.operators[name]
        others = [one for other, one in self._house.operators.items() if other != name]
        with self._house.holding(name):
            if not operator.running:
                return
            operator.freeze()
            taken_over = await self._holds(lambda: any(map(leads, others)), _FROZEN_SECONDS_MAX)
            operator.thaw()
            if not taken_over:
                self.violations.append(f"no other operator led while {name} stood still")
            elif not await self._holds(lambda: not operator.running, _WAKES_SECONDS):
                self.violations.append(f"{name} stood still until another led, and went on afterwards")
            if operator.running:
                await asyncio.to_thread(operator.kill)
            await asyncio.to_thread(operator.start, wait=False)

    async def restart_service(self, *, kill: bool) -> None:
        """The service ends, and is started again a moment later."""
        service = self._house.service
        with self._house.holding("service"):
            await asyncio.to_thread(service.kill if kill else service.stop)
            await stopped_within(self._stop, self._rng.uniform(0.5, 5.0))
            await asyncio.to_thread(service.start)

    async def restart_api_server(self, *, kill: bool) -> None:
        """The API server ends, and is started again."""
        plane = self._house.plane
        await asyncio.to_thread(plane.kill_api_server if kill else plane.stop_api_server)
        await asyncio.to_thread(plane.start_api_server)

    async def fail(self, fault: Fault) -> None:
        """Requests to the service meet a fault for some time; open streams of events end at its beginning."""
        proxy = self._house.proxy
        proxy.fault = fault
        if fault.kind == "cut":
            proxy.cut_streams()
        await stopped_within(self._stop, self._rng.uniform(*self._house.options.rates.fault_seconds))
        proxy.fault = None

    async def _holds(self, condition: Callable[[], bool], within_seconds: float) -> bool:
        try:
            async with asyncio.timeout(within_seconds):
                while True:
                    if await asyncio.to_thread(condition):
                        return True
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            return False


_KINDS = (
    Kind("leader ended (SIGTERM)", 15, Disturber.end_leader),
    Kind("leader killed", 30, lambda one: one.kill_operator(leading=True)),
    Kind("standby killed", 5, lambda one: one.kill_operator(leading=False)),
    Kind("leader stood still (SIGSTOP)", 15, Disturber.freeze_leader),
    Kind("service restarted (SIGTERM)", 15, lambda one: one.restart_service(kill=False)),
    Kind("service killed", 15, lambda one: one.restart_service(kill=True)),
    Kind("API server restarted (SIGTERM)", 30, lambda one: one.restart_api_server(kill=False)),
    Kind("API server killed", 30, lambda one: one.restart_api_server(kill=True)),
    Kind("answers delayed", 10, lambda one: one.fail(Fault("delay")), kills=False),
    Kind("connections cut", 15, lambda one: one.fail(Fault("cut")), kills=False),
    Kind("429 answered", 15, lambda one: one.fail(Fault("throttle")), kills=False),
    Kind("5xx answered", 15, lambda one: one.fail(Fault("errors")), kills=False),
)
ALL: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}
"""By name, which `SoakOptions.disturbances` may choose from."""
