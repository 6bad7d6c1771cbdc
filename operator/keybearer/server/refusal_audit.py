"""What the audit log learns of refusals: who may not, logins that failed, and invitations of unknown emails.

Requests without a token, or with a bad one, are nobody's: they stand in the service's own log alone.
"""

from __future__ import annotations

from starlette.requests import Request

from keybearer.base.ids import ProjectId
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Principal
from keybearer.domain.errors import (
    ForbiddenError,
    TooManyUnknownEmailsError,
    UnauthenticatedError,
    UnknownEmailsError,
    WrongPasswordError,
)
from keybearer.server.auth import known_principal_of
from keybearer.server.context import context_of
from keybearer.store.audit import AuditActor, AuditDetail, AuditEvent

__all__ = ["record_refusal"]

_UNKNOWN = AuditActor("unknown", None, "", None)
_LOGIN = "/login"
_USER = "user"


def record_refusal(request: Request, error: Exception) -> None:
    """Have the audit log tell of it, if it is one of these."""
    match error:
        case ForbiddenError():
            context_of(request).audit.refused(_denied(request, error))
        case UnauthenticatedError() if _route(request).endswith(_LOGIN):
            # The path names the method: /api/v1/auth/<method>/login, and of users /api/v3/auth/login.
            method = _route(request).removesuffix(_LOGIN).rpartition("/")[2]
            context_of(request).audit.refused(_failed(_UNKNOWN, error, _USER if method == "auth" else method))
        case WrongPasswordError():
            by = known_principal_of(request) or _UNKNOWN
            context_of(request).audit.refused(_failed(by, error.refused, _USER))
        case UnknownEmailsError():
            context_of(request).audit.refused(_uninvited(request, error, "No user has one of the emails"))
        case TooManyUnknownEmailsError():
            context_of(request).audit.refused(_uninvited(request, error, "Too many unknown emails"))
        case _:
            pass  # nobody was refused, or nobody that is known


def _failed(by: Principal | AuditActor, error: UnauthenticatedError, method: str) -> AuditEvent:
    return audited(by, EventType.LOGIN_FAILED, method=method, reason=str(error), identityId=error.attempted)


def _uninvited(
    request: Request, error: UnknownEmailsError | TooManyUnknownEmailsError, reason: str
) -> AuditEvent:
    # As with logins, nothing of what was tried: whoever reads the log learns no more of emails than it knew.
    return audited(
        known_principal_of(request) or _UNKNOWN,
        EventType.INVITATION_REFUSED,
        ProjectId(error.project_id),
        reason=reason,
        numberOfEmails=error.emails,
    )


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
