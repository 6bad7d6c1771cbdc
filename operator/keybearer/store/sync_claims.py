"""Which process runs which jobs of secret syncs: claims, and the leases under which they hold."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    bindparam,
    cast,
    func,
    literal,
    select,
    type_coerce,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from keybearer.base.clock import Clock
from keybearer.store.columns import Instant, record_columns, select_record
from keybearer.store.locks import Lock, take_lock
from keybearer.store.secret_syncs import JobKind
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.sync_turns import Tenant, Turns
from keybearer.store.tables.projects import ProjectRow
from keybearer.store.tables.secret_syncs import SecretSyncRow, SyncJobRow

__all__ = ["Leases", "SyncClaims"]

_MILLISECOND = timedelta(milliseconds=1)
_JOBS = select_record(SyncJobRow, SyncJob)
_OTHER = aliased(SyncJobRow)
# Each claim asks for these: they are built once.
_STARTABLE = (
    SyncJobRow.is_running.is_(False),
    # One of a newer version waits for that.
    SyncJobRow.kind.in_([kind.value for kind in JobKind]),
    SyncJobRow.due_at <= bindparam("now"),
    SyncJobRow.connection_id.not_in(bindparam("full", expanding=True)),
    # Jobs of one sync run one after the other: what waits behind a running one isn't looked at.
    ~select(_OTHER.id).where(_OTHER.sync_id == SyncJobRow.sync_id, _OTHER.is_running.is_(True)).exists(),
)
_RUNNING = (
    select(
        SyncJobRow.connection_id,
        SyncJobRow.claimed_by,
        ProjectRow.organization_id,
        SecretSyncRow.project_id,
    )
    .join(SecretSyncRow, SecretSyncRow.id == SyncJobRow.sync_id)
    .join(ProjectRow, ProjectRow.id == SecretSyncRow.project_id)
    .where(SyncJobRow.is_running.is_(True))
)
_WAITING_TENANTS = (
    select(ProjectRow.organization_id, SecretSyncRow.project_id)
    .join_from(SyncJobRow, SecretSyncRow, SecretSyncRow.id == SyncJobRow.sync_id)
    .join(ProjectRow, ProjectRow.id == SecretSyncRow.project_id)
    .where(*_STARTABLE)
    .group_by(ProjectRow.organization_id, SecretSyncRow.project_id)
    .order_by(func.min(SyncJobRow.due_at), SecretSyncRow.project_id)
)
_DUE = (
    _JOBS.join(SecretSyncRow, SecretSyncRow.id == SyncJobRow.sync_id)
    .where(SecretSyncRow.project_id == bindparam("project_id"), *_STARTABLE)
    .order_by(SyncJobRow.due_at, SyncJobRow.id)
    .limit(bindparam("limit", type_=Integer))
)
# Not now(): a transaction may have waited for a lock since it began.
_CLOCK = cast(func.extract("epoch", func.clock_timestamp()) * 1000, BigInteger)
_LEASES = select(
    SyncJobRow.id, SyncJobRow.claimed_by, SyncJobRow.lease_ends_at, type_coerce(_CLOCK, Instant).label("now")
).where(SyncJobRow.is_running.is_(True), SyncJobRow.lease_ends_at.is_not(None))
_LOCK = (
    select(SecretSyncRow.id)
    .where(SecretSyncRow.id.in_(bindparam("sync_ids", expanding=True)))
    .with_for_update(skip_locked=True)
)


@dataclass(frozen=True, slots=True)
class _Running:
    """What runs: for each connection in all processes, for each tenant in one."""

    connections: Counter[str] = field(default_factory=Counter)
    tenants: Counter[Tenant] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Leases:
    """The leases of running jobs.

    Attributes:
        ended: ids of running jobs whose process let its lease end.
        next_end: how long the first lease of another process lasts if nobody prolongs it; None where none has any.
    """

    ended: frozenset[str]
    next_end: timedelta | None


class SyncClaims:
    """Repository of who runs what.

    Leases begin and end by PostgreSQL's clock: those of processes may be minutes apart, and none may take over what
    another runs. On SQLite there is one process, and one clock.
    """

    def __init__(self, connection: AsyncConnection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    async def claim(
        self,
        process_id: str,
        *,
        now: datetime,
        lease: timedelta,
        limit: int,
        per_connection: int,
        turns: Turns,
    ) -> list[SyncJob]:
        """Take jobs that are due for this process, by turns of whose they are; no other process gets them.

        None is taken of a sync that has one running, and of a connection no more than `per_connection` run, in all
        processes together. Of one project the longest waiting comes first.
        """
        # One claim at a time: how many run of a connection is counted, and then acted upon.
        await take_lock(self._connection, Lock.SYNC_CLAIMS)
        running = await self._running(process_id)
        claimed: list[SyncJob] = []
        while len(claimed) < limit:
            # Asked again until enough are found: a connection that is full must not hide the others behind it.
            chosen, is_all = await self._choose(now, limit - len(claimed), per_connection, turns, running)
            taken = await self._take(chosen, process_id, lease)
            claimed += taken
            if not taken or (is_all and len(taken) == len(chosen)):
                break
        return claimed

    async def _running(self, process_id: str) -> _Running:
        running = _Running()
        for connection_id, claimed_by, organization_id, project_id in await self._connection.execute(
            _RUNNING
        ):
            running.connections[connection_id] += 1
            if claimed_by == process_id:
                running.tenants[Tenant(organization_id, project_id)] += 1
        return running

    async def _choose(
        self, now: datetime, limit: int, per_connection: int, turns: Turns, running: _Running
    ) -> tuple[Mapping[str, SyncJob], bool]:
        """Return jobs that may begin, by their sync, and whether no other may; they count as running from now on."""
        full = [
            connection_id for connection_id, count in running.connections.items() if count >= per_connection
        ]
        startable = {"now": now, "full": full}
        rows = await self._connection.execute(_WAITING_TENANTS, startable)
        waiting = {Tenant(*row): deque[SyncJob]() for row in rows}
        asked: set[Tenant] = set()
        is_all = True
        chosen: dict[str, SyncJob] = {}
        while len(chosen) < limit:
            tenant = turns.next(waiting, running.tenants)
            if tenant is None:
                break
            queue = waiting[tenant]
            if tenant not in asked:
                asked.add(tenant)
                due = {**startable, "project_id": tenant.project_id, "limit": limit}
                queue.extend(SyncJob(*row) for row in await self._connection.execute(_DUE, due))
                is_all = is_all and len(queue) < limit
            while queue and (
                queue[0].sync_id in chosen or running.connections[queue[0].connection_id] >= per_connection
            ):
                queue.popleft()
            if not queue:
                # What else it has is looked for again, if there is room then.
                del waiting[tenant]
                continue
            job = queue.popleft()
            chosen[job.sync_id] = job
            running.connections[job.connection_id] += 1
            running.tenants[tenant] += 1
            turns.took(tenant)
        return chosen, is_all

    async def _take(self, chosen: Mapping[str, SyncJob], process_id: str, lease: timedelta) -> list[SyncJob]:
        if not chosen:
            return []
        # The sync before its job, as everybody does; one that somebody is just changing has its turn later.
        locked = await self._connection.execute(_LOCK, {"sync_ids": list(chosen)})
        taken = await self._connection.execute(
            update(SyncJobRow)
            .where(
                SyncJobRow.id.in_([chosen[sync_id].id for sync_id in locked.scalars()]),
                SyncJobRow.is_running.is_(False),
            )
            .values(
                is_running=True,
                attempt=SyncJobRow.attempt + 1,
                claimed_by=process_id,
                lease_ends_at=self._instant(lease),
            )
            .returning(*record_columns(SyncJobRow, SyncJob))
        )
        return [SyncJob(*row) for row in taken]

    async def prolong(self, process_id: str, lease: timedelta) -> set[str]:
        """Keep all that this process runs for so long from now on; return the ids of these jobs."""
        kept = await self._connection.execute(
            update(SyncJobRow)
            .where(SyncJobRow.claimed_by == process_id, SyncJobRow.is_running.is_(True))
            .values(lease_ends_at=self._instant(lease))
            .returning(SyncJobRow.id)
        )
        return set(kept.scalars())

    async def orphaned(self) -> list[SyncJob]:
        """Return running jobs whose process let its lease end."""
        return await self._that_run(SyncJobRow.lease_ends_at < self._instant())

    async def leases(self, process_id: str) -> Leases:
        """Return the leases of all running jobs; only PostgreSQL has those of other processes than this."""
        rows = (await self._connection.execute(_LEASES)).all()
        return Leases(
            frozenset(row.id for row in rows if row.lease_ends_at < row.now),
            min(
                (
                    max(row.lease_ends_at - row.now, timedelta(0))
                    for row in rows
                    if row.claimed_by != process_id
                ),
                default=None,
            ),
        )

    async def running(self) -> list[SyncJob]:
        """Return all that run, whoever has them."""
        return await self._that_run()

    async def _that_run(self, *conditions: ColumnElement[bool]) -> list[SyncJob]:
        statement = _JOBS.where(SyncJobRow.is_running.is_(True), *conditions)
        return [SyncJob(*row) for row in await self._connection.execute(statement)]

    def _instant(self, after: timedelta = timedelta(0)) -> ColumnElement[datetime]:
        """Return now, or so long after, by the clock that all processes share."""
        if self._connection.dialect.name != "postgresql":
            return literal(self._clock.now() + after, Instant)
        return type_coerce(_CLOCK + literal(after // _MILLISECOND, BigInteger), Instant)
