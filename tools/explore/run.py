"""One run of a scenario, and what is found wrong with it."""

from __future__ import annotations

import asyncio
import functools
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tools.bench.errors import BenchError, causes
from tools.explore.known import all_known
from tools.explore.lane import Lane, Place, Surroundings
from tools.explore.mirror import Mirror
from tools.explore.moments import Naming
from tools.explore.plans import Plan
from tools.explore.post import Post
from tools.explore.scenarios import Scenario
from tools.explore.scene import PATIENCE_SECONDS, Scene
from tools.explore.state import State, difference, lasting, state_of
from tools.explore.trail import Trail
from tools.local.parameter_store import ParameterStoreServer

__all__ = ["Baseline", "Outcome", "Runs", "Verdict", "reached_too_few"]

_POLL_SECONDS = 0.2
_QUIET_SECONDS = 0.7
_CLEAN_SECONDS = 120.0
_CLEANED = (("SecretSync", "CertificateProfile"), ("AppConnection",), ("Secret", "ConfigMap"))
"""What a run leaves, in the order in which it goes: pushes need their connection to the end."""
_FACTOR, _SPARE = 4, 20
"""A disturbed run may write so many times as much as an undisturbed one, and so much more."""


class Verdict(StrEnum):
    """What a run came to."""

    PASSED = "passed"
    VIOLATED = "violated"
    KNOWN = "known"
    NOT_REACHED = "not reached"


_NOT_REACHED_MAX = 0.02
"""Of all plans: now and then a moment that each undisturbed run had does not come in four attempts."""
_PAIRS_NOT_REACHED_MAX = 0.1
"""Of pairs: what the first disturbance changes may leave out the moment of the second."""


