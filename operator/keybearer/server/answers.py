"""Answers: built once, as bytes, by orjson. Nothing that was built here is validated again."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from starlette.responses import Response

__all__ = ["json_response", "not_modified", "raw_json_response"]

_JSON = "application/json"


def json_response(content: Mapping[str, object], status: int = 200) -> Response:
    """Return the content as JSON."""
    return Response(orjson.dumps(content), status, media_type=_JSON)


def raw_json_response(content: bytes, headers: Mapping[str, str]) -> Response:
    """Return bytes that are JSON already."""
    return Response(content, 200, headers, media_type=_JSON)


def not_modified(tag: str) -> Response:
    """Return 304: no body, and the tag (RFC 9110 section 15.4.5)."""
    return Response(status_code=304, headers={"etag": tag})
