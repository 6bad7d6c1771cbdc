"""Answers that are errors, into errors (interface.md section 7; wire.md section 8).

What stands before a service answers errors too, in its own shapes; and a service may repeat what it was sent.
So nothing of a body is taken on trust: known fields only, of the right type, cut to a length, and with the
request's confidential texts blanked out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import urlsplit

import orjson
from pydantic import JsonValue

from keybearer.client.errors import (
    BadRequest,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerFailure,
    ServiceError,
    Unauthenticated,
    ValidationFailed,
)
from keybearer.client.messages import Request, Response

__all__ = ["is_token_refused", "refusal_of", "retry_after_of"]

_BODY_MAX = 256 * 1024
_TEXT_MAX = 1000
_ISSUES_MAX = 10
_DEPTH_MAX = 8
_BLANK_MIN = 4
"""Shorter texts are part of ordinary words; blanking them would tell more than it hides."""
_BLANK = "***"

_CLASSES: dict[int, type[ServiceError]] = {
    400: BadRequest,
    401: Unauthenticated,
    403: PermissionDenied,
    404: NotFound,
    422: ValidationFailed,
    429: RateLimited,
}


def refusal_of(
    response: Response, request: Request, confidential: Iterable[str], now: datetime
) -> ServiceError:
    """Return the error that the answer is."""
    body = _fields(response.body)
    secrets = sorted((text for text in confidential if len(text) >= _BLANK_MIN), key=len, reverse=True)
    message = _message(body.get("message")) or _fallback(response)
    return _class_of(response.status, body)(
        _clean(_blank(message, secrets)),
        status=response.status,
        error=_clean(_blank(_text(body.get("error")), secrets)),
        request_id=_clean(_blank(_text(body.get("reqId")), secrets)),
        details=_blank_all(body.get("details"), secrets),
        retry_after=retry_after_of(response, now),
        asked=str(request),
    )


def is_token_refused(response: Response) -> bool:
    """Tell whether a fresh login may help: 401, or 403 in the form published servers give expired tokens."""
    if response.status == 403:
        return _fields(response.body).get("error") == "TokenError"
    return response.status == 401


def retry_after_of(response: Response, now: datetime) -> timedelta | None:
    """Return the wait that the answer asks for: seconds or a date (RFC 9110 section 10.2.3).

    Servers that limit rates may give the seconds in `X-RateLimit-Reset` alone (wire.md section 8.3).
    """
    text = response.headers.get("retry-after", "").strip()
    if not text and response.status == 429:
        text = response.headers.get("x-ratelimit-reset", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        return _until(text, now)
    if not math.isfinite(seconds) or not 0 <= seconds <= timedelta.max.total_seconds() / 2:
        return None
    return timedelta(seconds=seconds)


def _until(text: str, now: datetime) -> timedelta | None:
    try:
        instant = parsedate_to_datetime(text)
    except ValueError:
        return None
    # A date without zone is GMT by RFC 9110 section 5.6.7.
    instant = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return max(instant - now, timedelta())


def _class_of(status: int, body: dict[str, JsonValue]) -> type[ServiceError]:
    if status == 403 and body.get("error") == "TokenError":
        return Unauthenticated
    return _CLASSES.get(status, ServerFailure if status >= 500 else ServiceError)


def _fields(body: bytes) -> dict[str, JsonValue]:
    if len(body) > _BODY_MAX:
        return {}
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}  # a page of a proxy: the status must do
    return content if isinstance(content, dict) else {}


def _message(given: JsonValue) -> str:
    if not isinstance(given, list):
        return _text(given)
    lines = [line for issue in given[:_ISSUES_MAX] if (line := _issue(issue))]
    more = len(given) - _ISSUES_MAX
    return "; ".join(lines) + (f"; and {more} more" if lines and more > 0 else "")


def _issue(issue: JsonValue) -> str:
    # Only these two of an issue's fields: others may hold the input (`received`, `input`).
    if not isinstance(issue, dict):
        return ""
    path = issue.get("path")
    steps = [str(step) for step in path if isinstance(step, (str, int))] if isinstance(path, list) else []
    return f"{'.'.join(steps) or 'request'}: {_text(issue.get('message')) or 'not valid'}"


def _fallback(response: Response) -> str:
    if 300 <= response.status < 400:
        target = urlsplit(response.headers.get("location", ""))
        where = f" to {target.scheme}://{target.hostname}" if target.scheme and target.hostname else ""
        return f"the service redirects{where}; redirects are not followed, so give the final address"
    try:
        return HTTPStatus(response.status).phrase
    except ValueError:
        return "no reason given"


def _text(given: JsonValue) -> str:
    return given if isinstance(given, str) else ""


def _clean(text: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in text[: _TEXT_MAX + 1])
    return printable if len(printable) <= _TEXT_MAX else f"{printable[:_TEXT_MAX]}..."


def _blank(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, _BLANK)
    return text


def _blank_all(given: JsonValue, secrets: list[str], depth: int = 0) -> JsonValue:
    if isinstance(given, str):
        return _blank(given, secrets)
    if depth >= _DEPTH_MAX:
        return None
    if isinstance(given, list):
        return [_blank_all(item, secrets, depth + 1) for item in given]
    if isinstance(given, dict):
        return {_blank(key, secrets): _blank_all(item, secrets, depth + 1) for key, item in given.items()}
    return given