def reached_too_few(*, missed: int, of: int, are_pairs: bool) -> bool:
    """Tell whether so many plans were not reached that the rest shows nothing, as when moments have other names."""
    return missed > (_PAIRS_NOT_REACHED_MAX if are_pairs else _NOT_REACHED_MAX) * of


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was seen in a run.

    Attributes:
        findings: what was wrong.
        moments: in their order.
        state: at the end.
        seen: what Secrets held, one word for each content that was seen.
        writes: to the API server.
        calls: of the service, reading or not.
    """

    verdict: Verdict
    findings: tuple[str, ...]
    seconds: float
    moments: tuple[str, ...]
    state: State
    seen: frozenset[str]
    writes: int
    calls: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """What undisturbed runs of a scenario have in common.

    Attributes:
        state: at the end.
        masked: places whose text differs from run to run.
        seen: contents of Secrets that were seen in any of them.
        moments: that all of them had, in their order.
        writes: the most of one run.
        calls: likewise.
    """

    state: State
    masked: frozenset[str]
    seen: frozenset[str]
    moments: tuple[str, ...]
    writes: int
    calls: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], most_moments: int | None = None) -> Baseline:
        """Return what these runs have in common; of moments no more than so many."""
        first = outcomes[0]
        places = {where for one in outcomes for where in one.state}
        masked = (where for where in places if len({one.state.get(where) for one in outcomes}) > 1)
        shared = set(first.moments).intersection(*(one.moments for one in outcomes))
        return cls(
            first.state,
            frozenset(masked),
            frozenset(one for outcome in outcomes for one in outcome.seen),
            tuple(one for one in first.moments if one in shared)[:most_moments],
            max(one.writes for one in outcomes),
            max(one.calls for one in outcomes),
        )


@dataclass(slots=True)
class Runs:
    """Makes runs in lanes.

    Attributes:
        around: what they share.
        mirror: of the cluster.
        store: what is pushed to.
        calm: the lane whose operator nobody kills; many runs at once.
        mortal: lanes whose operator is killed; one run each.
    """

    around: Surroundings
    mirror: Mirror
    store: ParameterStoreServer
    calm: Lane
    mortal: asyncio.Queue[Lane]
    _serials: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def run(self, scenario: Scenario, plan: Plan, baseline: Baseline | None) -> Outcome:
        """Make one run; without a baseline, an undisturbed one that nothing is compared with."""
        if not plan.kills:
            return await self._in_lane(self.calm, scenario, plan, baseline)
        lane = await self.mortal.get()
        try:
            return await self._in_lane(lane, scenario, plan, baseline)
        finally:
            self.mortal.put_nowait(lane)

    async def _in_lane(
        self, lane: Lane, scenario: Scenario, plan: Plan, baseline: Baseline | None
    ) -> Outcome:
        place = await lane.free.get()
        try:
            return await self._in_place(lane, place, scenario, plan, baseline)
        finally:
            lane.free.put_nowait(place)

    async def _in_place(
        self, lane: Lane, place: Place, scenario: Scenario, plan: Plan, baseline: Baseline | None
    ) -> Outcome:
        naming = Naming(next(self._serials), place.namespace)
        post, trail = Post(naming, plan.disturbances), Trail(naming, scenario.keeps)
        around = self.around
        scene = Scene(place, naming, post, self.mirror, around.api, around.admin, self.store)
        began, ended_alone, mark = time.monotonic(), len(lane.ended_alone), lane.mark()
        self.mirror.listeners[place.namespace] = trail.see
        lane.attach(place, post)
        state: State | None = None
        findings: list[str] = []
        try:
            state = await self._acted(scene, scenario, baseline)
        except BenchError as error:
            findings += (f"stuck: {cause}" for cause in causes(error))
        seconds = time.monotonic() - began
        post.is_armed = trail.is_armed = False
        findings += trail.findings
        if not any(one.act.withholds for one in plan.disturbances):
            forgotten = filter(naming.is_ours, lane.found_by_list(mark, place.namespace))
            findings += (f"{naming.plain(one)} was forgotten until a list showed it" for one in forgotten)
        most = scenario.most_writes * (1 + sum(one.act.kills for one in plan.disturbances))
        if post.writes > most:
            findings.append(f"{post.writes} writes, where {most} are the most")
        if baseline is not None:
            findings += _judged(post, trail, state, baseline, is_like=bool(scenario.like))
        try:
            await self._clear(scene, scenario)
        except BenchError as error:
            findings += (f"what is left doesn't go: {cause}" for cause in causes(error))
        findings += (f"the operator ended by itself: {one}" for one in lane.ended_alone[ended_alone:])
        lane.detach(place)
        del self.mirror.listeners[place.namespace]
        return Outcome(
            _verdict(plan, post, findings),
            tuple(findings),
            seconds,
            tuple(post.moments),
            state or {},
            frozenset(trail.seen),
            post.writes,
            post.calls,
        )

    async def _acted(self, scene: Scene, scenario: Scenario, baseline: Baseline | None) -> State:
        """Act, and return the state when it is as it was undisturbed and nothing is written, or after a while.

        Raises:
            BenchError: the scenario doesn't come to its end.
        """
        await scene.open()
        await scenario.prepare(scene)
        await scene.until_quiet()
        scene.post.is_armed = True
        await scenario.act(scene)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            state = state_of(self.mirror.objects(scene.namespace), scene.naming)
            if scenario.asks_service:
                state |= await scene.service_state()
            if scenario.like:
                state = lasting(state)
            wanted = None if baseline is None else baseline.state
            if wanted is not None and scenario.like:
                wanted = lasting(wanted)
            is_right = baseline is None or not difference(state, wanted or {}, baseline.masked)
            is_right = is_right and scene.post.quiet_seconds() > _QUIET_SECONDS
            if is_right or time.monotonic() > deadline:
                return state
            await asyncio.sleep(_POLL_SECONDS)

    async def _clear(self, scene: Scene, scenario: Scenario) -> None:
        """Nothing of the run is left in its namespace, which is there.

        Raises:
            BenchError: something stays.
        """
        namespace = scene.namespace
        if scenario.ends_namespace:
            await self._renew(scene)
        else:
            for kinds in _CLEANED:
                for kind, name in self._left(scene, kinds):
                    await scene.delete_named(kind, name)
                await self.mirror.until(
                    namespace,
                    functools.partial(self._is_clean, scene, kinds),
                    "an empty namespace",
                    _CLEAN_SECONDS,
                )
        await scene.close()

    def _is_clean(self, scene: Scene, kinds: Sequence[str]) -> bool:
        return not self._left(scene, kinds)

    def _left(self, scene: Scene, kinds: Sequence[str]) -> list[tuple[str, str]]:
        found = self.mirror.objects(scene.namespace)
        return [(kind, name) for kind, name, _ in found if kind in kinds and scene.naming.is_ours(name)]

    async def _renew(self, scene: Scene) -> None:
        """The namespace was deleted, and is there again."""
        namespace = scene.namespace
        if self.mirror.find("Namespace", namespace, namespace) is not None:
            await self.around.api.send("DELETE", f"/api/v1/namespaces/{namespace}")
        await self.mirror.until(
            namespace,
            lambda: self.mirror.find("Namespace", namespace, namespace) is None,
            "an end of the namespace",
            _CLEAN_SECONDS,
        )
        await scene.place.furnish(self.around.api)


def _verdict(plan: Plan, post: Post, findings: Sequence[str]) -> Verdict:
    if findings:
        return Verdict.KNOWN if all_known(str(plan), findings) else Verdict.VIOLATED
    return Verdict.NOT_REACHED if post.unreached else Verdict.PASSED


def _judged(post: Post, trail: Trail, state: State | None, baseline: Baseline, *, is_like: bool) -> list[str]:
    """Return what differs from undisturbed runs; where it is only like them, nothing but the end state."""
    if is_like:
        return [] if state is None else difference(state, lasting(baseline.state), baseline.masked)
    unknown = sorted(trail.seen - baseline.seen)
    found = [f"a Secret held what it never holds undisturbed: {one}" for one in unknown]
    if state is not None:
        found += difference(state, baseline.state, baseline.masked)
    for what, there, most in (
        ("writes", post.writes, baseline.writes),
        ("calls of the service", post.calls, baseline.calls),
    ):
        if there > _FACTOR * most + _SPARE:
            found.append(f"{there} {what}, where an undisturbed run has {most}")
    return found
