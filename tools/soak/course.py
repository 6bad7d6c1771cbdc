"""The parts of one soak while it runs, and what is asked of them: is all right, how is it going, is memory flat."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field

import aiohttp
import httpx

from tools.bench.errors import BenchError
from tools.bench.samples import percentile
from tools.soak.actors import Actors
from tools.soak.disturbances import Disturber
from tools.soak.house import House
from tools.soak.memory import Flatness
from tools.soak.memory import judge as judge_memory
from tools.soak.meters import Meters
from tools.soak.options import SoakOptions
from tools.soak.population import Population
from tools.soak.sight import Sight
from tools.soak.verdict import Check, gather, judge, read_sources

__all__ = ["Course", "kept_up"]

_LOOK_SECONDS = 1.0
_RECENT_SECONDS = 60.0
_CHART_LIMITS_MIB = {"operator": 512.0, "service": 1024.0}
"""What the chart lets them use."""


@dataclass(slots=True)
class Course:
    """All parts of one soak."""

    options: SoakOptions
    house: House
    population: Population
    sight: Sight
    actors: Actors
    meters: Meters = field(init=False)

    def __post_init__(self) -> None:
        self.meters = Meters(self.house, self.sight)

    async def judge(self) -> list[Check]:
        """Hold what is in the cluster now to what the service says now."""
        paths = [f"/source-{number}" for number in range(self.options.sources)]
        sources = await read_sources(self.house.admin, self.house.project, paths)
        return judge(await gather(self.house.api, self.house.namespaces), self.population, sources)

    async def until_right(self, within_seconds: float) -> list[Check]:
        """Return the checks as soon as all of them hold; those of the end where that never comes."""
        deadline = time.monotonic() + within_seconds
        while True:
            try:
                checks = await self.judge()
            except (BenchError, aiohttp.ClientError, httpx.HTTPError) as error:
                checks = [Check("the cluster and the service answer", (f"{type(error).__name__}",))]
            if all(check.holds for check in checks) or time.monotonic() > deadline:
                return checks
            await asyncio.sleep(_LOOK_SECONDS)

    def flatness(self) -> list[Flatness]:
        """Return what can be told of memory: of each stretch that was long enough."""
        judged = (judge_memory(one, self.options.shortest_stretch_seconds) for one in self.meters.stretches)
        return [one for one in judged if one is not None]

    def memory_check(self, minutes: float) -> Check:
        """Return whether memory is flat, and within the chart's limits.

        Args:
            minutes: how long things were changed. In a run that is long enough, the service and an operator that
                led must have been seen for long enough.
        """
        flatness = self.flatness()
        faults = [
            f"{one.job} grew by {one.growth_mib:.1f} MiB in {one.seconds / 2:.0f} s"
            for one in flatness
            if not one.flat
        ]
        for stretch in self.meters.stretches:
            limit = next(mib for program, mib in _CHART_LIMITS_MIB.items() if stretch.job.startswith(program))
            highest = max((mib for _, mib in stretch.points), default=0.0)
            if highest > limit:
                faults.append(f"{stretch.job} took {highest:.0f} MiB, more than the chart's {limit:g}")
        # What is left of the time after the last kill, with room for a Lease that changes hands.
        long_enough = (
            minutes * 60 * (1 - self.options.killing_share) > 1.5 * self.options.shortest_stretch_seconds
        )
        unseen = [
            f"{job}: no stretch was long enough to tell"
            for job in ("leading", "service")
            if long_enough and not any(one.job.endswith(job) for one in flatness)
        ]
        return Check("memory is flat, and within the chart's limits", (*faults, *unseen))

    def settings(self) -> dict[str, str]:
        """Return what was asked for, in words."""
        options, rates = self.options, self.options.rates
        return {
            "SecretSyncs": f"{options.syncs:,} in {options.namespaces} namespaces",
            "interval": f"{options.refresh_seconds} s",
            "sources": f"{options.sources} of {options.keys} to {options.keys + 3} secrets",
            "changes of sources": f"{rates.changes:g} a second",
            "edits by hand": f"{rates.hands:g} a second",
            "edits of SecretSyncs": f"{rates.edits:g} a second",
            "asked for": f"{options.minutes:g} minutes",
            "disturbed": "from {:.0%} to {:.0%} of the time".format(*options.disturbed),
            "programs killed": f"until {options.killing_share:.0%} of the time",
            "seed": str(options.seed),
        }

    def figures(self, disturber: Disturber) -> dict[str, str]:
        """Return how it is going, in words."""
        now = self.sight.now()
        recent = [
            one.seconds for one in self.sight.arrivals.samples[-5000:] if one.at > now - _RECENT_SECONDS
        ]
        last = self.meters.calls[-1] if self.meters.calls else None
        memory = {one.job.partition(",")[0]: one.points[-1][1] for one in self.meters.stretches}
        told = {
            "now": disturber.present or "calm",
            "actions": f"{self.actors.actions.total():,}, disturbances {len(disturber.past)}",
            "waiting": f"{self.sight.arrivals.waiting():,} Secrets",
            "memory": ", ".join(f"{program} {mib:.0f} MiB" for program, mib in sorted(memory.items())),
        }
        if recent:
            told["freshness"] = f"p50 {percentile(recent, 50):.2f} s, p99 {percentile(recent, 99):.2f} s"
        if self.meters.calls:
            last = self.meters.calls[-1]
            service, api = last.answered + last.refused, last.writes + last.reads
            told["requests"] = f"service {service}, API server {api} in {last.seconds:.0f} s"
        if self.sight.wrong:
            told["wrong"] = f"{self.sight.wrong}: {self.sight.violations[-1]}"
        return told


@contextlib.asynccontextmanager
async def kept_up(work: Coroutine[object, object, None], name: str) -> AsyncIterator[None]:
    """The work goes on while the block runs; its error ends the block."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work, name=name)
        yield
        task.cancel()
