"""Queues syncs whose source changed (wire.md section 3.3).

A commit says which folders it changed; folders that import or refer to them changed too. Syncs of these folders with
auto-sync are queued. If a process was killed or a message was lost, a sweep finds the changes: it reads each sync
whose last run read older revisions, and queues it if its source has changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial

from keybearer.base.clock import Clock
from keybearer.base.ids import OrganizationId
from keybearer.base.logs import get_logger
from keybearer.base.runs import in_chunks
from keybearer.domain.secrets.dependents import TooManyDependentsError
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.queueing import queue
from keybearer.store.database import Database
from keybearer.store.failures import BusyError, TooSlowError, UnavailableError
from keybearer.store.revisions import Changes, ListChange
from keybearer.store.secret_syncs import JobKind, JobStatus, SecretSync, SyncRecord
from keybearer.store.unit import UnitOfWork

__all__ = ["SyncTriggers"]

Dependents = Callable[[UnitOfWork, Sequence[ListChange]], Awaitable[Sequence[ListChange]]]
"""Finds the changes that follow in other folders, through imports and references."""

_FOLLOWED_MAX = 100_000
"""Changes that are remembered until they are followed; if there are more, a sweep is done instead."""
_PAGE = 200
_QUEUED_AT_ONCE = 50
"""Syncs queued in one transaction; other writers wait for it."""
_AGAIN = timedelta(seconds=5)
_log = get_logger(__name__)


class SyncTriggers:
    """Collects changes at any time, and queues syncs while `run` runs."""

    def __init__(
        self,
        database: Database,
        pushing: Pushing,
        clock: Clock,
        dependents: Dependents,
        start_delay: timedelta,
    ) -> None:
        self._database = database
        self._pushing = pushing
        self._clock = clock
        self._dependents = dependents
        self._start_delay = start_delay
        # True until the database says otherwise. Without syncs, a change costs nothing after that.
        self._may_have_syncs = True
        self._heard_of_jobs = False
        self._followed: list[ListChange] = []
        self._organizations: set[OrganizationId] = set()
        self._is_sweep_due = True
        # Syncs that ran during a sweep: what they read is known when they end.
        self._under_way: set[str] = set()
        self._woken = asyncio.Event()
        self._woken.set()
        database.bus.subscribe(self._hear, self._missed)

    async def run(self) -> None:
        """Queue syncs after changes, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                await self._follow()
            except Exception as error:  # noqa: BLE001 - a sweep finds what was missed, whatever the error
                _log.warning("secret_syncs_not_set_off", kind=type(error).__name__)
                self._missed()
                await asyncio.sleep(_AGAIN.total_seconds())

    def _hear(self, changes: Changes) -> None:
        if changes.jobs:
            # A new sync with auto-sync has a job from the beginning.
            self._may_have_syncs = self._heard_of_jobs = True
            if self._under_way:
                self._woken.set()
        if not self._may_have_syncs or not (changes.folders or changes.organizations):
            return
        # Personal secrets are never pushed.
        self._followed += [change for change in changes.folders if not change.owner]
        self._organizations |= changes.organizations
        if len(self._followed) > _FOLLOWED_MAX:
            self._followed.clear()
            self._is_sweep_due = True
        self._woken.set()

    def _missed(self) -> None:
        self._is_sweep_due = True
        self._woken.set()

    async def _follow(self) -> None:
        followed, self._followed = self._followed, []
        organizations, self._organizations = self._organizations, set()
        is_sweep_due, self._is_sweep_due = self._is_sweep_due, False
        self._heard_of_jobs = False
        async with self._database.reading() as unit:
            has_syncs = await unit.secret_syncs.any_automatic()
        if not has_syncs:
            # Unless one was created meanwhile.
            self._may_have_syncs = self._heard_of_jobs
            return
        if is_sweep_due:
            await self._sweep(None)
            return
        if self._under_way:
            await self._sweep_ended()
        if organizations:
            await self._sweep(organizations)
        if followed:
            try:
                syncs = await self._affected(followed)
            except TooManyDependentsError:
                await self._sweep(None)
            else:
                await self._queue(syncs)

    async def _affected(self, changes: Sequence[ListChange]) -> list[SecretSync]:
        async with self._database.reading() as unit:
            consequences = await self._dependents(unit, changes)
            places = {
                (change.project_id, change.environment, change.path)
                for change in (*changes, *consequences)
                if not change.owner
            }
            return await unit.secret_syncs.automatic_at(places)

    async def _queue(self, syncs: Sequence[SecretSync]) -> None:
        """Queue syncs, except those that have read the newest revisions meanwhile: another process was quicker."""
        ids = sorted(sync.record.id for sync in syncs)
        for some in in_chunks(ids, _QUEUED_AT_ONCE):
            await self._database.write(partial(self._queue_some, some))

    async def _queue_some(self, ids: Sequence[str], unit: UnitOfWork) -> None:
        now = self._clock.now()
        syncs = await unit.secret_syncs.by_ids(ids, for_change=True)
        revisions = await _revisions(unit, syncs)
        for sync in syncs:
            record = sync.record
            if not record.is_auto_sync_enabled or sync.folder_path is None:
                continue
            if record.is_settled and _stands(record, revisions):
                continue
            await queue(unit, sync, JobKind.SYNC, {}, now, due_at=now + self._start_delay)

    async def _sweep(self, organizations: Collection[OrganizationId] | None) -> None:
        """Queue the syncs whose source changed since their last run; of these organizations, or of all."""
        last, looked, found = "", 0, 0
        while True:
            async with self._database.reading() as unit:
                page = await unit.secret_syncs.automatic_after(last, _PAGE)
                ended = await self._ended(unit, page)
            if not page:
                break
            stale: list[SecretSync] = []
            for sync in ended:
                if organizations is not None and sync.organization_id not in organizations:
                    continue
                looked += 1
                if await self._carries_something_else(sync):
                    stale.append(sync)
            await self._queue(stale)
            found += len(stale)
            last = page[-1].record.id
        if self._under_way:
            # One of them may have ended already.
            self._woken.set()
        _log.info("secret_syncs_swept", looked_at=looked, set_off=found)

    async def _sweep_ended(self) -> None:
        """Queue the syncs that ran during a sweep and missed a change."""
        async with self._database.reading() as unit:
            syncs = await unit.secret_syncs.by_ids(sorted(self._under_way))
            self._under_way &= {sync.record.id for sync in syncs}
            ended = await self._ended(unit, syncs)
        await self._queue(
            [
                sync
                for sync in ended
                if not _was_ended_by_an_error(sync.record) and await self._carries_something_else(sync)
            ]
        )

    async def _ended(self, unit: UnitOfWork, syncs: Sequence[SecretSync]) -> list[SecretSync]:
        """Return those of the syncs that have no push running or waiting, and whose source changed since they ran."""
        revisions = await _revisions(unit, syncs)
        jobs = await unit.sync_jobs.of_syncs([sync.record.id for sync in syncs])
        pushes = [job for job in jobs if job.kind == JobKind.SYNC]
        running = {job.sync_id for job in pushes if job.is_running}
        waiting = {job.sync_id for job in pushes if not job.is_running}
        # A waiting job will read the newest revisions.
        self._under_way -= {sync.record.id for sync in syncs} - (running - waiting)
        self._under_way |= running - waiting
        return [
            sync
            for sync in syncs
            if sync.record.id not in running | waiting and not _stands(sync.record, revisions)
        ]

    async def _carries_something_else(self, sync: SecretSync) -> bool:
        record = sync.record
        try:
            async with self._database.reading() as unit:
                source, digest = await self._pushing.source_of(unit, sync)
        except (BusyError, TooSlowError, UnavailableError):
            raise
        except Exception:  # noqa: BLE001 - one unreadable sync must not stop the sweep
            # Queue a run to show why, unless the last one did.
            return not _was_ended_by_an_error(record)
        if record.source_digest != digest:
            return True

        await self._database.write(lambda unit: unit.secret_syncs.reach(record.id, digest, source.reached))
        return False


async def _revisions(unit: UnitOfWork, syncs: Sequence[SecretSync]) -> Mapping[str, int]:
    return await unit.revisions({name for sync in syncs for name in sync.record.reached or ()})


def _was_ended_by_an_error(record: SyncRecord) -> bool:
    """Return whether the last push failed early and shows why; a change that mends it queues the next one."""
    return record.sync_status == JobStatus.FAILED and not record.is_settled


def _stands(record: SyncRecord, revisions: Mapping[str, int]) -> bool:
    """Return whether nothing that the last settled run read has changed."""
    return record.reached is not None and all(
        revisions.get(name) == revision for name, revision in record.reached.items()
    )
