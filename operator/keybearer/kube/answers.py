"""Turns a refusal of the API server into our error, without anything it may echo.

The server's message is never taken over: an answer about a Secret may quote its values (`Invalid value:
"..."`), and an admission webhook may write what it likes. Kept are the machine-readable reason, field paths,
names of field managers, and the known shapes of a few messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    FieldConflict,
    ForbiddenError,
    GoneError,
    InvalidError,
    KubeError,
    NotFoundError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
)

__all__ = ["error_of_answer"]

_MAX_CAUSES = 20
_MAX_TEXT = 200
_MAX_MESSAGE = 1000

# Who may not do what, as RBAC says it, and which quota is exceeded: names and numbers only.
_RBAC = re.compile(
    r'User "[^"]{1,200}" cannot \w+ resource "[^"]{1,200}" in API group "[^"]{0,200}"'
    r'(?: in the namespace "[^"]{1,100}"| at the cluster scope)?'
)
_QUOTA = re.compile(r"exceeded quota: [a-z0-9.-]{1,253}")
_COUNTS = r"((?:[a-z0-9./-]{1,253}=[0-9]{1,9}[kM]?,?){1,20})"
_QUOTA_COUNTS = re.compile(
    rf"exceeded quota: [a-z0-9.-]{{1,253}}, requested: {_COUNTS}, used: {_COUNTS}, limited: {_COUNTS}"
)
_WEBHOOK = re.compile(r'admission webhook "([^"]{1,253})"')
_WEBHOOK_DOWN = re.compile(r'failed calling webhook "([^"]{1,253})"')
_POLICY = re.compile(r"ValidatingAdmissionPolicy '([^']{1,253})'")
_APPLY_MISFIT = re.compile(
    r"failed to (?:create typed patch object|convert new object) "
    r"\((?:[^)]*\): (\.[^: ]+): (?:expected|field not declared))?"
)
"""So a server-side apply begins its answer, a 500, to a body that does not fit; what follows quotes the body."""

_MANAGER = re.compile(r'conflict with "((?:[^"\\]|\\.){1,128})"')


@dataclass(frozen=True, slots=True)
class _Cause:
    reason: str
    message: str
    field: str


@dataclass(frozen=True, slots=True)
class _Status:
    """The parts of a `metav1.Status` that decide; `message` is only matched, never passed on."""

    reason: str
    message: str
    causes: tuple[_Cause, ...]
    retry_after: float | None


def error_of_answer(subject: str, status: int, body: bytes, retry_after: float | None = None) -> KubeError:
    """Return the error that an answer of 300 or more stands for.

    Args:
        subject: what was done to which object, such as `apply Secret team-a/db`; begins the message.
        status: the HTTP status.
        body: the body, a `metav1.Status` or anything else.
        retry_after: the seconds of the header, when there was one.
    """
    said = _read_status(body)
    if status == 429:
        wait = retry_after if retry_after is not None else said.retry_after
        return TooManyRequestsError(
            f"{subject}: the API server sheds load", retry_after=1.0 if wait is None else wait
        )
    build = _BUILDERS.get(status)
    if build is not None:
        return build(subject, status, said)
    if misfit := _APPLY_MISFIT.match(said.message):
        return _refused(subject, status, said, (misfit[1],) if misfit[1] else ())
    kind = UnavailableError if status >= 500 else KubeError
    what = f"{subject}: the API server answered {status} {said.reason}".rstrip()
    if found := _WEBHOOK_DOWN.search(said.message):
        what = f"{subject}: the admission webhook {found[1]} does not answer"
    return kind(what, status=status, reason=said.reason)


def _unauthorized(subject: str, status: int, said: _Status) -> KubeError:
    what = f"{subject}: the API server does not accept our credentials"
    return UnauthorizedError(what, status=status, reason=said.reason)


def _not_found(subject: str, status: int, said: _Status) -> KubeError:
    return NotFoundError(f"{subject}: not found", status=status, reason=said.reason)


def _gone(subject: str, status: int, said: _Status) -> KubeError:
    return GoneError(f"{subject}: what it continues has expired", status=status, reason=said.reason)


def _forbidden(subject: str, status: int, said: _Status) -> KubeError:
    terminating = any(cause.reason == "NamespaceTerminating" for cause in said.causes)
    if terminating:
        why = "the namespace is being deleted"
    elif found := _RBAC.search(said.message) or _QUOTA.search(said.message):
        why = found[0]
    else:
        why = _admission(said.message) or "forbidden; the API server's audit log says why"
    return ForbiddenError(
        f"{subject}: {why}",
        status=status,
        reason=said.reason,
        namespace_terminating=terminating,
        over_quota_by=_over_quota_by(said.message),
    )


def _over_quota_by(message: str) -> int | None:
    """Return how many objects more than a quota allows there would be; None for another refusal, or another quota."""
    found = _QUOTA_COUNTS.search(message)
    if found is None:
        return None
    requested, used, limited = (dict(map(_count, part.strip(",").split(","))) for part in found.groups())
    return max(requested[name] + used.get(name, 0) - limited.get(name, 0) for name in requested)


def _count(pair: str) -> tuple[str, int]:
    name, _, number = pair.partition("=")
    # A Quantity of Kubernetes: 1000 is written as 1k.
    scale = {"k": 1000, "M": 1_000_000}.get(number[-1:], 1)
    return name, int(number.rstrip("kM")) * scale


def _conflict(subject: str, status: int, said: _Status) -> KubeError:
    if said.reason == "AlreadyExists":
        return AlreadyExistsError(f"{subject}: exists already", status=status, reason=said.reason)
    found = [(_MANAGER.search(cause.message), cause.field) for cause in said.causes]
    causes = tuple(FieldConflict(manager[1], field) for manager, field in found if manager)
    if causes:
        fields = ", ".join(f"{cause.field} (by {cause.manager})" for cause in causes)
        why = f"fields that others manage: {fields}"
    else:
        why = "the object has changed, is another one of the same name, or is gone"
    return ConflictError(f"{subject}: {why}"[:_MAX_MESSAGE], status=status, reason=said.reason, causes=causes)


def _invalid(subject: str, status: int, said: _Status) -> KubeError:
    fields = tuple(dict.fromkeys(cause.field for cause in said.causes if cause.field))
    if fields == ("metadata.uid",):
        # How a patch with the uid of another object is refused; with one that is gone, it is a 409.
        return ConflictError(
            f"{subject}: it is another object of the same name", status=status, reason=said.reason
        )
    return _refused(subject, status, said, fields)


def _refused(subject: str, status: int, said: _Status, fields: tuple[str, ...]) -> KubeError:
    if fields:
        why = f"refused fields: {', '.join(fields)}"
    else:
        why = _admission(said.message) or f"the API server does not accept it ({said.reason or status})"
    return InvalidError(f"{subject}: {why}"[:_MAX_MESSAGE], status=status, reason=said.reason, fields=fields)


def _admission(message: str) -> str | None:
    if found := _WEBHOOK.search(message):
        return f"refused by the admission webhook {found[1]}"
    if found := _POLICY.search(message):
        return f"refused by the ValidatingAdmissionPolicy {found[1]}"
    return None


_BUILDERS: dict[int, Callable[[str, int, _Status], KubeError]] = {
    400: _invalid,
    401: _unauthorized,
    403: _forbidden,
    404: _not_found,
    409: _conflict,
    410: _gone,
    413: _invalid,
    422: _invalid,
}


def _read_status(body: bytes) -> _Status:
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        parsed = None  # a proxy's page, or a handler that answers in text
    if not isinstance(parsed, dict) or parsed.get("kind") != "Status":
        return _Status("", "", (), None)
    details = parsed.get("details")
    details = details if isinstance(details, dict) else {}
    causes = details.get("causes")
    causes = causes[:_MAX_CAUSES] if isinstance(causes, list) else []
    seconds = details.get("retryAfterSeconds")
    return _Status(
        reason=_text(parsed.get("reason")),
        message=_text(parsed.get("message"), 4096),
        causes=tuple(
            _Cause(_text(cause.get("reason")), _text(cause.get("message"), 1024), _text(cause.get("field")))
            for cause in causes
            if isinstance(cause, dict)
        ),
        retry_after=float(seconds) if isinstance(seconds, int) and seconds > 0 else None,
    )


def _text(value: object, most: int = _MAX_TEXT) -> str:
    return value[:most] if isinstance(value, str) else ""
