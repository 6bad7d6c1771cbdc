"""The workers: take a key, reconcile its object under a deadline, tell the queue how it went."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.concurrency import leading_tasks
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.resilience import WriteGate
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.work import Lane, WorkItem
from keybearer.kube.errors import LeaseLostError

__all__ = ["Reconciler", "RunResult", "WorkerPool"]

_log = get_logger(__name__)

RECONCILE_DEADLINE = timedelta(seconds=60)
_KEPT_SHARE = 8
"""One worker in eight is kept for urgent keys: the others may all stand in line for a write."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What the queue is told: back off, or come again after a while, or neither."""

    failed: bool = False
    requeue_after: timedelta | None = None


class Reconciler(Protocol):
    """Reconciles the objects of one kind."""

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once for a key.

        Raises:
            LeaseLostError: another replica leads.
        """
        ...


class WorkerPool:
    """A bounded number of workers on one queue, some of them kept for what is urgent."""

    def __init__(
        self,
        clock: Clock,
        queue: WorkQueue,
        reconcilers: Mapping[str, Reconciler],
        telemetry: Telemetry,
        gate: WriteGate,
        ready: Callable[[], Awaitable[None]],
        size: int,
    ) -> None:
        """Take what workers need.

        Args:
            clock: for durations.
            queue: what gives out keys.
            reconcilers: by kind.
            telemetry: told of each run.
            gate: told of each run whether it is urgent.
            ready: awaited before each key is taken: returns when there is somebody to talk to.
            size: how many runs at once.
        """
        self._clock = clock
        self._queue = queue
        self._reconcilers = reconcilers
        self._telemetry = telemetry
        self._gate = gate
        self._ready = ready
        self._size = size

    async def run(self) -> None:
        """Work until cancelled.

        Raises:
            LeaseLostError: another replica leads; the process must end.
        """
        async with leading_tasks() as group:
            for number in range(self._size):
                urgent_only = number < self._size // _KEPT_SHARE
                group.create_task(self._work(urgent_only=urgent_only), name=f"worker {number}")

    async def _work(self, *, urgent_only: bool) -> None:
        while True:
            await self._ready()
            item = await self._queue.take(urgent_only=urgent_only)
            result = RunResult(failed=True)
            try:
                with self._gate.run(urgent=item.lane is Lane.URGENT):
                    result = await self._run_one(item)
            finally:
                self._queue.done(item.key, failed=result.failed, requeue_after=result.requeue_after)

    async def _run_one(self, item: WorkItem) -> RunResult:
        started = self._clock.monotonic()
        self._telemetry.started(item, started)
        reconcile_id = secrets.token_hex(6)
        with self._telemetry.reconciling(item, reconcile_id):
            result = await self._run_bounded(item, reconcile_id)
        self._telemetry.ended(item.key.kind, self._clock.monotonic() - started, failed=result.failed)
        return result

    async def _run_bounded(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Return how the run ended; the log lines say themselves which it is.

        Raises:
            LeaseLostError: another replica leads.
        """
        try:
            async with asyncio.timeout(RECONCILE_DEADLINE.total_seconds()):
                return await self._reconcilers[item.key.kind].reconcile(item, reconcile_id)
        except LeaseLostError:
            raise
        except TimeoutError:
            _log.warning("reconcile_timed_out", seconds=RECONCILE_DEADLINE.total_seconds())
            self._telemetry.broke_off(item.key.kind, "TimedOut")
        except Exception as error:  # noqa: BLE001 - a fault in one object must not end the work on the others
            # Its text could quote what it was about.
            _log.error("reconcile_crashed", error=type(error).__name__)
            self._telemetry.broke_off(item.key.kind, "InternalError")
        return RunResult(failed=True)
