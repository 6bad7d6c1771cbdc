"""The audit log on the wire, in the shape of the published service's list."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from keybearer.wire.base import GivenInstant, WireInstant, WireModel

__all__ = [
    "AUDIT_LIMIT_MAX",
    "AUDIT_OFFSET_MAX",
    "AuditActor",
    "AuditEvent",
    "AuditLog",
    "AuditLogList",
    "AuditLogQuery",
]

AUDIT_LIMIT_MAX = 1000
AUDIT_OFFSET_MAX = 100_000


class AuditEvent(WireModel):
    """What happened; `metadata` holds names, ids and paths, never a value."""

    type: str
    metadata: dict[str, str | int | bool | list[str] | None]


class AuditActor(WireModel):
    """Who did it; `metadata` holds id and name, under the names that the kind of actor has.

    `platform` is the service itself: what it does by the clock, and what is done at its data directory.
    """

    type: Literal["identity", "user", "platform", "unknown"]
    metadata: dict[str, str | None]


class AuditLog(WireModel):
    """A line of the log."""

    id: str
    org_id: str | None
    project_id: str | None
    event: AuditEvent
    actor: AuditActor
    ip_address: str | None
    user_agent: str
    user_agent_type: str
    request_id: str
    created_at: WireInstant
    updated_at: WireInstant


class AuditLogList(WireModel):
    """`{auditLogs}`, the latest first."""

    audit_logs: list[AuditLog]


class AuditLogQuery(WireModel):
    """Query of GET /api/v1/organization/audit-logs: `eventType` may name several, with commas between."""

    project_id: str | None = None
    event_type: str | None = None
    actor: str | None = None
    actor_type: Literal["identity", "user", "unknown"] | None = None
    start_date: GivenInstant | None = None
    end_date: GivenInstant | None = None
    offset: Annotated[int, Field(ge=0, le=AUDIT_OFFSET_MAX)] = 0
    limit: Annotated[int, Field(ge=1, le=AUDIT_LIMIT_MAX)] = 20
