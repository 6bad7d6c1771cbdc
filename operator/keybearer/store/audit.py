"""The audit log: what is written into it, and its repository."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import OrganizationId, ProjectId, new_uuid
from keybearer.store.columns import select_record
from keybearer.store.many_rows import ManyRows
from keybearer.store.revisions import Changes
from keybearer.store.tables.audit import AuditLogRow
from keybearer.store.tables.identities import OrganizationRow

__all__ = ["AUDIT_ROWS", "AuditActor", "AuditDetail", "AuditEvent", "AuditFilter", "AuditLog", "AuditRecord"]

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


AUDIT_ROWS = ManyRows(AuditLogRow, AuditRecord)
_RECORDS = select_record(AuditLogRow, AuditRecord)


class AuditLog:
    """Repository of the audit log."""

    def __init__(self, connection: AsyncConnection, changes: Changes) -> None:
        self._connection = connection
        self._changes = changes

    async def add(self, records: Iterable[AuditRecord]) -> None:
        """Store these lines. What nobody knows the organization of goes to the oldest one."""
        rows = list(records)
        if any(row.organization_id is None for row in rows):
            oldest = await self._oldest_organization()
            rows = [replace(row, organization_id=row.organization_id or oldest) for row in rows]
        if rows:
            await AUDIT_ROWS.insert(self._connection, [AUDIT_ROWS.row(row) for row in rows])
            self._changes.audit_lines += len(rows)

    async def remove(self, record_ids: Iterable[str]) -> None:
        """Remove these lines, those that are there."""
        await self._connection.execute(delete(AuditLogRow).where(AuditLogRow.id.in_(list(record_ids))))

    async def listed(self, wanted: AuditFilter, *, offset: int, limit: int) -> list[AuditRecord]:
        """Return the lines that are wanted, the latest first."""
        statement = (
            _RECORDS.where(*_conditions(wanted))
            .order_by(AuditLogRow.created_at.desc(), AuditLogRow.id)
            .offset(offset)
            .limit(limit)
        )
        return [AuditRecord(*row) for row in await self._connection.execute(statement)]

    async def prune(self, before: datetime, *, limit: int) -> int:
        """Remove up to `limit` lines older than the instant, and return how many there were."""
        oldest = (
            select(AuditLogRow.id)
            .where(AuditLogRow.created_at < before)
            .order_by(AuditLogRow.created_at)
            .limit(limit)
        )
        return (
            await self._connection.execute(delete(AuditLogRow).where(AuditLogRow.id.in_(oldest)))
        ).rowcount

    async def _oldest_organization(self) -> OrganizationId | None:
        statement = select(OrganizationRow.id).order_by(OrganizationRow.created_at, OrganizationRow.id)
        found = (await self._connection.execute(statement.limit(1))).scalar_one_or_none()
        return None if found is None else OrganizationId(found)


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    conditions = [AuditLogRow.organization_id == wanted.organization_id]
    if wanted.project_id is not None:
        conditions.append(AuditLogRow.project_id == wanted.project_id)
    if wanted.event_types:
        conditions.append(AuditLogRow.event_type.in_(wanted.event_types))
    if wanted.actor_id is not None:
        conditions.append(AuditLogRow.actor_id == wanted.actor_id)
    if wanted.actor_kind is not None:
        conditions.append(AuditLogRow.actor_kind == wanted.actor_kind)
    if wanted.start is not None:
        conditions.append(AuditLogRow.created_at >= wanted.start)
    if wanted.end is not None:
        conditions.append(AuditLogRow.created_at <= wanted.end)
    return conditions
