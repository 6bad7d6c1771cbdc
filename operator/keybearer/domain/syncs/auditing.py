"""Audit events of secret syncs: who did what to which sync, never what was pushed."""

from __future__ import annotations

from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Principal
from keybearer.store.audit import AuditDetail, AuditEvent
from keybearer.store.secret_syncs import JobKind, SecretSync

__all__ = ["asked_event", "sync_event"]


def asked_event(
    principal: Principal, sync: SecretSync, kind: JobKind, /, **details: AuditDetail
) -> AuditEvent:
    """Return the event of a request for a job; the engine writes another event when the job ends."""
    return sync_event(principal, EventType.REQUEST_SECRET_SYNC_JOB, sync, job=kind.value, **details)


def sync_event(
    principal: Principal, kind: EventType, sync: SecretSync, /, **details: AuditDetail
) -> AuditEvent:
    """Return the event of a sync."""
    record = sync.record
    return audited(
        principal,
        kind,
        record.project_id,
        syncId=record.id,
        name=record.name,
        destination=record.destination,
        connectionId=record.connection_id,
        environment=sync.environment_slug,
        secretPath=sync.folder_path,
        **details,
    )
