"""Notes of what arrived at a remote, written while it is being changed: what is cut off is not done twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.domain.syncs.outcomes import LostJobError
from keybearer.outbound.destinations.protocol import Written
from keybearer.store.attempts import repeated
from keybearer.store.database import Database
from keybearer.store.pushes import Push
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.unit import UnitOfWork

__all__ = ["Notes"]

_AT_ONCE = 100
_EVERY = timedelta(seconds=2)


class Notes:
    """What one run wrote and the ledger doesn't know yet.

    Args:
        database: where the ledger is.
        clock: tells when it is time to write.
        job: the run's; it must still be held whenever something is noted.
        digests: of what the run writes, by name.
    """

    def __init__(self, database: Database, clock: Clock, job: SyncJob, digests: Mapping[str, bytes]) -> None:
        self._database = database
        self._clock = clock
        self._job = job
        self._digests = digests
        self._pushes: dict[str, Push] = {}
        self._gone: set[str] = set()
        self._written_at = clock.monotonic()
        self.written = 0
        self.removed = 0
        self.unversioned: dict[str, Push] = {}

    def learn(self, pushes: Iterable[Push], forgotten: Iterable[str] = ()) -> None:
        """Take over what was found to be in place, and what is gone."""
        self._pushes.update((push.name, push) for push in pushes)
        self._gone.update(forgotten)

    async def take(self, written: Written) -> None:
        """Note one name, with others now and then.

        Raises:
            LostJobError: the job is held no more.
        """
        if written.is_removed:
            self.removed += 1
            self._gone.add(written.name)
            self._pushes.pop(written.name, None)
        else:
            self.written += 1
            push = Push(written.name, self._digests[written.name], written.version)
            self._pushes[written.name] = push
            self._gone.discard(written.name)
            if written.version is None:
                self.unversioned[written.name] = push
        is_time = self._clock.monotonic() - self._written_at >= _EVERY.total_seconds()
        if is_time or len(self._pushes) + len(self._gone) >= _AT_ONCE:
            await self.flush()

    async def flush(self) -> None:
        """Write what waits.

        Raises:
            LostJobError: the job is held no more.
        """
        self._written_at = self._clock.monotonic()
        if not self._pushes and not self._gone:
            return

        async def stored() -> None:
            async with self._database.writing() as unit:
                if not await unit.sync_jobs.is_held(self._job):
                    raise LostJobError("another process has the job")
                await self.store(unit)

        await repeated(stored)
        self._pushes.clear()
        self._gone.clear()

    async def store(self, unit: UnitOfWork) -> None:
        """Write what waits as a part of the unit."""
        await unit.pushes.note(self._job.sync_id, self._pushes.values())
        await unit.pushes.forget(self._job.sync_id, sorted(self._gone))
