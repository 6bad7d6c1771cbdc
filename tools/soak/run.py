"""The course of a soak: start and first sync, changes and disturbances, quiet, checks, and a check of the checks."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections import Counter
from datetime import UTC, datetime

from tools.bench.errors import BenchError
from tools.bench.kube import MERGE_PATCH, in_parallel, secret_path
from tools.bench.machine import describe_machine
from tools.local.waiting import PATIENCE_SECONDS
from tools.soak.actors import Actors, stopped_within
from tools.soak.course import Course, kept_up
from tools.soak.disturbances import Disturber
from tools.soak.freshness import undisturbed
from tools.soak.house import open_house
from tools.soak.ledger import SourceLedger
from tools.soak.options import SoakOptions
from tools.soak.outlets import leak_in
from tools.soak.population import Population
from tools.soak.progress import Screen
from tools.soak.record import Record, buckets, waits
from tools.soak.sight import Sight
from tools.soak.verdict import Check
from tools.soak.watcher import Follower

__all__ = ["Soak"]

_LOOK_SECONDS = 1.0
_FIRST_SYNC_SECONDS_EACH = 0.1
_LEASE_LOST = "is not ours now"
"""What an operator says of its Lease as it ends because somebody else may hold it."""
_WRITES_OF_WORK = ("secrets", "secretsyncs", "secretsyncs/status")


class Soak:
    """One soak; used once.

    Args:
        options: how much, how long and how hard.
        screen: shows how far it is.
        stop: ends the changes early; checks and report follow all the same.
    """

    def __init__(self, options: SoakOptions, screen: Screen, stop: asyncio.Event) -> None:
        self._options = options
        self._screen = screen
        self._stop = stop
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._machine = describe_machine()
        self._ledgers = [SourceLedger(number, options.keys) for number in range(options.sources)]

    async def run(self) -> Record:
        """Run it and return what was found; nothing runs afterwards.

        Raises:
            BenchError: something that the soak itself needs didn't work.
            ControlPlaneError: likewise, of the cluster.
        """
        directory = self._options.directory / "run"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self._screen.phase("starting control plane, service and proxy")
        async with open_house(self._options, directory, self._rng("faults")) as house:
            population = Population(house.namespaces, self._ledgers, self._options.refresh_seconds)
            sight = Sight(population)
            actors = Actors(house.api, house.project, self._ledgers, population, sight)
            course = Course(self._options, house, population, sight, actors)
            async with kept_up(
                Follower(house.api, "/api/v1/secrets", sight.changed).run(), "watch of Secrets"
            ):
                first_sync = await self._first_sync(course)
                sight.begin()
                async with kept_up(house.keep_running(), "kubelet"), kept_up(course.meters.run(), "meters"):
                    disturber = Disturber(house, sight, self._rng("disturbances"), self._stop)
                    await self._storm(course, disturber)
                    minutes = sight.now() / 60
                    settled, checks = await self._settle(course)
                    checks.append(await self._rest(course))
            checks += await self._checks_of_the_run(course, disturber, minutes)
            checks.append(await self._check_the_checks(course))
            return self._record(course, disturber, checks, minutes, first_sync, settled)

    def _rng(self, what: str) -> random.Random:
        """Return a generator of its own, so that no part's choices depend on how fast another one is."""
        return random.Random(f"{self._options.seed} {what}")  # noqa: S311 - a run that can be repeated

    async def _first_sync(self, course: Course) -> float:
        """All members exist and are in sync; return how long that took the operators."""
        self._screen.phase(
            f"filling {len(self._ledgers)} sources, creating {self._options.syncs:,} SecretSyncs"
        )
        await course.actors.fill()
        members = [course.population.new() for _ in range(self._options.syncs)]
        await in_parallel(members, course.actors.create)
        self._screen.phase("first sync")
        began = time.monotonic()
        for operator in course.house.operators.values():
            await asyncio.to_thread(operator.start, wait=False)
        within = PATIENCE_SECONDS + _FIRST_SYNC_SECONDS_EACH * self._options.syncs
        checks = await course.until_right(within)
        if faults := [str(check) for check in checks if not check.holds]:
            msg = f"the first sync didn't end within {within:g} s: {'; '.join(faults)}"
            raise BenchError(msg)
        return time.monotonic() - began

    async def _storm(self, course: Course, disturber: Disturber) -> None:
        """Everything is changed and disturbed for as long as it was asked for, or until it is stopped."""
        seconds, rates, actors = self._options.seconds, self._options.rates, course.actors
        self._screen.phase("changes, edits and disturbances", seconds)
        stop = self._stop
        async with asyncio.TaskGroup() as group:
            for act, per_second, name in (
                (actors.change_source, rates.changes, "sources"),
                (actors.lay_hands_on, rates.hands, "hands"),
                (actors.edit_syncs, rates.edits, "SecretSyncs"),
            ):
                group.create_task(actors.keep_doing(act, per_second, self._rng(name), stop), name=name)
            group.create_task(disturber.run(), name="disturbances")
            while course.sight.now() < seconds and not await stopped_within(stop, _LOOK_SECONDS):
                self._screen.show(course.sight.now(), course.figures(disturber))
            stop.set()

    async def _settle(self, course: Course) -> tuple[float | None, list[Check]]:
        """Wait until all is right; return how long that took, None when it never was, and the checks."""
        self._screen.phase("waiting until all is right", self._options.settle_seconds)
        began = time.monotonic()
        checks = await course.until_right(self._options.settle_seconds)
        took = time.monotonic() - began
        return (took if all(check.holds for check in checks) else None), checks

    async def _rest(self, course: Course) -> Check:
        """Return whether it comes to rest: statuses may follow for a while, but then nothing is written."""
        self._screen.phase("waiting until nothing is written", self._options.settle_seconds)
        deadline = time.monotonic() + self._options.settle_seconds
        while True:
            before = await course.meters.fresh_writes()
            await asyncio.sleep(self._options.rest_seconds)
            written = await course.meters.fresh_writes() - before
            faults = tuple(f"{written[kind]} writes of {kind}" for kind in _WRITES_OF_WORK if written[kind])
            if not faults or time.monotonic() > deadline:
                return Check(f"it comes to rest: {self._options.rest_seconds:g} s without a write", faults)

    async def _checks_of_the_run(self, course: Course, disturber: Disturber, minutes: float) -> list[Check]:
        sight, house = course.sight, course.house
        uncalled = [f"{name}: {why}" for name, why in house.ended_alone if _LEASE_LOST not in why]
        leaks = await asyncio.to_thread(lambda: [one for log in house.log_files() if (one := leak_in(log))])
        hidden = sight.wrong - len(sight.violations)
        return [
            Check(
                "no Secret ever held what its source never held, nor went back to what it held before",
                (*sight.violations, *([f"{hidden} more"] if hidden else [])),
            ),
            Check("whoever was stopped came back or ended in good order", tuple(disturber.violations)),
            Check("no program ended by itself, but operators that lost their Lease", tuple(uncalled)),
            course.memory_check(minutes),
            Check("no value of a secret is in any log", tuple(leaks)),
        ]

    async def _check_the_checks(self, course: Course) -> Check:
        """Return whether the checks find a Secret that is wrong by one value, and one that is missing."""
        self._screen.phase("checking the checks: two faults are planted, which must be found")
        name = "two faults that were planted after all this are found, and nothing else"
        house = course.house
        await asyncio.to_thread(house.kill_operators)
        before = await course.judge()
        edited, deleted = self._rng("planted").sample(sorted(course.population.members), 2)
        body = {"data": {"KEY_0": "d3Jvbmc="}}
        await house.api.send("PATCH", secret_path(*edited), body, content_type=MERGE_PATCH)
        await house.api.send("DELETE", secret_path(*deleted))
        found = Counter(fault for check in await course.judge() for fault in check.faults)
        found -= Counter(fault for check in before for fault in check.faults)
        expected = {"/".join(edited), "/".join(deleted)}
        named = {fault.partition(" ")[0] for fault in found}
        wrong = [f"{one} was not found" for one in expected - named] + [
            f"{one} was found" for one in named - expected
        ]
        return Check(name, tuple(sorted(wrong)))

    def _record(
        self,
        course: Course,
        disturber: Disturber,
        checks: list[Check],
        minutes: float,
        first_sync: float,
        settled: float | None,
    ) -> Record:
        sight, meters = course.sight, course.meters
        arrived, repaired = sight.arrivals.samples, sight.repairs.samples
        return Record(
            started_at=self._started_at,
            minutes=minutes,
            machine=self._machine,
            settings=course.settings(),
            population=len(course.population),
            first_sync_seconds=first_sync,
            settled_seconds=settled,
            checks=checks,
            actions=dict(course.actors.actions),
            disturbances=disturber.past,
            restarted=dict(Counter(f"{name}: {why}" for name, why in course.house.ended_alone)),
            freshness=waits(arrived, undisturbed(arrived, disturber.past)),
            freshness_over_time=buckets(arrived),
            repairs=waits(repaired, undisturbed(repaired, disturber.past)),
            memory=course.flatness(),
            stretches=meters.stretches,
            calls=meters.calls,
            requests={str(route): count for route, count in meters.requests.items()},
            writes=dict(meters.writes),
            faults=course.house.proxy.faults,
        )
