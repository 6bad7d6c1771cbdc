"""Queueing what is to be done for a sync: its status and its job move in one transaction (wire.md section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pydantic import JsonValue

from keybearer.base.ids import new_uuid
from keybearer.store.secret_syncs import JobKind, JobStatus, SecretSync, with_status
from keybearer.store.sync_jobs import SyncJob
from keybearer.store.unit import UnitOfWork

__all__ = ["DELETES_SYNC", "IMPORT_BEHAVIOR", "REMOVES_FOREIGN", "queue", "queue_failed", "queue_look"]

IMPORT_BEHAVIOR = "importBehavior"
"""Parameter of an import: a word of `ImportBehavior`."""
DELETES_SYNC = "deletesSync"
"""Parameter of a removal: whether the sync itself goes once it succeeded."""

REMOVES_FOREIGN = "removesForeign"
"""Parameter of a push: whether names of others that the key schema makes go as well, this once."""


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
    """Have this done for the sync, from `due_at` on, at once by default; return it as it is then.

    What waits already is enough: it takes these parameters and the earlier of both times. While one of the kind
    runs, another waits behind it, so that whoever ends the running one leaves the status `pending`.
    `afresh` has the run look at the remote, whatever is known of it: people ask because they doubt it. What people
    ask for `is_urgent`, and so are new credentials: it doesn't wait for the time that a remote asked for.
    """
    # The status first: it is the lock that keeps two who queue for one sync apart.
    await unit.secret_syncs.move([sync.record.id], kind, {"status": JobStatus.PENDING})
    if kind is JobKind.SYNC:
        await unit.sync_backlog.begin(sync.record.id, now)
    if afresh:
        await unit.secret_syncs.look_anew(sync.record.id)
    job = _job(sync, kind, parameters, due_at or now, now)
    await unit.sync_jobs.add([replace(job, is_urgent=afresh or is_urgent)])
    return replace(sync, record=with_status(sync.record, kind, JobStatus.PENDING))


async def queue_look(unit: UnitOfWork, sync: SecretSync, due_at: datetime, now: datetime) -> None:
    """Have the service look at the remote of a sync that is locked, from `due_at` on; no status shows it."""
    await unit.sync_jobs.add([_job(sync, JobKind.LOOK, {}, due_at, now)])


async def queue_failed(unit: UnitOfWork, connection_id: str, now: datetime) -> None:
    """Have done what failed or is being tried again over a connection: what it fails for may be mended.

    These are pushes of its syncs, and what could not be removed at places that syncs left. A run that is under way
    may still use the old credentials: another follows it.
    """
    for sync in await unit.secret_syncs.failing_over(connection_id):
        await queue(unit, sync, JobKind.SYNC, {}, now, is_urgent=True)
    hastened = await unit.former_places.hasten(connection_id, now)
    for sync in await unit.secret_syncs.by_ids(hastened, for_change=True):
        await queue_look(unit, sync, now, now)


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
