"""Begins and ends jobs; the status of a sync and its job change in one transaction (wire.md section 3.3)."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.base.ids import new_uuid
from keybearer.base.logs import get_logger
from keybearer.base.runs import in_chunks
from keybearer.domain.audit import EventType
from keybearer.domain.syncs.auditing import sync_event
from keybearer.domain.syncs.looking import end_look, give_up_look
from keybearer.domain.syncs.outcomes import Failure
from keybearer.domain.syncs.pushing import Pace
from keybearer.domain.syncs.queueing import DELETES_SYNC, queue_look
from keybearer.domain.syncs.run import Begun, Done
from keybearer.domain.syncs.source import actor_of
from keybearer.store.audit import AuditDetail
from keybearer.store.database import Database
from keybearer.store.secret_syncs import JobKind, JobStatus, SecretSync, settled
from keybearer.store.sync_backlog import pushed
from keybearer.store.sync_claims import Leases
from keybearer.store.sync_jobs import AfterRun
from keybearer.store.sync_turns import Turns
from keybearer.store.unit import UnitOfWork

__all__ = ["Due", "JobTerms", "SyncQueue"]

_EVENTS = {
    JobKind.SYNC: EventType.SYNC_SECRETS,
    JobKind.IMPORT: EventType.IMPORT_SECRETS,
    JobKind.REMOVE: EventType.REMOVE_SECRETS,
    # Only where it removed what a sync had left at a former place.
    JobKind.LOOK: EventType.REMOVE_SECRETS,
}
_NONE = timedelta(0)
_NO_LEASES = Leases(frozenset(), None)
_USUAL = Pace()
_PARKED_MAX = timedelta(hours=24)
_BESIDE = timedelta(seconds=1)
"""Between two groups of jobs that waited for the same connection."""
_RNG = random.Random()  # noqa: S311 - jitter, not cryptography
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class JobTerms:
    """How jobs are run (wire.md section 3.3).

    Attributes:
        workers: jobs that this process runs at once; see `Turns` for how many of one project or organization.
        per_connection: jobs that all processes together run at once for one connection.
        attempts: of a push before its status is `failed`; more follow. Imports and removals have one attempt.
        backoff: between attempts.
        lease: time after which another process takes over a job whose lease was not renewed.
        start_delay: how long a change waits for further changes, so that one run pushes them all.
        look_interval: time after which the service checks a destination for changes by others.
    """

    workers: int = 10
    per_connection: int = 5
    attempts: int = 5
    backoff: Backoff = _USUAL.backoff
    lease: timedelta = timedelta(seconds=60)
    start_delay: timedelta = timedelta(seconds=1)
    look_interval: timedelta = _USUAL.look_interval

    @property
    def pace(self) -> Pace:
        """The intervals that runs need."""
        return Pace(self.look_interval, self.backoff)


@dataclass(frozen=True, slots=True)
class Due:
    """What waits in the queue, as one snapshot shows it.

    Attributes:
        is_any: whether a job is due.
        next: how long until the first job is due that isn't yet; None if there is none.
        leases: of running jobs; one that has ended may be of this process, whose job still runs.
    """

    is_any: bool
    next: timedelta | None
    leases: Leases


class SyncQueue:
    """Claims, ends and releases jobs for this process; all processes share the queue."""

    def __init__(self, database: Database, clock: Clock, terms: JobTerms) -> None:
        self._database = database
        self._clock = clock
        self._terms = terms
        self._turns = Turns(terms.workers)
        self._process_id = new_uuid()

    async def take_up(self, *, is_starting: bool, alive: Collection[str] = ()) -> int:
        """Queue jobs again whose process is gone, and return how many there were.

        On SQLite this happens only at the start: then all running jobs are orphans, because this process alone has
        the data directory. Jobs in `alive` run in this process, even if their lease could not be renewed in time.
        """
        is_alone = self._database.sole_process
        if is_alone and not is_starting:
            return 0
        now = self._clock.now()
        async with self._database.reading() as unit:
            orphaned = await (unit.sync_claims.running() if is_alone else unit.sync_claims.orphaned())
        orphans = [job for job in orphaned if job.id not in alive]
        for job in orphans:
            async with self._database.writing() as unit:
                # The job didn't fail, its process was killed: the attempt doesn't count.
                await unit.sync_jobs.release(job, now, attempt=max(0, job.attempt - 1))
            _log.info("secret_sync_job_taken_up", sync_id=job.sync_id, kind=job.kind)
        return len(orphans)

    async def due(self) -> Due:
        """Return what is due, and when more will be."""
        now = self._clock.now()
        async with self._database.reading() as unit:
            is_any_due, due_at = await unit.sync_jobs.due(now)
            leases = (
                _NO_LEASES if self._database.sole_process else await unit.sync_claims.leases(self._process_id)
            )
        return Due(
            is_any_due,
            None if due_at is None else max(due_at - self._clock.now(), _NONE),
            leases,
        )

    async def claim(self, limit: int) -> list[Begun]:
        """Begin jobs that are due."""
        return await self._database.write(partial(self._claim, limit))

    async def _claim(self, limit: int, unit: UnitOfWork) -> list[Begun]:
        jobs = await unit.sync_claims.claim(
            self._process_id,
            now=self._clock.now(),
            lease=self._terms.lease,
            limit=limit,
            per_connection=self._terms.per_connection,
            turns=self._turns,
        )
        if not jobs:
            return []
        syncs = {
            sync.record.id: sync for sync in await unit.secret_syncs.by_ids([job.sync_id for job in jobs])
        }
        begun = [Begun(job, syncs[job.sync_id]) for job in jobs if job.sync_id in syncs]
        for kind in (JobKind.SYNC, JobKind.IMPORT, JobKind.REMOVE):
            if some := {one.job.sync_id: one.job.id for one in begun if one.job.kind == kind}:
                await unit.secret_syncs.begin(some, kind)
        return begun

    async def prolong(self) -> set[str]:
        """Renew the leases of this process, and return the ids of its jobs."""
        return await self._database.write(
            lambda unit: unit.sync_claims.prolong(self._process_id, self._terms.lease)
        )

    async def put_back(self, begun: Begun) -> None:
        """Queue a cancelled job again, for any process; the attempt doesn't count."""
        job = begun.job
        await self._database.write(
            lambda unit: unit.sync_jobs.release(job, self._clock.now(), attempt=job.attempt - 1)
        )

    async def end(self, begun: Begun, done: Done) -> None:
        """Note that a run ended without an error."""
        has_retries = await self._database.write(lambda unit: self._end(unit, begun, done))
        shows_life = begun.job.kind == JobKind.SYNC or (
            begun.job.kind == JobKind.LOOK and done.listed_at is not None
        )
        if has_retries and shows_life:
            await self._hasten(begun.sync.record.connection_id)

    async def _hasten(self, connection_id: str) -> None:
        """Retry now what waits for another attempt over a connection: its remote works again."""
        now = self._clock.now()

        async def hastened(unit: UnitOfWork) -> None:
            found = await unit.sync_jobs.retrying_over(connection_id, now)
            # Lock syncs before jobs and in one order, as everywhere, to avoid deadlocks.
            await unit.secret_syncs.by_ids(sorted({job.sync_id for job in found}), for_change=True)
            pushed = [job.sync_id for job in found if job.kind == JobKind.SYNC]
            await unit.secret_syncs.move(pushed, JobKind.SYNC, {"status": JobStatus.PENDING})
            for number, some in enumerate(in_chunks(found, self._terms.per_connection)):
                await unit.sync_jobs.hasten([job.id for job in some], now + number * _BESIDE, now)

        await self._database.write(hastened)

    async def _end(self, unit: UnitOfWork, begun: Begun, done: Done) -> bool:
        """Return whether jobs over the connection that the run used wait for another attempt."""
        job, kind = begun.job, JobKind(begun.job.kind)
        # Lock the sync before its job, as everywhere.
        sync = await unit.secret_syncs.get(job.sync_id, for_change=True)
        used = begun.sync.record.connection_id
        after = await unit.sync_jobs.after_run(job.sync_id, used, kind, self._clock.now())
        if sync is None or not await unit.sync_jobs.finish(job):
            return after.has_retries
        if kind is JobKind.LOOK:
            await self._end_look(unit, begun, done, sync, after)
            return after.has_retries
        if done.notes is not None:
            await done.notes.store(unit)
        ended = JobStatus.FAILED if done.has_refused else JobStatus.SUCCEEDED
        await self._audit(unit, begun, ended, done.counts)
        if kind is JobKind.REMOVE and job.parameters.get(DELETES_SYNC) is True:
            await unit.secret_syncs.delete(job.sync_id)
            return after.has_retries
        waiting_since = after.waiting_since
        is_asked = sync.record.listed_at is None and begun.sync.record.listed_at is not None
        known: list[Mapping[str, object]] = []
        # If the sync was changed meanwhile, this run pushed an outdated configuration.
        if done.source_digest is not None and sync.record.version == begun.sync.record.version:
            # A job that waits, or a request that arrived meanwhile, needs a newer listing than this one.
            listed_at = None if waiting_since or is_asked else done.listed_at
            known.append(settled(done.source_digest, done.reached, listed_at))
        if kind is JobKind.SYNC:
            known.append(pushed(waiting_since, all_arrived=not done.has_refused))
        status = JobStatus.PENDING if waiting_since else ended
        progress: dict[str, object] = {"status": status, "message": done.message, "job_id": job.id}
        if not done.has_refused:
            progress["at"] = self._clock.now()
        await unit.secret_syncs.end(job.sync_id, kind, progress, *known)
        if kind is JobKind.SYNC:
            await self._look_after_former_places(unit, sync, after)
        return after.has_retries

    async def _end_look(
        self, unit: UnitOfWork, begun: Begun, done: Done, sync: SecretSync, after: AfterRun
    ) -> None:
        if any(done.counts.values()):
            await self._audit(unit, begun, JobStatus.SUCCEEDED, done.counts)
        await end_look(unit, begun, done, sync, self._clock.now())
        if begun.sync.record.is_settled:
            await self._look_after_former_places(unit, sync, after)

    async def _look_after_former_places(self, unit: UnitOfWork, sync: SecretSync, after: AfterRun) -> None:
        """Queue a look that removes what is still left at former places."""
        now = self._clock.now()
        if after.next_clearing is not None:
            # If nothing was tried now, looks would follow each other without a pause.
            await queue_look(unit, sync, max(after.next_clearing, now + self._terms.backoff.floor), now)

    async def fail(self, begun: Begun, failure: Failure) -> bool:
        """Note that a run failed; return whether another attempt follows.

        A push that failed for a passing reason is tried until it succeeds, in the end once an hour. From the fifth
        attempt on its status is `failed`, and its message says when the next attempt is. Looks are repeated too, but
        have no status. If the remote asked to wait, the job is parked for that time: its status is `pending`, its
        message says until when, and the attempt doesn't count.
        """
        if (wait := failure.wait) is not None:
            await self._database.write(lambda unit: self._park(unit, begun, failure, wait))
            return True
        if failure.is_retryable and JobKind(begun.job.kind) in {JobKind.SYNC, JobKind.LOOK}:
            await self._database.write(lambda unit: self._retry(unit, begun, failure))
            return True
        await self._database.write(lambda unit: self._fail(unit, begun, failure.message))
        return False

    async def _retry(self, unit: UnitOfWork, begun: Begun, failure: Failure) -> None:
        job = begun.job
        due_at = self._clock.now() + self._terms.backoff.delay(job.attempt, _RNG)
        sync = await unit.secret_syncs.get(job.sync_id, for_change=True)
        if sync is None or not await unit.sync_jobs.release(job, due_at):
            return
        if job.attempt >= self._terms.attempts and job.kind == JobKind.SYNC:
            await self._audit(unit, begun, JobStatus.FAILED, {})
            await _move(unit, begun, JobStatus.FAILED, failure.before_next_attempt(due_at))

    async def _park(self, unit: UnitOfWork, begun: Begun, failure: Failure, wait: timedelta) -> None:
        job = begun.job
        due_at = self._clock.now() + min(max(wait, self._terms.backoff.floor), _PARKED_MAX)
        sync = await unit.secret_syncs.get(job.sync_id, for_change=True)
        if sync is None or not await unit.sync_jobs.release(
            job, due_at, attempt=max(0, job.attempt - 1), parks=True
        ):
            return
        if job.kind != JobKind.LOOK:
            await _move(unit, begun, JobStatus.PENDING, failure.while_parked(due_at))

    async def _fail(self, unit: UnitOfWork, begun: Begun, message: str) -> None:
        job, kind = begun.job, JobKind(begun.job.kind)
        sync = await unit.secret_syncs.get(job.sync_id, for_change=True)
        if sync is None or not await unit.sync_jobs.finish(job):
            return
        if kind is JobKind.LOOK:
            await give_up_look(unit, sync, self._clock.now(), self._terms.backoff.ceiling)
            return
        await self._audit(unit, begun, JobStatus.FAILED, {})
        is_waiting = await unit.sync_jobs.waiting_since(job.sync_id, kind) is not None
        await _move(unit, begun, JobStatus.PENDING if is_waiting else JobStatus.FAILED, message)

    async def _audit(
        self, unit: UnitOfWork, begun: Begun, status: JobStatus, counts: Mapping[str, int]
    ) -> None:
        details: dict[str, AuditDetail] = {"jobId": begun.job.id, "status": status.value, **counts}
        kind = JobKind(begun.job.kind)
        await unit.audit(sync_event(actor_of(begun.sync), _EVENTS[kind], begun.sync, **details))


async def _move(unit: UnitOfWork, begun: Begun, status: JobStatus, message: str) -> None:
    job = begun.job
    await unit.secret_syncs.move(
        [job.sync_id], JobKind(job.kind), {"status": status, "message": message, "job_id": job.id}
    )
