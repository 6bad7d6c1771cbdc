"""What is written into the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from keybearer.base.ids import OrganizationId, ProjectId, new_uuid
from keybearer.store.many_rows import ManyRows
from keybearer.store.tables.audit import AuditLogRow

__all__ = ["AUDIT_ROWS", "AuditActor", "AuditDetail", "AuditEvent", "AuditFilter", "AuditRecord"]

AuditDetail = str | int | bool | None | list[str]
"""Names, ids, paths and counts. Never a value, a password or a token."""


@dataclass(frozen=True, slots=True)
class AuditActor:
    """Who did it; `organization_id` None where nobody knows whom an attempt was made for."""

    kind: str
    id: str | None
    name: str
    organization_id: OrganizationId | None


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What was done, by whom and from where."""

    event_type: str
    actor: AuditActor
    project_id: ProjectId | None
    ip_address: str | None
    user_agent: str
    request_id: str
    details: Mapping[str, AuditDetail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A line of the log."""

    id: str
    created_at: datetime
    organization_id: OrganizationId | None
    project_id: ProjectId | None
    actor_kind: str
    actor_id: str | None
    actor_name: str
    event_type: str
    ip_address: str | None
    user_agent: str
    request_id: str
    details: Mapping[str, AuditDetail]

    @classmethod
    def of(cls, event: AuditEvent, at: datetime) -> AuditRecord:
        """Return the line for an event of that instant."""
        return cls(
            id=new_uuid(),
            created_at=at,
            organization_id=event.actor.organization_id,
            project_id=event.project_id,
            actor_kind=event.actor.kind,
            actor_id=event.actor.id,
            actor_name=event.actor.name,
            event_type=event.event_type,
            ip_address=event.ip_address,
            user_agent=event.user_agent,
            request_id=event.request_id,
            details=event.details,
        )


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which lines are asked for; None and empty ask for all. Instants inclusive."""

    organization_id: OrganizationId
    project_id: ProjectId | None = None
    event_types: tuple[str, ...] = ()
    actor_id: str | None = None
    actor_kind: str | None = None
    start: datetime | None = None
    end: datetime | None = None


AUDIT_ROWS = ManyRows(AuditLogRow, AuditRecord, "chain", "sequence", "mac")
"""The columns of a record, and of its place in a chain."""
