"""Queues jobs of syncs; status and job change in one transaction (wire.md section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pydantic import JsonValue

from keybearer.base.ids import new_uuid
from keybearer.domain.syncs.outcomes import LostJobError
from keybearer.store.secret_syncs import JobKind, JobStatus, SecretSync, with_status
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.unit import UnitOfWork

__all__ = ["DELETES_SYNC", "IMPORT_BEHAVIOR", "REMOVES_FOREIGN", "queue", "queue_failed", "queue_look"]

IMPORT_BEHAVIOR = "importBehavior"
"""Parameter of an import: a value of `ImportBehavior`."""
DELETES_SYNC = "deletesSync"
"""Parameter of a removal: whether the sync itself is deleted after it succeeded."""
REMOVES_FOREIGN = "removesForeign"
"""Parameter of a push: whether foreign names that match the key schema are removed too, this once."""


async def queue(
    unit: UnitOfWork,
    sync: SecretSync,
    kind: JobKind,
    parameters: Mapping[str, JsonValue],
    now: datetime,
    *,
    due_at: datetime | None = None,
    afresh: bool = False,
    is_urgent: bool = False,
) -> SecretSync:
    """Queue a job for the sync, due at `due_at` or now; return the sync with its new status.

    If a job of this kind waits already, it takes these parameters and the earlier of both times. If one runs, another
    waits behind it, and the status stays `pending` when the first one ends. With `afresh` the run lists the
    destination, whatever is known of it. A job that `is_urgent` doesn't wait for the time that a remote asked for:
    people requested it, or the connection has new credentials.
    """
    # The status first: this locks the sync against others who queue for it.
    await unit.secret_syncs.queue(
        sync.record.id,
        kind,
        unpushed_since=now if kind is JobKind.SYNC else None,
        looks_anew=afresh,
    )
    job = _job(sync, kind, parameters, due_at or now, now)
    await unit.sync_jobs.add([replace(job, is_urgent=afresh or is_urgent)])
    return replace(sync, record=with_status(sync.record, kind, JobStatus.PENDING))


async def queue_look(unit: UnitOfWork, sync: SecretSync, due_at: datetime, now: datetime) -> None:
    """Queue a look at the destination of a locked sync, due at `due_at`; looks have no status."""
    await unit.sync_jobs.add([_job(sync, JobKind.LOOK, {}, due_at, now)])


async def queue_failed(unit: UnitOfWork, connection_id: str, now: datetime) -> None:
    """Queue again what failed or waits for another attempt over a connection, after it got new credentials.

    These are pushes of its syncs, and the clearing of former places. A job that runs may still use the old
    credentials, so another one follows it.
    """
    for sync in await unit.secret_syncs.failing_over(connection_id):
        await queue(unit, sync, JobKind.SYNC, {}, now, is_urgent=True)
    hastened = await unit.former_places.hasten(connection_id, now)
    for sync in await unit.secret_syncs.by_ids(hastened, for_change=True):
        await queue_look(unit, sync, now, now)


async def require_held(unit: UnitOfWork, job: SyncJob, *, is_locked: bool = False) -> None:
    """Return if this process still holds the job; `is_locked` says that the unit has changed its sync already.

    Raises:
        LostJobError: it doesn't.
    """
    if not await unit.sync_jobs.is_held(job, is_locked=is_locked):
        raise LostJobError("another process has the job")


def _job(
    sync: SecretSync, kind: JobKind, parameters: Mapping[str, JsonValue], due_at: datetime, now: datetime
) -> SyncJob:
    return SyncJob(
        id=new_uuid(),
        sync_id=sync.record.id,
        connection_id=sync.record.connection_id,
        kind=kind,
        is_running=False,
        attempt=0,
        parameters=parameters,
        due_at=due_at,
        claimed_by=None,
        lease_ends_at=None,
        created_at=now,
    )
