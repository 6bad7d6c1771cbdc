from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import cast

import pytest
from prometheus_client import CollectorRegistry

from keybearer.base.backoff import Backoff
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.resilience import ConcurrencyLimit, WriteGate
from keybearer.controllers.telemetry import OperatorMetrics, Telemetry
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.controllers.workers import RunResult, WorkerPool
from keybearer.kube.errors import LeaseLostError
from keybearer.kube.event_recorder import EventRecorder
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time

Work = Callable[[WorkItem], Awaitable[RunResult]]


def key(name: str) -> WorkKey:
    return WorkKey("SecretSync", "team-a", name)


class Desk:
    """A pool whose reconciler does what a test says."""

    def __init__(self, work: Work, size: int = 2) -> None:
        self.work = work
        self.metrics = OperatorMetrics(CollectorRegistry())
        backoff = Backoff(timedelta(seconds=5), timedelta(minutes=5), jitter=0)
        self.queue = WorkQueue(LoopClock(), backoff, SteadyChance())
        telemetry = Telemetry(self.metrics, cast("EventRecorder", None))
        self.gate = WriteGate(LoopClock(), ConcurrencyLimit(maximum=size))
        self.ready = asyncio.Event()
        self.ready.set()
        self.pool = WorkerPool(
            LoopClock(), self.queue, {"SecretSync": self}, telemetry, self.gate, self._pass_by, size
        )
        self.running = asyncio.create_task(self.pool.run())

    async def _pass_by(self) -> None:
        await self.ready.wait()

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        assert len(reconcile_id) == 12
        return await self.work(item)

    async def stop(self) -> None:
        self.running.cancel()
        with suppress(asyncio.CancelledError):
            await self.running


@in_virtual_time
async def test_as_many_run_at_once_as_there_are_workers() -> None:
    running, most = 0, 0

    async def work(item: WorkItem) -> RunResult:
        nonlocal running, most
        del item
        running += 1
        most = max(most, running)
        await asyncio.sleep(1)
        running -= 1
        return RunResult()

    desk = Desk(work, size=3)
    for number in range(10):
        desk.queue.add(key(str(number)), Lane.URGENT)
    await asyncio.sleep(3.5)

    assert (most, len(desk.queue), desk.queue.running) == (3, 0, 1)
    await desk.stop()


@in_virtual_time
async def test_nothing_is_taken_while_there_is_nobody_to_talk_to() -> None:
    done: list[str] = []

    async def work(item: WorkItem) -> RunResult:
        done.append(item.key.name)
        return RunResult()

    desk = Desk(work)
    desk.ready.clear()
    desk.queue.add(key("db"), Lane.URGENT)
    await asyncio.sleep(60)
    assert (done, len(desk.queue)) == ([], 1)
    desk.ready.set()
    await asyncio.sleep(1)

    assert done == ["db"]
    await desk.stop()


@in_virtual_time
async def test_one_worker_in_eight_waits_for_what_is_urgent() -> None:
    stuck = asyncio.Event()
    running: list[str] = []

    async def work(item: WorkItem) -> RunResult:
        running.append(item.key.name)
        await stuck.wait()
        return RunResult()

    desk = Desk(work, size=8)
    for number in range(10):
        desk.queue.add(key(str(number)), Lane.FIRST)
    await asyncio.sleep(1)
    desk.queue.add(key("edited"), Lane.URGENT)
    await asyncio.sleep(1)

    assert running == [*map(str, range(7)), "edited"]
    await desk.stop()


@in_virtual_time
async def test_what_a_run_asks_for_is_what_the_queue_does() -> None:
    results = iter([RunResult(failed=True), RunResult(requeue_after=timedelta(seconds=60)), RunResult()])
    starts: list[float] = []

    async def work(item: WorkItem) -> RunResult:
        starts.append(round(item.since - 1000))
        return next(results)

    desk = Desk(work)
    desk.queue.add(key("db"), Lane.URGENT)
    await asyncio.sleep(3600)

    assert starts == [0, 5, 65]
    await desk.stop()


@in_virtual_time
async def test_a_run_that_takes_too_long_is_cut_off_and_backs_off() -> None:
    cut: list[float] = []

    async def work(item: WorkItem) -> RunResult:
        del item
        try:
            await asyncio.sleep(3600)
        finally:
            cut.append(asyncio.get_running_loop().time() - 1000)
        return RunResult()

    desk = Desk(work)
    desk.queue.add(key("db"), Lane.URGENT)
    await asyncio.sleep(61)

    assert cut == [60]
    assert desk.queue.failures(key("db")) == 1
    await desk.stop()


@in_virtual_time
async def test_a_fault_in_one_run_ends_neither_the_worker_nor_shows_what_it_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done: list[str] = []

    async def work(item: WorkItem) -> RunResult:
        if item.key.name == "bad":
            raise RuntimeError("cnry-in-the-text")
        done.append(item.key.name)
        return RunResult()

    desk = Desk(work, size=1)
    for name in ("bad", "good"):
        desk.queue.add(key(name), Lane.URGENT)
    await asyncio.sleep(1)

    assert done == ["good"]
    assert desk.queue.failures(key("bad")) == 1
    log = capsys.readouterr().out
    assert "RuntimeError" in log
    assert "cnry" not in log
    failed = {"kind": "SecretSync", "result": "failed"}
    assert desk.metrics.registry.get_sample_value("keybearer_reconcile_duration_seconds_count", failed) == 1
    await desk.stop()


@in_virtual_time
async def test_a_lost_lease_ends_the_pool_with_that_very_error() -> None:
    others_ended: list[bool] = []

    async def work(item: WorkItem) -> RunResult:
        if item.key.name == "writes":
            await asyncio.sleep(1)
            raise LeaseLostError("another replica leads")
        try:
            await asyncio.sleep(30)
        finally:
            others_ended.append(True)
        return RunResult()

    desk = Desk(work)
    for name in ("reads", "writes"):
        desk.queue.add(key(name), Lane.URGENT)

    with pytest.raises(LeaseLostError, match="another replica leads"):
        await desk.running
    assert others_ended == [True]
    assert desk.queue.running == 0


@in_virtual_time
async def test_two_lost_leases_are_one() -> None:
    async def work(item: WorkItem) -> RunResult:
        raise LeaseLostError(f"{item.key.name} could not write")

    desk = Desk(work)
    for name in ("one", "two"):
        desk.queue.add(key(name), Lane.URGENT)

    with pytest.raises(LeaseLostError):
        await desk.running


@in_virtual_time
async def test_a_drained_queue_ends_the_workers_when_what_runs_has_ended() -> None:
    ended: list[str] = []

    async def work(item: WorkItem) -> RunResult:
        await asyncio.sleep(10)
        ended.append(item.key.name)
        return RunResult()

    desk = Desk(work)
    desk.queue.add(key("db"), Lane.URGENT)
    await asyncio.sleep(1)
    await desk.queue.drain()
    await desk.running

    assert ended == ["db"]
