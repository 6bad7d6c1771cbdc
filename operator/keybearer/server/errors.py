"""The one table from errors to answers (interface.md section 7; words of `error` in wire.md section 8.2).

Nothing that a caller sent comes back: pydantic's issues are told without input, and what was not foreseen is
answered "Something went wrong" and logged by type and place, without its text.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from keybearer.base.logs import get_logger
from keybearer.domain.errors import (
    Denial,
    DomainError,
    ForbiddenError,
    InvalidError,
    LimitReachedError,
    NotFoundError,
    SchemaViolationError,
    UnauthenticatedError,
)
from keybearer.server.answers import TRY_AGAIN, json_response, retry_after
from keybearer.server.refusal_audit import record_refusal
from keybearer.server.request_scope import request_id_of
from keybearer.store.failures import BusyError, TooSlowError, UnavailableError, UnstorableTextError
from keybearer.store.sealing.envelope import AlteredDatabaseError, UnsealError
from keybearer.wire.base import length_told
from keybearer.wire.errors import ErrorBody, ValidationIssue

__all__ = ["BadRequestError", "add_error_handlers", "answer_to"]

_log = get_logger(__name__)


class BadRequestError(Exception):
    """A request that makes no sense before any rule of the domain is asked; answered with 400."""


@dataclass(frozen=True, slots=True)
class _Row:
    status: int
    word: str


_TABLE: Mapping[type[Exception], _Row] = {
    UnauthenticatedError: _Row(401, "UnauthorizedError"),
    ForbiddenError: _Row(403, "PermissionDenied"),
    NotFoundError: _Row(404, "NotFound"),
    InvalidError: _Row(400, "BadRequest"),
    SchemaViolationError: _Row(422, "ValidationFailure"),
    BadRequestError: _Row(400, "BadRequest"),
    UnstorableTextError: _Row(400, "BadRequest"),
    LimitReachedError: _Row(429, "RateLimitExceeded"),
    BusyError: _Row(503, "ServiceUnavailable"),
    UnavailableError: _Row(503, "ServiceUnavailable"),
    TooSlowError: _Row(504, "GatewayTimeoutError"),
    TimeoutError: _Row(504, "GatewayTimeoutError"),
}
_UNAVAILABLE = 503
_MAX_KINDS = 5
_OURS = f"{Path(__file__).parent.parent}{os.sep}"
_UNFORESEEN = "Something went wrong"
_PLACES = frozenset({"body", "query", "path"})
_UNOPENED = "A stored value can't be opened: the database is damaged, or of another service"

# Messages of pydantic that repeat a piece of the input, or speak of Python's types.
_TELLING = {
    "dict_type": "Input should be an object",
    "model_type": "Input should be an object",
    "model_attributes_type": "Input should be an object",
    "tuple_type": "Input should be a list",
    "union_tag_invalid": "Input is none of the known variants",
    "uuid_parsing": "Input should be a valid UUID",
    "datetime_from_date_parsing": "Input should be a valid datetime",
    "datetime_parsing": "Input should be a valid datetime",
    "date_from_datetime_parsing": "Input should be a valid date",
}


def add_error_handlers(app: FastAPI) -> None:
    """Have every error of the application answered in the one shape."""
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)


async def answer_to(request: Request, error: Exception) -> Response:
    """Return the answer to an error that was raised before the application; the request knows of both."""
    handler = next(_HANDLERS[kind] for kind in type(error).__mro__ if kind in _HANDLERS)
    return await handler(request, error)


async def _refused(request: Request, error: Exception) -> Response:
    record_refusal(request, error)
    row = next(_TABLE[kind] for kind in type(error).__mro__ if kind in _TABLE)
    message: str | list[ValidationIssue] = str(error) or "The request took too long"
    if isinstance(error, SchemaViolationError):
        message = [ValidationIssue(code="custom", path=[error.field], message=str(error))]
    name = error.name if isinstance(error, DomainError) else None
    wait = error.retry_after if isinstance(error, (LimitReachedError, UnauthenticatedError)) else None
    return _answer(request, row.status, name or row.word, message, _details(error), wait)


async def _malformed(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    issues: Sequence[ErrorDetails] = error.errors()
    if any(issue["type"] == "json_invalid" for issue in issues):
        return _answer(request, 400, "BadRequest", "The body is no valid JSON")
    parameters = request.scope.get("path_params", {})
    told = [_issue(issue, error.body, parameters) for issue in issues]
    return _answer(request, 422, "ValidationFailure", told)


async def _http(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    match error.status_code:
        case 404 | 405:
            # A known path under another method is an unknown route, as in the published service.
            message = f"Route {request.method}:{request.url.path} not found"
            return _answer(request, 404, "Not Found", message)
        case 408:
            response = _answer(request, 408, "RequestTimeout", error.detail)
            # Nobody waits for the rest of the body.
            response.headers["connection"] = "close"
            return response
        case 413:
            return _answer(request, 413, "PayloadTooLarge", error.detail)
        case status:
            return _answer(request, status, "BadRequest", "The request can't be read")


async def _unopened(request: Request, error: Exception) -> Response:
    _log_failure(request, error)
    return _answer(request, 400, "CryptographyError", _UNOPENED)


async def _altered(request: Request, error: Exception) -> Response:
    _log.error("database_altered", request_id=request_id_of(request.scope), reason=str(error))
    return _answer(request, 400, "CryptographyError", str(error))


async def _unforeseen(request: Request, error: Exception) -> Response:
    _log_failure(request, error)
    return _answer(request, 500, "InternalServerError", _UNFORESEEN)


_HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    **dict.fromkeys(_TABLE, _refused),
    RequestValidationError: _malformed,
    HTTPException: _http,
    AlteredDatabaseError: _altered,
    UnsealError: _unopened,
    Exception: _unforeseen,
}


def _log_failure(request: Request, error: Exception) -> None:
    # The text of an error that nobody foresaw may hold anything, drivers put parameters into theirs: the types
    # down to its cause, and the places in our own code, are enough to find it.
    _log.error(
        "request_failed",
        request_id=request_id_of(request.scope),
        kinds=_kinds(error),
        places=_places(error),
    )


def _kinds(error: BaseException) -> list[str]:
    kinds: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(kinds) < _MAX_KINDS:
        kinds.append(type(cause).__name__)
        cause = cause.__cause__
    return kinds


def _places(error: Exception) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if _OURS in frame.filename]
    shown = [*ours, *frames[-1:]]
    return list(dict.fromkeys(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in shown))


def _answer(
    request: Request,
    status: int,
    word: str,
    message: str | list[ValidationIssue],
    details: list[object] | None = None,
    wait: timedelta | None = None,
) -> Response:
    body = ErrorBody(req_id=request_id_of(request.scope), status_code=status, message=message, error=word)
    answered = body.model_dump(by_alias=True, exclude={"details"})
    if details:
        answered["details"] = details
    response = json_response(answered, status)
    if status == _UNAVAILABLE:
        wait = TRY_AGAIN
    if wait is not None:
        response.headers["retry-after"] = retry_after(wait)
    return response


def _details(error: Exception) -> list[object] | None:
    if isinstance(error, ForbiddenError) and error.denial is not None:
        return [_denial(error.denial)]
    if isinstance(error, (ForbiddenError, InvalidError)):
        return list(error.details)
    return None


def _denial(denial: Denial) -> dict[str, object]:
    conditions = {"environment": denial.environment, "secretPath": denial.path}
    return {
        "action": denial.action,
        "inverted": denial.inverted,
        "subject": denial.subject,
        "conditions": {name: value for name, value in conditions.items() if value is not None},
    }


def _issue(
    issue: ErrorDetails, body: object = None, parameters: Mapping[str, object] = MappingProxyType({})
) -> ValidationIssue:
    code = issue["type"]
    # The first part says where of the request; a field may be called `path` as well.
    place, *location = issue["loc"] or ("",)
    if place not in _PLACES:
        location = [place, *location]
    elif place == "path":
        location = [_parameter(part, parameters) for part in location]
    elif place == "body" and isinstance(body, Mapping):
        location = _written_path(location, body)
    message = length_told(issue) or _TELLING.get(code, issue["msg"]).removeprefix("Value error, ")
    return ValidationIssue(code=code, path=location, message=message)


def _parameter(name: int | str, parameters: Mapping[str, object]) -> int | str:
    """Return a parameter of the path as the interface calls it: `id` where there is no other one."""
    return "id" if len(parameters) == 1 and str(name).endswith("_id") else to_camel(str(name))


def _written_path(location: Sequence[int | str], body: object) -> list[int | str]:
    """Return the path as the body has it: of a choice of forms the parser names the one that was chosen as well.

    The last part may name what is missing.
    """
    path: list[int | str] = []
    for part in location[:-1]:
        inside: Mapping[int | str, object] = body if isinstance(body, Mapping) else {}
        if isinstance(body, list) and isinstance(part, int) and part < len(body):
            inside = {part: body[part]}
        if part in inside:
            body = inside[part]
            path.append(part)
    return [*path, *location[-1:]]
