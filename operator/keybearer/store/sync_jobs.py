"""Jobs of secret syncs: queued, claimed by one process, and done. A killed process loses none of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Insert, bindparam, case, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import new_uuid
from keybearer.store.columns import record_columns, select_record
from keybearer.store.revisions import Changes
from keybearer.store.secret_syncs import JobKind
from keybearer.store.tables.secret_syncs import FormerPlaceRow, SecretSyncRow, SyncJobRow
from keybearer.store.upserts import upserted

__all__ = ["AfterRun", "SyncJob", "SyncJobs"]

_CHUNK = 200
_HASTENED_AT_ONCE = 1000
_HASTENED_AGAIN = timedelta(minutes=10)
"""A sync whose place is ill goes on failing while others over its connection succeed: it isn't tried each time."""


@dataclass(frozen=True, slots=True)
class SyncJob:
    """A job.

    Attributes:
        attempt: how often it was begun; 0 before the first time.
        due_at: not begun before.
        parameters: what the kind needs beside the sync, an import its behaviour for example.
        lease_ends_at: until when `claimed_by` has it, unless it says so again; by the clock that all processes share.
        parked_until: the remote asked not to be called before; None where it didn't.
        hastened_at: when a success of another sync over the connection last made it due.
        is_urgent: whether people or new credentials want it: it waits for no pause that came before.
    """

    id: str
    sync_id: str
    connection_id: str
    kind: str
    is_running: bool
    attempt: int
    parameters: Mapping[str, JsonValue] = field(repr=False)
    due_at: datetime
    claimed_by: str | None
    lease_ends_at: datetime | None
    created_at: datetime
    parked_until: datetime | None = None
    hastened_at: datetime | None = None
    is_urgent: bool = False


@dataclass(frozen=True, slots=True)
class AfterRun:
    """What there is to do after a run of a sync.

    Attributes:
        waiting_since: when the job of the same kind that waits for the sync was queued; None where none does.
        next_clearing: when the first of its former places is tried next; None where it has none.
        has_retries: whether jobs over the connection wait for another attempt.
    """

    waiting_since: datetime | None
    next_clearing: datetime | None
    has_retries: bool


_JOBS = select_record(SyncJobRow, SyncJob)
# Each run asks for these: they are built once.
_HELD = (
    SyncJobRow.id == bindparam("job_id"),
    SyncJobRow.is_running.is_(True),
    SyncJobRow.claimed_by == bindparam("claimed_by"),
    SyncJobRow.attempt == bindparam("attempt"),
)
_RETRYING = (
    SyncJobRow.connection_id == bindparam("connection_id"),
    SyncJobRow.is_running.is_(False),
    SyncJobRow.attempt > 0,
    SyncJobRow.due_at > bindparam("now"),
    SyncJobRow.parked_until.is_(None),
    or_(SyncJobRow.hastened_at.is_(None), SyncJobRow.hastened_at <= bindparam("before")),
)
_WAITING = select(SyncJobRow.created_at).where(
    SyncJobRow.sync_id == bindparam("sync_id"),
    SyncJobRow.kind == bindparam("kind"),
    SyncJobRow.is_running.is_(False),
)
_AFTER_RUN = select(
    _WAITING.scalar_subquery(),
    select(func.min(FormerPlaceRow.next_attempt_at))
    .where(FormerPlaceRow.sync_id == bindparam("sync_id"))
    .scalar_subquery(),
    select(SyncJobRow.id).where(*_RETRYING).exists(),
)
_DUE = select(
    select(SyncJobRow.id)
    .where(SyncJobRow.is_running.is_(False), SyncJobRow.due_at <= bindparam("now"))
    .exists(),
    select(func.min(SyncJobRow.due_at))
    .where(SyncJobRow.is_running.is_(False), SyncJobRow.due_at > bindparam("now"))
    .scalar_subquery(),
)
_LOCK_SYNC = select(SecretSyncRow.id).where(SecretSyncRow.id == bindparam("sync_id")).with_for_update()
_LOCK_HELD = select(SyncJobRow.id).where(*_HELD).with_for_update()
_FINISH = delete(SyncJobRow).where(*_HELD).returning(SyncJobRow.id)


