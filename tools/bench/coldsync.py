"""An operator that starts on a cluster full of new SecretSyncs: what every row begins with."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

from tools.bench.api_counters import ApiCounts
from tools.bench.errors import NotInTimeError
from tools.bench.observer import Observer, observing
from tools.bench.operator_process import RunningOperator, running_operator
from tools.bench.population import populate
from tools.bench.process_meter import ProcessMeter
from tools.bench.proxy import EVENT_ROUTE, Route
from tools.bench.stage import Stage
from tools.bench.workload import Workload

__all__ = [
    "ColdSync",
    "Running",
    "Window",
    "came_to_rest",
    "settle",
    "synced",
    "with_operator",
    "without_subscriptions",
]

_QUIET_SECONDS = 3.0
_QUIET_SHARE_OF_A_CORE = 0.05


@dataclass(frozen=True, slots=True)
class ColdSync:
    """Seconds from the creation of the operator's process.

    Attributes:
        seconds: until the last Secret was right and the last SecretSync Ready.
        ready_seconds: until `/readyz` answered 200.
        first_seconds: until the first Secret was right.
        cpu_seconds: of the operator, at that time, start-up included.
        api_server_cpu_seconds: of the API server, meanwhile.
        harness_cpu_seconds: of this process, watching and proxying, meanwhile.
    """

    seconds: float
    ready_seconds: float
    first_seconds: float
    cpu_seconds: float
    api_server_cpu_seconds: float
    harness_cpu_seconds: float


class Window:
    """Counts what the operator asks of the service and of the API server from now on."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._requests = stage.proxy.counts()
        self._position = stage.cluster.audit.position()

    def requests(self) -> Counter[Route]:
        """Return requests to the service."""
        return self._stage.proxy.since(self._requests)

    def api(self) -> ApiCounts:
        """Return requests to the API server."""
        return self._stage.cluster.audit.since(self._position)


@dataclass(slots=True)
class Running:
    """An operator at work on a workload, watched.

    Attributes:
        window: opened just before the operator's process was created.
    """

    stage: Stage
    workload: Workload
    operator: RunningOperator
    observer: Observer
    window: Window

    async def cold_sync(self) -> ColdSync:
        """Return what it took until everything was in sync.

        Raises:
            NotInTimeError: names what misses; its note holds the end of the operator's log.
        """
        api_server = ProcessMeter(self.stage.cluster.plane.api_server_pid)
        api_server_before = api_server.cpu_seconds()
        started, harness_before = self.operator.started_at, time.process_time()
        try:
            async with asyncio.TaskGroup() as group:
                ready = group.create_task(self.operator.ready_seconds(), name="readiness of the operator")
                finished = await self.observer.until_complete(self.stage.options.deadline_seconds)
                cpu = self.operator.meter.cpu_seconds()
                api_server_cpu = api_server.cpu_seconds() - api_server_before
                harness_cpu = time.process_time() - harness_before
        except* NotInTimeError as errors:
            errors.add_note(f"the operator's log ends with:\n{self.operator.log_tail()}")
            raise
        return ColdSync(
            seconds=finished - started,
            ready_seconds=ready.result(),
            first_seconds=min(self.observer.secret_at.values()) - started,
            cpu_seconds=cpu,
            api_server_cpu_seconds=api_server_cpu,
            harness_cpu_seconds=harness_cpu,
        )


@contextlib.asynccontextmanager
async def with_operator(
    stage: Stage, workload: Workload, interpreter: tuple[str, ...] = ()
) -> AsyncIterator[Running]:
    """Run an operator on objects that exist already; nothing is awaited."""
    window = Window(stage)
    async with (
        observing(stage.cluster.api, workload) as observer,
        running_operator(stage.operator_flags(interpreter), stage.next_log()) as operator,
    ):
        yield Running(stage, workload, operator, observer, window)


@contextlib.asynccontextmanager
async def synced(stage: Stage, workload: Workload) -> AsyncIterator[tuple[Running, ColdSync]]:
    """Create the objects, then start an operator; the block runs when everything is in sync."""
    await populate(stage.cluster.api, workload, stage.identity)
    async with with_operator(stage, workload) as running:
        yield running, await running.cold_sync()


async def settle(running: Running, within_seconds: float = 60.0) -> bool:
    """Return whether the operator came to rest in time."""
    return await came_to_rest(running.stage, running.operator, within_seconds)


async def came_to_rest(stage: Stage, operator: RunningOperator, within_seconds: float = 60.0) -> bool:
    """Return whether an operator came to rest in time: 3 s without a write, on under 5 % of a core."""
    deadline = time.monotonic() + within_seconds
    while time.monotonic() < deadline:
        window, cpu = Window(stage), operator.meter.cpu_seconds()
        await asyncio.sleep(_QUIET_SECONDS)
        spent = operator.meter.cpu_seconds() - cpu
        if not window.api().writes_total and spent < _QUIET_SECONDS * _QUIET_SHARE_OF_A_CORE:
            return True
    return False


def without_subscriptions(requests: Counter[Route]) -> int:
    """Return the number of requests that are not subscriptions to events, which stay open."""
    return sum(count for route, count in requests.items() if route.path != EVENT_ROUTE)
