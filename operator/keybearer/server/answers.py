"""Answers: built once, as bytes, by orjson. Nothing that was built here is validated again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta

import orjson
from starlette.responses import Response

__all__ = [
    "TRY_AGAIN",
    "json_response",
    "not_modified",
    "raw_json_response",
    "retry_after",
    "status_response",
]

TRY_AGAIN = timedelta(seconds=1)
"""What 503 asks for: the next moment may find the database free or back, or room for a connection."""
_JSON = "application/json"
_STATUS = {"message": "Ok"}
"""One operator takes a service for ready only if the message is exactly this."""


def json_response(content: Mapping[str, object], status: int = 200) -> Response:
    """Return the content as JSON."""
    return Response(orjson.dumps(content), status, media_type=_JSON)


def status_response() -> Response:
    """Return the answer to `GET /api/status`."""
    return json_response(_STATUS)


def retry_after(wait: timedelta) -> str:
    """Return the value of the header for this wait: whole seconds (RFC 9110 section 10.2.3)."""
    return str(math.ceil(wait.total_seconds()))


def raw_json_response(content: bytes, headers: Mapping[str, str]) -> Response:
    """Return bytes that are JSON already."""
    return Response(content, 200, headers, media_type=_JSON)


def not_modified(tag: str) -> Response:
    """Return 304: no body, and the tag (RFC 9110 section 15.4.5)."""
    return Response(status_code=304, headers={"etag": tag})
