"""Runs the jobs of secret syncs as soon as they are due, as many at once as allowed, until it is stopped.

It doesn't poll: commits of this and other processes wake it, and so does the time when a waiting job is due. Where
other processes share the database, it also checks their leases from time to time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from typing import TypeVar

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.domain.syncs.jobs import JobTerms, SyncQueue
from keybearer.domain.syncs.look_times import LookTimes
from keybearer.domain.syncs.looking import Look
from keybearer.domain.syncs.outcomes import LostJobError, failure_of
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.run import Begun, Run
from keybearer.domain.syncs.tallies import PushTallies, Unpushed, Waiting
from keybearer.domain.syncs.triggers import SyncTriggers
from keybearer.store.database import Database
from keybearer.store.failures import BusyError, TooSlowError, UnavailableError
from keybearer.store.revisions import Changes
from keybearer.store.secret_syncs import JobKind

__all__ = ["SyncEngine"]

_DRAIN = timedelta(seconds=15)
"""How long runs may continue when the service ends. Then they are cancelled, and continue after the next start."""
_AGAIN = timedelta(seconds=2)
"""Pause after the database was unavailable, or if a due job couldn't be claimed."""
_SOON = timedelta(milliseconds=100)
_T = TypeVar("_T")
_log = get_logger(__name__)


