"""What the audit log learns of refusals: who may not, and logins that failed.

Requests without a token, or with a bad one, are nobody's: they stand in the service's own log alone.
"""

from __future__ import annotations

from starlette.requests import Request

from keybearer.base.ids import ProjectId
from keybearer.domain.audit import EventType, audited
from keybearer.domain.errors import ForbiddenError, UnauthenticatedError
from keybearer.server.auth import known_principal_of
from keybearer.server.context import context_of
from keybearer.store.audit import AuditActor, AuditDetail, AuditEvent

__all__ = ["record_refusal"]

_UNKNOWN = AuditActor("unknown", None, "", None)
_LOGIN = "/login"


def record_refusal(request: Request, error: Exception) -> None:
    """Have the audit log tell of it, if it is one of these."""
    match error:
        case ForbiddenError():
            context_of(request).audit.refused(_denied(request, error))
        case UnauthenticatedError() if _route(request).endswith(_LOGIN):
            # The path names the method: /api/v1/auth/<method>/login, and of users /api/v3/auth/login.
            method = _route(request).removesuffix(_LOGIN).rpartition("/")[2]
            event = audited(
                _UNKNOWN,
                EventType.LOGIN_FAILED,
                method="user" if method == "auth" else method,
                reason=str(error),
                identityId=error.attempted,
            )
            context_of(request).audit.refused(event)


def _denied(request: Request, error: ForbiddenError) -> AuditEvent:
    denial = error.denial
    project_id = None if denial is None or denial.project_id is None else ProjectId(denial.project_id)
    details: dict[str, AuditDetail] = {"method": request.method, "route": _route(request)}
    if denial is not None:
        details.update(action=denial.action, subject=denial.subject)
        if denial.environment is not None:
            details.update(environment=denial.environment, secretPath=denial.path)
    elif error.name is not None:
        details.update(error=error.name)
    by = known_principal_of(request) or _UNKNOWN
    return audited(by, EventType.ACCESS_DENIED, project_id, **details)


def _route(request: Request) -> str:
    return getattr(request.scope.get("route"), "path", "")