class SyncJobs:
    """Repository of jobs; it notes in `changes` when there may be something to run."""

    def __init__(self, connection: AsyncConnection, changes: Changes) -> None:
        self._connection = connection
        self._changes = changes

    async def add(self, jobs: Iterable[SyncJob]) -> None:
        """Queue jobs; one of the kind that waits for the sync already is enough.

        That one takes the new parameters, if there are any, and is due as soon as either; one that is parked stays so
        unless the new one is urgent. One that is claimed meanwhile waits no longer: another is queued behind it.
        """
        self._changes.jobs = True
        for job in jobs:
            statement = _adding(
                self._connection.dialect.name,
                has_parameters=bool(job.parameters),
                is_urgent=job.is_urgent,
            )
            await self._connection.execute(statement, _values(job))

    async def of_syncs(self, sync_ids: Sequence[str]) -> list[SyncJob]:
        """Return the jobs of these syncs, waiting and running."""
        found: list[SyncJob] = []
        for start in range(0, len(sync_ids), _CHUNK):
            statement = _JOBS.where(SyncJobRow.sync_id.in_(sync_ids[start : start + _CHUNK]))
            found += [SyncJob(*row) for row in await self._connection.execute(statement)]
        return found

    async def count_waiting(self) -> int:
        """Return how many jobs wait, due or not; looks are not counted, for which nobody waits."""
        statement = (
            select(func.count())
            .select_from(SyncJobRow)
            .where(SyncJobRow.is_running.is_(False), SyncJobRow.kind != JobKind.LOOK)
        )
        return (await self._connection.execute(statement)).scalar_one()

    async def due(self, now: datetime) -> tuple[bool, datetime | None]:
        """Return whether a job waits that is due, and when the first is due that isn't yet; None if there is none."""
        is_any, due_at = (await self._connection.execute(_DUE, {"now": now})).one()
        return is_any, due_at

    async def after_run(self, sync_id: str, connection_id: str, kind: str, now: datetime) -> AfterRun:
        """Return what a run that ends has to know of other jobs, and of former places."""
        of_sync = {"sync_id": sync_id, "kind": kind}
        found = await self._connection.execute(_AFTER_RUN, {**of_sync, **_over(connection_id, now)})
        return AfterRun(*found.one())

    async def waiting_since(self, sync_id: str, kind: str) -> datetime | None:
        """Return when the job of the kind that waits for the sync was queued; None where none does."""
        found = await self._connection.execute(_WAITING, {"sync_id": sync_id, "kind": kind})
        return found.scalar_one_or_none()

    async def is_held(self, job: SyncJob, *, is_locked: bool = False) -> bool:
        """Return whether the process that claimed the job has it still; until the unit ends nobody takes it over.

        The sync is locked before its job, as everybody does, unless the unit has changed it already.
        """
        if not is_locked:
            await self._connection.execute(_LOCK_SYNC, {"sync_id": job.sync_id})
        return (await self._connection.execute(_LOCK_HELD, _held(job))).first() is not None

    async def retrying_over(self, connection_id: str, now: datetime) -> list[SyncJob]:
        """Return the jobs over a connection that wait for another attempt, those that would be next first.

        Those whose remote asked to wait aren't among them, nor those that were made due a short while ago.
        """
        statement = (
            _JOBS.where(*_RETRYING).order_by(SyncJobRow.due_at, SyncJobRow.id).limit(_HASTENED_AT_ONCE)
        )
        rows = await self._connection.execute(statement, _over(connection_id, now))
        return [SyncJob(*row) for row in rows]

    async def hasten(self, job_ids: Sequence[str], due_at: datetime, now: datetime) -> None:
        """Have waiting jobs be due then, unless they are sooner."""
        self._changes.jobs = True
        await self._connection.execute(
            update(SyncJobRow)
            .where(SyncJobRow.id.in_(job_ids), SyncJobRow.is_running.is_(False), SyncJobRow.due_at > due_at)
            .values(due_at=due_at, hastened_at=now)
        )

    async def release(
        self, job: SyncJob, due_at: datetime, *, attempt: int | None = None, parks: bool = False
    ) -> bool:
        """Have a running job wait again, as often begun as `attempt` says; False where it is held no more.

        One of its kind that was queued behind it is in it then, with what that wants beside its own, and with its
        time if it is urgent: new credentials don't wait for what the old ones failed at. Where it `parks` the
        remote asked for that time. Where `attempt` is given the job has another id from then on: a run of the former
        attempt, if there still is one, can't be taken for the next, not even where the same process begins that.
        """
        if not await self.is_held(job):
            return False
        behind = await self._connection.execute(
            delete(SyncJobRow)
            .where(
                SyncJobRow.sync_id == job.sync_id,
                SyncJobRow.kind == job.kind,
                SyncJobRow.is_running.is_(False),
            )
            .returning(SyncJobRow.parameters, SyncJobRow.due_at, SyncJobRow.is_urgent)
        )
        parameters, behind_at, is_urgent = behind.one_or_none() or ({}, due_at, False)
        await self._connection.execute(
            update(SyncJobRow)
            .where(SyncJobRow.id == job.id)
            .values(
                id=job.id if attempt is None else new_uuid(),
                is_running=False,
                attempt=job.attempt if attempt is None else attempt,
                parameters={**job.parameters, **parameters},
                claimed_by=None,
                lease_ends_at=None,
                due_at=min(due_at, behind_at) if is_urgent else due_at,
                parked_until=due_at if parks and not is_urgent else None,
                is_urgent=is_urgent,
            )
        )
        self._changes.jobs = True
        return True

    async def finish(self, job: SyncJob) -> bool:
        """Remove a running job; False where it is held no more: another process took it over, or its sync went."""
        deleted = await self._connection.execute(_FINISH, _held(job))
        # What waits behind it may run now.
        self._changes.jobs = True
        return deleted.first() is not None


