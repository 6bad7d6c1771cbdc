"""Notes the outcome of each name while a run writes, so that an interrupted run is not repeated from the start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.destinations.protocol import Refused, Written
from keybearer.domain.syncs.plan import Ledger, Plan
from keybearer.domain.syncs.queueing import require_held
from keybearer.domain.syncs.refusals import Refusals
from keybearer.domain.syncs.tallies import KeyCounts
from keybearer.store.database import Database
from keybearer.store.pushes import Push
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.unit import UnitOfWork

__all__ = ["Notes"]

_AT_ONCE = 100
_EVERY = timedelta(seconds=2)


class Notes:
    """Outcomes of one run that are not in the database yet.

    Args:
        database: where the ledger is.
        clock: for when to write, and for when something was noted.
        job: of the run; this process must still hold it whenever something is noted.
        digests: of what the run writes, by name.
        refused: names that a rule refuses, with the reason.
        failing: names that earlier runs noted as failed.
        shown: removes values from a message before it is stored.
        counts: counters for metrics; not counted by default.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        job: SyncJob,
        digests: Mapping[str, bytes],
        refused: Mapping[str, str] | None = None,
        *,
        failing: Collection[str] = (),
        shown: Callable[[str], str] = str,
        counts: KeyCounts | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._job = job
        self._digests = digests
        self._failing = failing
        self._shown = shown
        self._counts = counts or KeyCounts()
        self._pushes: dict[str, Push] = {}
        self._gone: set[str] = set()
        self._failed: dict[str, str] = dict(refused or {})
        self._mended: set[str] = set()
        self._foreign: Collection[str] | None = None
        self._announced: set[str] = set()
        self._refusals = Refusals(self._failed)
        self._written_at = clock.monotonic()
        self._left: int | None = None
        self._left_noted: int | None = None
        self.written = 0
        self.removed = 0
        self.unversioned: dict[str, Push] = {}

    def learn(self, pushes: Iterable[Push], forgotten: Iterable[str] = ()) -> None:
        """Note what was found in place, and what is gone."""
        self._pushes.update((push.name, push) for push in pushes)
        self._gone.update(forgotten)

    def learn_names(self, foreign: Collection[str] | None, tried: Collection[str] = ()) -> None:
        """Note foreign names, and that failed names which are not tried again are no longer failed.

        Without foreign names (None), those that the last listing found stay noted.
        """
        self._foreign = foreign
        self._mended.update(set(self._failing) - set(tried))

    def expect(self, planned: Plan) -> None:
        """Note what a push is about to do, and count names that are in place or refused by a rule."""
        self._left = len(planned.change.put) + len(planned.change.delete)
        self._counts.skipped += len(planned.digests) - len(planned.change.put)
        self._counts.failed += len(planned.refused)

    async def announce(self, names: Iterable[str], ledger: Ledger) -> None:
        """Note names that the destination doesn't hold yet, before anything is sent there.

        If the process is killed after it wrote one, the next one knows that the name is ours, and removes it if the
        source no longer has it. Without a digest, nothing counts as written.

        Args:
            names: what the destination doesn't hold.
            ledger: what earlier runs wrote or announced.

        Raises:
            LostJobError: this process no longer holds the job.
        """
        self._announced = {name for name in names if name not in ledger or not ledger[name].digest}
        if new := self._announced - ledger.keys():
            self._pushes.update((name, Push(name, b"", None)) for name in new)
            await self.flush()

    def withdraw(self) -> None:
        """Forget announced names that were not written, after the destination answered that it refuses the call.

        Somebody else may create such a name before the next run, and it must not count as ours.
        """
        self._gone.update(self._announced)
        self._announced.clear()

    async def take(self, outcome: Written | Refused) -> None:
        """Note the outcome of one name, and write from time to time.

        Raises:
            LostJobError: this process no longer holds the job.
            NamesRefusedError: the remote refused too many names in a row.
        """
        if self._left:
            self._left -= 1
        if isinstance(outcome, Refused):
            self._counts.failed += 1
            # Redact before shortening: part of a value would not be recognized.
            shown = replace(outcome, message=self._shown(outcome.message))
            self._failed[shown.name] = shown.message
            if shown.name in self._announced:
                self._gone.add(shown.name)
            self._refusals.add(shown)
        else:
            self._take_written(outcome)
        is_time = self._clock.monotonic() - self._written_at >= _EVERY.total_seconds()
        if is_time or len(self._pushes) + len(self._gone) + len(self._failed) >= _AT_ONCE:
            await self.flush()

    @property
    def refused(self) -> Mapping[str, str]:
        """Names that were refused, by a rule or by the remote, with the reason."""
        return self._refusals.reasons

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Write the notes if the block fails or is cancelled, so that what arrived is not written again.

        Raises:
            LostJobError: this process no longer holds the job.
        """
        try:
            yield
        except BaseException:
            await asyncio.shield(self.flush())
            raise

    def _take_written(self, written: Written) -> None:
        self._announced.discard(written.name)
        if written.name in self._failing:
            self._mended.add(written.name)
        if written.is_removed:
            self.removed += 1
            self._counts.removed += 1
            self._gone.add(written.name)
            self._pushes.pop(written.name, None)
        else:
            self.written += 1
            self._counts.written += 1
            self._refusals.end_row()
            push = Push(written.name, self._digests[written.name], written.version)
            self._pushes[written.name] = push
            self._gone.discard(written.name)
            if written.version is None:
                self.unversioned[written.name] = push

    async def flush(self) -> None:
        """Write the notes to the database.

        Raises:
            LostJobError: this process no longer holds the job.
        """
        self._written_at = self._clock.monotonic()
        left = self._left
        has_names = self._pushes or self._gone or self._failed or self._mended or self._foreign is not None
        if not has_names and left == self._left_noted:
            return

        async def stored(unit: UnitOfWork) -> None:
            if left is not None:
                # First, because it locks the sync.
                await unit.sync_backlog.note_keys(self._job.sync_id, left)
            await require_held(unit, self._job, is_locked=left is not None)
            await self.store(unit)

        await self._database.write(stored)
        self._foreign = None
        self._left_noted = left
        for noted in (self._pushes, self._gone, self._failed, self._mended):
            noted.clear()

    async def store(self, unit: UnitOfWork) -> None:
        """Write the notes as a part of the unit."""
        await unit.pushes.note(self._job.sync_id, self._pushes.values())
        await unit.pushes.forget(self._job.sync_id, sorted(self._gone))
        await unit.sync_names.forget_failed(self._job.sync_id, self._mended)
        await unit.sync_names.note_failed(self._job.sync_id, self._failed, self._clock.now())
        if self._foreign is not None:
            await unit.sync_names.note_foreign(self._job.sync_id, self._foreign, self._clock.now())