class SyncEngine:
    """The jobs of this process. They run while `run` does, which ends by `stop` or when it is cancelled."""

    def __init__(
        self, database: Database, pushing: Pushing, triggers: SyncTriggers, clock: Clock, terms: JobTerms
    ) -> None:
        self._database = database
        self._pushing = pushing
        self._triggers = triggers
        self._clock = clock
        self._terms = terms
        self._queue = SyncQueue(database, clock, terms)
        self._looks = LookTimes(database, clock, terms.look_interval)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._woken = asyncio.Event()
        self._is_stopping = False
        self._has_taken_up = False
        database.bus.subscribe(self._hear, self._woken.set)

    async def run(self) -> None:
        """Run what is due until `stop` is called, then wait for running jobs for a limited time."""
        async with asyncio.TaskGroup() as group:
            beside = [
                group.create_task(self._triggers.run(), name="follow-secret-syncs"),
                group.create_task(self._keep_leases(), name="keep-secret-sync-leases"),
                group.create_task(self._looks.run(), name="queue-looks-at-destinations"),
            ]
            try:
                while not self._is_stopping:
                    self._woken.clear()
                    await self._wait(await self._begin_or_wait(group))
                await self._drain()
            finally:
                for task in (*beside, *self._running.values()):
                    task.cancel()

    @property
    def running(self) -> int:
        """How many jobs this process runs."""
        return len(self._running)

    @property
    def tallies(self) -> PushTallies:
        """The counts of this process, by destination."""
        return self._pushing.tallies

    async def waiting(self) -> Waiting:
        """Return what waits for any process, and since when it waits.

        Raises:
            BusyError, UnavailableError: the database can't be asked.
        """
        async with self._database.reading() as unit:
            jobs = await unit.sync_jobs.count_waiting()
            backlogs = await unit.sync_backlog.by_destination()
        now = self._clock.now()
        return Waiting(
            jobs,
            tuple(
                # The clock of the process that wrote it may be ahead.
                Unpushed(one.destination, one.syncs, one.keys, max(now - (one.oldest or now), timedelta(0)))
                for one in backlogs
            ),
        )

    def stop(self) -> None:
        """Begin no more jobs."""
        self._is_stopping = True
        self._woken.set()

    def _hear(self, changes: Changes) -> None:
        if changes.jobs:
            self._woken.set()

    async def _begin_or_wait(self, group: asyncio.TaskGroup) -> timedelta | None:
        try:
            return await self._begin(group)
        except Exception as error:  # noqa: BLE001 - jobs must not wait for ever, whatever the error
            _log.warning("secret_sync_jobs_not_begun", kind=type(error).__name__)
            return _AGAIN

    async def _begin(self, group: asyncio.TaskGroup) -> timedelta | None:
        """Begin due jobs that have room; return how long to wait for more, None to wait until a commit wakes us."""
        free = self._terms.workers - len(self._running)
        if free <= 0:
            return None
        if not self._has_taken_up:
            await self._queue.take_up(is_starting=True)
            self._has_taken_up = True
        # Read before the claim, so that a job that becomes due meanwhile is either claimed or waited for.
        due = await self._queue.due()
        begun = await self._queue.claim(free) if due.is_any else []
        for one in begun:
            name = f"secret-sync-{one.job.kind}"
            self._running[one.job.id] = group.create_task(self._perform(one), name=name)
        if self._database.sole_process:
            return due.next
        # A process that was killed can't announce it.
        if due.leases.ended - self._running.keys():
            await self._queue.take_up(is_starting=False, alive=self._running)
        waits = [self._terms.lease]
        if due.next is not None:
            waits.append(due.next)
        if due.leases.next_end is not None:
            waits.append(max(due.leases.next_end, _SOON))
        if due.is_any and len(begun) < free and (await self._queue.due()).is_any:
            # Its connection or project runs as many jobs as it may: we are woken when one of them ends. Or its sync
            # was locked by a change: nothing wakes us then.
            waits.append(_AGAIN)
        return min(waits)

    async def _perform(self, begun: Begun) -> None:
        """Run one job to its end, whatever that is."""
        job = begun.job
        confidential: list[str] = []
        try:
            try:
                is_look = job.kind == JobKind.LOOK
                run = Look(self._pushing, begun) if is_look else Run(self._pushing, begun)
                confidential = run.confidential
                done = await run.perform()
            except LostJobError:
                _log.warning("secret_sync_job_lost", sync_id=job.sync_id, kind=job.kind)
                return
            except Exception as error:  # noqa: BLE001 - the sync must show the error, and no job stay running
                await self._fail(begun, confidential, error)
                return
            await self._steadily(lambda: self._queue.end(begun, done))
            log = _log.info if job.kind != JobKind.LOOK or done.differs else _log.debug
            log(
                "secret_sync_ended",
                sync_id=job.sync_id,
                kind=job.kind,
                attempt=job.attempt,
                refused=done.has_refused,
                **done.counts,
            )
        except asyncio.CancelledError:
            await self._put_back(begun)
            raise
        except Exception as error:  # noqa: BLE001 - its end couldn't be noted: the next attempt repeats it
            _log.error("secret_sync_end_not_noted", sync_id=job.sync_id, kind=type(error).__name__)
            try:
                await self._queue.fail(begun, failure_of(error, confidential))
            except Exception as another:  # noqa: BLE001 - as above: it is taken up when the lease ends
                _log.error("secret_sync_failure_not_noted", sync_id=job.sync_id, kind=type(another).__name__)
        finally:
            self._running.pop(job.id, None)
            self._woken.set()

    async def _put_back(self, begun: Begun) -> None:
        """Release the job, so that the next process continues it at once instead of when the lease ends."""
        try:
            await asyncio.shield(self._queue.put_back(begun))
        except Exception as error:  # noqa: BLE001 - then it waits for the lease to end
            _log.warning("secret_sync_not_put_back", sync_id=begun.job.sync_id, kind=type(error).__name__)

    async def _fail(self, begun: Begun, confidential: Collection[str], error: Exception) -> None:
        job = begun.job
        failure = failure_of(error, confidential)
        if not failure.is_foreseen:
            _log.error("secret_sync_broke", sync_id=job.sync_id, job=job.kind, kind=type(error).__name__)
        is_retried = await self._steadily(lambda: self._queue.fail(begun, failure))
        _log.warning(
            "secret_sync_failed",
            sync_id=job.sync_id,
            kind=job.kind,
            attempt=job.attempt,
            error=type(error).__name__,
            retried=is_retried,
        )

    async def _steadily(self, operation: Callable[[], Awaitable[_T]]) -> _T:
        """Return what the operation returns; while the database is busy or unavailable, repeat it."""
        while True:
            try:
                return await operation()
            except (BusyError, TooSlowError, UnavailableError) as error:
                _log.warning("secret_syncs_wait_for_the_database", kind=type(error).__name__)
                await asyncio.sleep(_AGAIN.total_seconds())

    async def _keep_leases(self) -> None:
        """Renew the leases of running jobs in time, and cancel jobs that another process took over."""
        while True:
            await asyncio.sleep(self._terms.lease.total_seconds() / 3)
            if not self._running or self._database.sole_process:
                continue
            before = set(self._running)
            try:
                kept = await self._queue.prolong()
            except Exception as error:  # noqa: BLE001 - there are two more turns before the lease ends
                _log.warning("secret_sync_leases_not_kept", kind=type(error).__name__)
                continue
            for job_id in before - kept:
                task = self._running.get(job_id)
                if task is not None:
                    task.cancel()

    async def _drain(self) -> None:
        if self._running:
            await asyncio.wait(self._running.values(), timeout=_DRAIN.total_seconds())

    async def _wait(self, limit: timedelta | None) -> None:
        try:
            async with asyncio.timeout(None if limit is None else max(limit.total_seconds(), 0.001)):
                await self._woken.wait()
        except TimeoutError:
            return
