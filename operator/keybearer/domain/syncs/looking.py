"""One look of the service's own at the destination of a sync: whether it is as the sync left it.

A look writes nothing there and shows in no status. What it finds changed is put right by a push, which it queues; so
people see a run only where there was something to do. What is left at former places is removed by it as well, when
an earlier attempt failed.
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
from keybearer.store.sync_names import NameState, SyncName
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
        """Look.

        Raises:
            RemoteError: the destination can't be read.
            DomainError: the source can't be read.
            PlanRefusedError: the destination can't hold what the source has.
            LostJobError: the job is held no more.
            TimeoutError: it took too long.
        """
        if not self._begun.sync.record.is_settled:
            # A push failed, or is asked for: the next push looks at the destination anyway.
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
            # Nothing of it leaves the service, so that it is no reading for the audit log.
            source, _ = await pushing.source_of(unit, sync)
            ledger = await unit.pushes.of_sync(sync.record.id)
            noted = await unit.sync_names.of_sync(sync.record.id)
            opened = await self._reach.opened(unit, setup.connection_id)
        self._reach.confidential += source.values.values()
        place = self._reach.place(setup, opened)
        names = wanted_names(source.secrets, place.traits, place.naming)
        listing = await self._reach.listed(place, sorted(names.held | ledger.keys()))
        left = await self._clearing.compared(await self._clearing.due(), listing, names, ledger)
        shared = await self._reach.shared(setup, {*ledger, *names.held, *listing})
        digests = Digests(pushing.digest_key, sync.record)
        planned = plan(source.secrets, listing, ledger, place.settings(digests, shared.keys()))
        failing = {one.name: one for one in noted if one.state == NameState.FAILED}
        # Only a push knows that what failed is in place by now, or wanted no more.
        failed_keys = {key for name in failing if (key := place.naming.key_of(name)) is not None}
        await self._clearing.clear(left, failed_keys | names.keys_of(planned.refused))
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
        """Return whether there is something to do; what was refused a moment ago isn't tried with each look."""
        since = self._pushing.clock.now() - self._pushing.pace.look_interval / 2
        lately = {name for name, one in failing.items() if one.noted_at > since}
        return bool(planned.change.delete) or any(one.name not in lately for one in planned.change.put)


def _refused(planned: Plan, failing: Mapping[str, SyncName]) -> dict[str, str]:
    """Return why names can't be written: by a rule, or because the remote refused them and has them still not."""
    missing = [one.name for one in planned.change.put if one.name in failing]
    return {**{name: failing[name].message or "" for name in missing}, **planned.refused}


async def end_look(unit: UnitOfWork, begun: Begun, done: Done, sync: SecretSync, now: datetime) -> None:
    """Note what a look found, of a sync that is locked; where changes set it off, a push puts right what differs."""
    former, record = begun.sync.record, sync.record
    if done.notes is None or done.listed_at is None or record.version != former.version:
        return
    if not _is_at_rest(sync):
        return
    is_as_told = done.has_refused == (record.sync_status == JobStatus.FAILED)
    if done.differs or not is_as_told:
        # Only a push changes whether the sync has failed.
        if is_as_told:
            await unit.secret_syncs.move([record.id], JobKind.SYNC, {"message": done.message})
        if record.is_auto_sync_enabled and record.folder_id is not None:
            await queue(unit, sync, JobKind.SYNC, {}, now, afresh=True)
        return
    await done.notes.store(unit)
    # Whoever asked for a look meanwhile, or gave the connection other credentials, means a later one.
    is_asked = record.listed_at is None and former.listed_at is not None
    await unit.sync_looks.note(record.id, None if is_asked else done.listed_at, done.message)


async def give_up_look(unit: UnitOfWork, sync: SecretSync, now: datetime, pause: timedelta) -> None:
    """Have a push say why a look can't succeed, of a sync that is locked: nobody sees looks.

    Where changes set off none, another look after the pause goes on with what is left at former places.
    """
    record = sync.record
    if not _is_at_rest(sync):
        return
    if record.is_auto_sync_enabled and record.folder_id is not None:
        await queue(unit, sync, JobKind.SYNC, {}, now, afresh=True)
    elif await unit.former_places.next_attempt_of(record.id) is not None:
        await queue_look(unit, sync, now + pause, now)


def _is_at_rest(sync: SecretSync) -> bool:
    """Return whether the last push did all that can be done, and none is asked for."""
    return sync.record.is_settled and sync.record.sync_status != JobStatus.PENDING
