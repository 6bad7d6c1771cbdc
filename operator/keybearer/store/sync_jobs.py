"""Jobs of secret syncs: queued, claimed by one process, and done. A killed process loses none of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Select, case, delete, func, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from keybearer.store.columns import Instant, record_columns, select_record
from keybearer.store.tables.secret_syncs import SyncJobRow

__all__ = ["SyncJob", "SyncJobs"]

_CHUNK = 200


@dataclass(frozen=True, slots=True)
class SyncJob:
    """A job.

    Attributes:
        attempt: how often it was begun; 0 before the first time.
        due_at: not begun before.
        parameters: what the kind needs beside the sync, an import its behaviour for example.
        lease_ends_at: until when `claimed_by` has it, unless it says so again.
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


_JOBS = select_record(SyncJobRow, SyncJob)


class SyncJobs:
    """Repository of jobs."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, jobs: Iterable[SyncJob]) -> None:
        """Queue jobs; one of the kind that waits for the sync already is enough.

        That one takes the new parameters, and is due as soon as either. One that is claimed meanwhile is no longer
        waiting: another is queued behind it.
        """
        for job in jobs:
            hastened = await self._connection.execute(
                update(SyncJobRow)
                .where(
                    SyncJobRow.sync_id == job.sync_id,
                    SyncJobRow.kind == job.kind,
                    SyncJobRow.is_running.is_(False),
                )
                .values(
                    parameters=dict(job.parameters),
                    due_at=case(
                        (SyncJobRow.due_at > job.due_at, literal(job.due_at, Instant)),
                        else_=SyncJobRow.due_at,
                    ),
                )
                .returning(SyncJobRow.id)
            )
            if hastened.first() is None:
                await self._connection.execute(insert(SyncJobRow).values(_values(job)))

    async def of_syncs(self, sync_ids: Sequence[str]) -> list[SyncJob]:
        """Return the jobs of these syncs, waiting and running."""
        found: list[SyncJob] = []
        for start in range(0, len(sync_ids), _CHUNK):
            statement = _JOBS.where(SyncJobRow.sync_id.in_(sync_ids[start : start + _CHUNK]))
            found += [SyncJob(*row) for row in await self._connection.execute(statement)]
        return found

    async def claim(
        self, process_id: str, *, now: datetime, lease_ends_at: datetime, limit: int, per_connection: int
    ) -> list[SyncJob]:
        """Take jobs that are due for this process, the longest waiting first; no other process gets them.

        None is taken of a sync that has one running, and of a connection no more than `per_connection` run.
        """
        candidates = await self._connection.execute(_due(now, limit=limit * 4))
        running: dict[str, int] = {}
        syncs: set[str] = set()
        for sync_id, connection_id in await self._connection.execute(
            select(SyncJobRow.sync_id, SyncJobRow.connection_id).where(SyncJobRow.is_running.is_(True))
        ):
            syncs.add(sync_id)
            running[connection_id] = running.get(connection_id, 0) + 1
        claimed: list[SyncJob] = []
        for row in candidates:
            job = SyncJob(*row)
            if len(claimed) >= limit:
                break
            if job.sync_id in syncs or running.get(job.connection_id, 0) >= per_connection:
                continue
            syncs.add(job.sync_id)
            running[job.connection_id] = running.get(job.connection_id, 0) + 1
            claimed.append(job)
        for job in claimed:
            await self._connection.execute(
                update(SyncJobRow)
                .where(SyncJobRow.id == job.id)
                .values(
                    is_running=True,
                    attempt=SyncJobRow.attempt + 1,
                    claimed_by=process_id,
                    lease_ends_at=lease_ends_at,
                )
            )
        return claimed

    async def next_due(self) -> datetime | None:
        """Return when the next waiting job is due; None where none waits."""
        statement = select(func.min(SyncJobRow.due_at)).where(SyncJobRow.is_running.is_(False))
        return (await self._connection.execute(statement)).scalar_one()

    async def prolong(self, process_id: str, lease_ends_at: datetime) -> None:
        """Keep all that this process runs for longer."""
        await self._connection.execute(
            update(SyncJobRow)
            .where(SyncJobRow.claimed_by == process_id, SyncJobRow.is_running.is_(True))
            .values(lease_ends_at=lease_ends_at)
        )

    async def orphaned(self, now: datetime | None) -> list[SyncJob]:
        """Return running jobs whose process let its lease end; None: all that run, whoever has them."""
        statement = _JOBS.where(SyncJobRow.is_running.is_(True))
        if now is not None:
            statement = statement.where(SyncJobRow.lease_ends_at < now)
        return [SyncJob(*row) for row in await self._connection.execute(statement)]

    async def release(self, job: SyncJob, due_at: datetime) -> None:
        """Have a running job wait again; one of its kind that waits already takes its place."""
        other = select(SyncJobRow.id).where(
            SyncJobRow.sync_id == job.sync_id,
            SyncJobRow.kind == job.kind,
            SyncJobRow.is_running.is_(False),
        )
        if (await self._connection.execute(other)).first() is not None:
            await self.finish(job.id)
            return
        await self._connection.execute(
            update(SyncJobRow)
            .where(SyncJobRow.id == job.id)
            .values(is_running=False, claimed_by=None, lease_ends_at=None, due_at=due_at)
        )

    async def finish(self, job_id: str) -> bool:
        """Remove a job; False where it is gone already, because another process took it over or its sync went."""
        deleted = await self._connection.execute(
            delete(SyncJobRow).where(SyncJobRow.id == job_id).returning(SyncJobRow.id)
        )
        return deleted.first() is not None


def _due(now: datetime, *, limit: int) -> Select[*tuple[Any, ...]]:
    # Jobs of one sync run one after the other: what waits behind a running one isn't looked at.
    running = aliased(SyncJobRow)
    return (
        _JOBS.where(
            SyncJobRow.is_running.is_(False),
            SyncJobRow.due_at <= now,
            ~select(running.id)
            .where(running.sync_id == SyncJobRow.sync_id, running.is_running.is_(True))
            .exists(),
        )
        .order_by(SyncJobRow.due_at, SyncJobRow.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )


def _values(job: SyncJob) -> dict[str, Any]:
    names = [column.key for column in record_columns(SyncJobRow, SyncJob)]
    return {**{name: getattr(job, name) for name in names}, "parameters": dict(job.parameters)}
