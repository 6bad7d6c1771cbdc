"""Reads what remotes answer in JSON: fields and texts that may be anything, or not there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import orjson
from pydantic import JsonValue

from keybearer.destinations.remote import RemoteAnswer, RemoteUnavailableError

__all__ = ["exact_object", "field_of", "part_of", "says", "text_of", "text_or_none", "version_of"]


def exact_object(text: str | bytes) -> dict[str, JsonValue] | None:
    """Return a JSON object whose whole numbers stay as they are, of any size; None if the text is something else."""
    try:
        orjson.loads(text)  # is stricter than the standard library: no NaN, no lone surrogate
        content: JsonValue = json.loads(text)  # keeps such numbers, which orjson makes inexact
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def field_of(content: JsonValue, *names: str) -> JsonValue:
    """Return the field of an object, or of an object within it; None if there is no such field."""
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    return content


def text_or_none(content: JsonValue, *names: str) -> str | None:
    """Return the text in the field of an object, or of an object within it; None where there is no text."""
    found = field_of(content, *names)
    return found if isinstance(found, str) else None


def text_of(content: JsonValue, *names: str, may_be_empty: bool = False) -> str:
    """Return the text in the field of an object, or of an object within it.

    Raises:
        RemoteUnavailableError: it holds no text, or an empty one; what answers is hardly the remote that was meant.
    """
    found = text_or_none(content, *names)
    if found is None or not (found or may_be_empty):
        raise RemoteUnavailableError(f"the remote answers without {'.'.join(names)}")
    return found


def part_of(content: JsonValue, name: str, pattern: str) -> str:
    """Return the first group of a regular expression that the whole text in a field matches.

    Raises:
        RemoteUnavailableError: it doesn't match.
    """
    found = re.fullmatch(pattern, text_of(content, name))
    if found is None:
        raise RemoteUnavailableError(f"the remote answers with an unexpected form of {name}")
    return found[1]


def version_of(content: JsonValue, *names: str) -> str | None:
    """Return the version in a field, a number or a text, as a text; None if it holds neither."""
    found = field_of(content, *names)
    return str(found) if isinstance(found, str | int) else None


def says(status: int, text: str, *names: str) -> Callable[[RemoteAnswer], bool]:
    """Return a check: does an answer have that status, and that text in the field of these names, or anywhere?"""

    def said(answer: RemoteAnswer) -> bool:
        if answer.status != status or not names:
            return answer.status == status and text.encode() in answer.body
        return text in str(field_of(answer.json_or_none(), *names))

    return said
