"""Checks whether the destination of a sync is still as the sync left it.

A look writes nothing to the destination and changes no status. If it finds a difference, it queues a push, so people
see a run only where there was something to do. A look also removes what is still left at former places.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

from keybearer.domain.syncs.clearing import Clearing, SetUpOtherwiseError
from keybearer.domain.syncs.digests import Digests
from keybearer.domain.syncs.findings import told_after_look
from keybearer.domain.syncs.ledger import Notes
from keybearer.domain.syncs.outcomes import redacted
from keybearer.domain.syncs.places import Reach, Setup
from keybearer.domain.syncs.plan import Plan, plan, wanted_names
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.queueing import queue, queue_look
from keybearer.domain.syncs.refusals import told_of_refused
from keybearer.domain.syncs.run import Begun, Done
from keybearer.store.secret_syncs import JobKind, JobStatus, SecretSync
from keybearer.store.sync_names import SyncName
from keybearer.store.unit import UnitOfWork

__all__ = ["Look", "end_look", "give_up_look"]

_LOOK = timedelta(minutes=20)


class Look:
    """One attempt at one look."""

    def __init__(self, pushing: Pushing, begun: Begun) -> None:
        self._pushing = pushing
        self._begun = begun
        self._reach = Reach(pushing, begun.sync)
        self._clearing = Clearing(pushing, begun.job, begun.sync, self._reach)

    @property
    def confidential(self) -> list[str]:
        """All texts that no message may show; they grow as they become known."""
        return self._reach.confidential

    async def perform(self) -> Done:
        """Compare the destination with the source, and clear former places.

        Raises:
            RemoteError: the destination can't be read.
            DomainError: the source can't be read.
            PlanRefusedError: the destination can't hold what the source has.
            LostJobError: this process no longer holds the job.
            TimeoutError: it took too long.
        """
        if not self._begun.sync.record.is_settled:
            # A push failed or is queued: the next push lists the destination anyway.
            return Done()
        try:
            async with asyncio.timeout(_LOOK.total_seconds()):
                return await self._look()
        except SetUpOtherwiseError:
            return Done()

    async def _look(self) -> Done:
        sync, pushing = self._begun.sync, self._pushing
        setup = Setup.of(sync)
        listed_at = pushing.clock.now()
        async with pushing.database.reading() as unit:
            # No value leaves the service, so the audit log has no reading.
            source, _ = await pushing.source_of(unit, sync)
            ledger = await unit.pushes.of_sync(sync.record.id)
            failing = await unit.sync_names.failing(sync.record.id)
            left = self._clearing.due(await unit.former_places.of_sync(sync.record.id))
            opened = await self._reach.usable(unit, setup, source.access)
        self._reach.confidential += source.values.values()
        place = self._reach.place(setup, opened)
        names = wanted_names(source.secrets, place.traits, place.naming)
        listing = await self._reach.listed(place, sorted(names.held | ledger.keys()))
        left = await self._clearing.compared(left, listing, names, ledger)
        shared = await self._reach.shared(setup, {*ledger, *names.held, *listing})
        digests = Digests(pushing.digest_key, sync.record)
        planned = plan(source.secrets, listing, ledger, place.settings(digests, shared.keys()))
        # Only a push notes that a failed name is in place by now, or no longer wanted.
        failed_keys = {key for name in failing if (key := place.naming.key_of(name)) is not None}
        lacking = {*planned.refused, *(one.name for one in planned.change.put)}
        await self._clearing.clear(left, failed_keys | names.keys_of(lacking))
        notes = Notes(pushing.database, pushing.clock, self._begun.job, {})
        notes.learn(planned.learnt, planned.forgotten)
        notes.learn_names(planned.foreign)
        told = await self._clearing.told()
        refused = _refused(planned, failing)
        return Done(
            notes,
            listed_at=listed_at,
            counts={"removedElsewhere": self._clearing.removed},
            message=(
                redacted(told_of_refused(refused, told), self.confidential)
                if refused
                else told_after_look(planned, shared, told)
            ),
            has_refused=bool(refused),
            differs=self._is_worth_a_push(planned, failing),
        )

    def _is_worth_a_push(self, planned: Plan, failing: Mapping[str, SyncName]) -> bool:
        """Return whether there is something to do; a name that was just refused is not tried with each look."""
        since = self._pushing.clock.now() - self._pushing.pace.look_interval / 2
        lately = {name for name, one in failing.items() if one.noted_at > since}
        put = {one.name for one in planned.change.put}
        return bool(planned.change.removable(put & lately) or put - lately)


def _refused(planned: Plan, failing: Mapping[str, SyncName]) -> dict[str, str]:
    """Return why names can't be written: a rule refuses them, or the remote did and still doesn't have them."""
    missing = [one.name for one in planned.change.put if one.name in failing]
    return {**{name: failing[name].message or "" for name in missing}, **planned.refused}


async def end_look(unit: UnitOfWork, begun: Begun, done: Done, sync: SecretSync, now: datetime) -> None:
    """Note what a look found for a locked sync; with auto-sync, queue a push if something differs."""
    former, record = begun.sync.record, sync.record
    if done.notes is None or done.listed_at is None or record.version != former.version:
        return
    if not _is_at_rest(sync):
        return
    is_as_told = done.has_refused == (record.sync_status == JobStatus.FAILED)
    if done.differs or not is_as_told:
        # Only a push changes the status of the sync.
        if is_as_told:
            await unit.secret_syncs.move([record.id], JobKind.SYNC, {"message": done.message})
        if record.is_auto_sync_enabled and record.folder_id is not None:
            await queue(unit, sync, JobKind.SYNC, {}, now, afresh=True)
        return
    await done.notes.store(unit)
    # A look was requested meanwhile, or the connection got new credentials: this look was too early.
    is_asked = record.listed_at is None and former.listed_at is not None
    await unit.sync_looks.note(record.id, None if is_asked else done.listed_at, done.message)


async def give_up_look(unit: UnitOfWork, sync: SecretSync, now: datetime, pause: timedelta) -> None:
    """Queue a push of a locked sync after a look failed for good, so that its status shows why: looks have none.

    Without auto-sync, another look after the pause continues with what is left at former places.
    """
    record = sync.record
    if not _is_at_rest(sync):
        return
    if record.is_auto_sync_enabled and record.folder_id is not None:
        await queue(unit, sync, JobKind.SYNC, {}, now, afresh=True)
    elif await unit.former_places.next_attempt_of(record.id) is not None:
        await queue_look(unit, sync, now + pause, now)


def _is_at_rest(sync: SecretSync) -> bool:
    """Return whether the last push ended without an error, and none is queued."""
    return sync.record.is_settled and sync.record.sync_status != JobStatus.PENDING
