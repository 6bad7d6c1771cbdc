"""Requests and responses as plain values: what an operation builds and reads, and what a shell carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import pydantic
from pydantic_core import ErrorDetails, PydanticSerializationError

from keybearer.client.errors import InvalidArgument
from keybearer.wire.base import WireModel, length_told

if TYPE_CHECKING:
    import httpx

__all__ = [
    "Method",
    "Query",
    "Request",
    "Response",
    "fill",
    "fill_named",
    "instant_text",
    "issues_of",
    "json_body",
    "query_of",
]

_ISSUES_MAX = 5
_NO_TEXT = "a text can't be written as UTF-8: it holds a lone surrogate"

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Query = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, but for the token and the service's address.

    Attributes:
        path: absolute from the service's root (`/api/...`), percent-encoded.
        query: names and values, not encoded.
        body: JSON, or nothing.
        headers: beside those that every request carries.
        streams: the answer to it, if it is a stream of events, is handed on open.
    """

    method: Method
    path: str
    query: Query = ()
    body: bytes | None = field(default=None, repr=False)
    headers: Query = ()
    streams: bool = False

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, whole; or `stream`, which is still to be read. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    stream: httpx.Response | None = field(default=None, repr=False)


def fill(template: str, *segments: str) -> str:
    """Return the path with each `{}` replaced by a percent-encoded segment.

    Raises:
        InvalidArgument: a segment is empty, `.` or `..`, which would name another path.
    """
    return template.format(*map(_segment, segments))


def fill_named(template: str, segments: Mapping[str, str]) -> str:
    """Return the path with each name in braces replaced by its percent-encoded segment, as `fill` does."""
    return template.format_map({name: _segment(segment) for name, segment in segments.items()})


def query_of(parameters: Mapping[str, str | int | bool | Sequence[str] | None]) -> Query:
    """Return the parameters as texts: None and empty lists left out, booleans in words, lists by comma.

    Raises:
        InvalidArgument: a text can't be written as UTF-8.
    """
    return tuple(
        (name, text) for name, value in parameters.items() if (text := _query_text(value)) is not None
    )


def instant_text(name: str, given: datetime | None) -> str | None:
    """Return an instant in ISO 8601 in UTC, or None for none; errors call it `name`.

    Raises:
        InvalidArgument: it tells no time zone.
    """
    if given is None:
        return None
    if given.tzinfo is None:
        raise InvalidArgument(f"{name} needs a time zone")
    return given.astimezone(UTC).isoformat().replace("+00:00", "Z")


def json_body(make: Callable[[], WireModel], *, nulls: bool = False) -> bytes:
    """Return the body that `make` makes as JSON in the wire's spelling, without what is not given.

    With `nulls`, a field that is given as None is sent as null: it takes away what is there.

    Raises:
        InvalidArgument: a field is out of the wire's bounds, or a text can't be written as UTF-8.
    """
    try:
        body = make()
        return body.model_dump_json(by_alias=True, exclude_none=not nulls, exclude_unset=nulls).encode()
    except pydantic.ValidationError as error:
        problem = issues_of(error)
    except PydanticSerializationError:
        problem = _NO_TEXT
    # Outside the handlers, so that the originals, which hold the values, don't travel as context.
    raise InvalidArgument(problem)


def issues_of(error: pydantic.ValidationError) -> str:
    """Return the first issues as `path: sentence`, without the input that pydantic would show."""
    issues = error.errors(include_url=False, include_input=False)
    shown = [
        f"{'.'.join(map(str, issue['loc'])) or 'body'}: {_sentence(issue)}" for issue in issues[:_ISSUES_MAX]
    ]
    more = len(issues) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _sentence(issue: ErrorDetails) -> str:
    return _NO_TEXT if issue["type"] == "string_unicode" else length_told(issue) or issue["msg"]


def _query_text(value: str | int | bool | Sequence[str] | None) -> str | None:  # noqa: FBT001 - it is a value
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _utf8(value)
    return _utf8(",".join(value)) if value else None


def _segment(given: str) -> str:
    if given in {"", ".", ".."}:
        raise InvalidArgument(f"{given!r} can't stand in a path; give a name or an id")
    return quote(_utf8(given), safe="")


def _utf8(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(_NO_TEXT) from error
    return text
