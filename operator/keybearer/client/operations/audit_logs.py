"""The audit log: the published service's list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from keybearer.client.actors import AuditLog
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, instant_text, query_of
from keybearer.client.operation import Operation, Repeat

__all__ = ["ListAuditLogs"]


@from_wire
@dataclass(frozen=True, slots=True)
class _AuditLogsAnswer:
    """`{auditLogs}`."""

    audit_logs: tuple[AuditLog, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAuditLogs(Operation[list[AuditLog]]):
    """List what was done in the organization, the latest first.

    Attributes:
        project_id: of this project only.
        event_types: of these kinds only, such as `create-secret`.
        actor: the id of who did it.
        start, end: instants with a zone, inclusive.
        limit: 1 to 1000.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str | None = None
    event_types: tuple[str, ...] = ()
    actor: str | None = None
    actor_type: Literal["identity", "user", "unknown"] | None = None
    start: datetime | None = None
    end: datetime | None = None
    offset: int = 0
    limit: int = 20

    def request(self) -> Request:
        """Return what to send."""
        query = query_of(
            {
                "projectId": self.project_id,
                "eventType": self.event_types,
                "actor": self.actor,
                "actorType": self.actor_type,
                "startDate": instant_text("start", self.start),
                "endDate": instant_text("end", self.end),
                "offset": self.offset,
                "limit": self.limit,
            }
        )
        return Request("GET", "/api/v1/organization/audit-logs", query=query)

    def read(self, response: Response) -> list[AuditLog]:
        """Return the lines in the service's order."""
        return list(decode(response, _AuditLogsAnswer).audit_logs)