@cache
def _adding(dialect: str, *, has_parameters: bool, is_urgent: bool) -> Insert:
    """Return a statement that stores a new job, or changes the one that waits already."""
    added = upserted(dialect, SyncJobRow)
    new = added.excluded
    sooner = (SyncJobRow.due_at > new.due_at, new.due_at)
    parked = (SyncJobRow.parked_until > new.due_at, SyncJobRow.due_at)
    changes: dict[str, Any] = {
        "connection_id": new.connection_id,
        "due_at": case(*([sooner] if is_urgent else [parked, sooner]), else_=SyncJobRow.due_at),
    }
    if has_parameters:
        changes["parameters"] = new.parameters
    if is_urgent:
        changes |= {"parked_until": None, "is_urgent": True}
    return added.on_conflict_do_update(
        index_elements=[SyncJobRow.sync_id, SyncJobRow.kind, SyncJobRow.is_running], set_=changes
    )


def _over(connection_id: str, now: datetime) -> dict[str, object]:
    """Return the parameters of `_RETRYING`."""
    return {"connection_id": connection_id, "now": now, "before": now - _HASTENED_AGAIN}


def _held(job: SyncJob) -> dict[str, object]:
    """Return the parameters of `_HELD`."""
    return {"job_id": job.id, "claimed_by": job.claimed_by, "attempt": job.attempt}


def _values(job: SyncJob) -> dict[str, Any]:
    names = [column.key for column in record_columns(SyncJobRow, SyncJob)]
    return {**{name: getattr(job, name) for name in names}, "parameters": dict(job.parameters)}
