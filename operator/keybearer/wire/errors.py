"""Error bodies (interface.md section 7; the words of `error` in wire.md section 8.2)."""

from __future__ import annotations

from pydantic import JsonValue

from keybearer.wire.base import WireModel

__all__ = ["ErrorBody", "ValidationIssue"]


class ValidationIssue(WireModel):
    """One violation of a schema; `message` of a 422 is a list of these. Never holds the input."""

    code: str
    path: list[str | int]
    message: str


class ErrorBody(WireModel):
    """Every error answer. `details` only with 400 and 403, and only when there are any."""

    req_id: str
    status_code: int
    message: str | list[ValidationIssue]
    error: str
    details: JsonValue = None
