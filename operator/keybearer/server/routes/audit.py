"""The audit log (the path and the shape are the published service's)."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.base.ids import ProjectId
from keybearer.domain.audit_list import AuditQuestion
from keybearer.domain.authorization import ActorKind
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.store.audit import AuditRecord
from keybearer.wire.audit import AuditLogList, AuditLogQuery
from keybearer.wire.base import write_instant

__all__ = ["router"]

router = new_router("Audit logs", AuthenticatedRoute)
_KINDS = {ActorKind.MACHINE: "identity", ActorKind.USER: "user"}
_STORED = {word: kind for kind, word in _KINDS.items()}
_PROGRAMS = ("cli", "k8-operator", "terraform")
"""User agents that have a word of their own in the published service; all others are `other`."""


@router.get(
    "/api/v1/organization/audit-logs",
    response_model=AuditLogList,
    openapi_extra=parameters_of(AuditLogQuery),
    summary="List the audit log",
)
async def list_audit_logs(request: Request) -> Response:
    query = query_of(request, AuditLogQuery)
    question = AuditQuestion(
        project_id=None if query.project_id is None else ProjectId(query.project_id),
        event_types=tuple(word.strip() for word in (query.event_type or "").split(",") if word.strip()),
        actor_id=query.actor,
        actor_kind=None if query.actor_type is None else _STORED.get(query.actor_type, query.actor_type),
        start=query.start_date,
        end=query.end_date,
        offset=query.offset,
        limit=query.limit,
    )
    records = await context_of(request).audit_list.answer(principal_of(request), question)
    return json_response({"auditLogs": [_record_json(record) for record in records]})


def _record_json(record: AuditRecord) -> dict[str, object]:
    instant = write_instant(record.created_at)
    return {
        "id": record.id,
        "orgId": record.organization_id,
        "projectId": record.project_id,
        "event": {"type": record.event_type, "metadata": record.details},
        "actor": _actor_json(record),
        "ipAddress": record.ip_address,
        "userAgent": record.user_agent,
        "userAgentType": _program(record.user_agent),
        "requestId": record.request_id,
        "createdAt": instant,
        "updatedAt": instant,
    }


def _actor_json(record: AuditRecord) -> dict[str, object]:
    if record.actor_kind == ActorKind.MACHINE and record.actor_id is None:
        return {"type": "platform", "metadata": {"name": record.actor_name}}
    match record.actor_kind:
        case ActorKind.MACHINE:
            return {
                "type": "identity",
                "metadata": {"identityId": record.actor_id, "name": record.actor_name},
            }
        case ActorKind.USER:
            return {"type": "user", "metadata": {"userId": record.actor_id, "username": record.actor_name}}
        case _:
            return {"type": "unknown", "metadata": {}}


def _program(user_agent: str) -> str:
    name = user_agent.partition("/")[0]
    return name if name in _PROGRAMS else "other"
