"""What apps say in JSON: one field of it, and their words about an error."""

from __future__ import annotations

import re

from pydantic import JsonValue

from keybearer.outbound.remote import RemoteAnswer, RemoteUnavailableError

__all__ = ["error_in", "field_of", "quoted"]

_QUOTED_MAX = 300


def field_of(content: JsonValue, name: str) -> JsonValue:
    """Return the field of an object; None where it has none, or is no object."""
    return content.get(name) if isinstance(content, dict) else None


def error_in(answer: RemoteAnswer) -> JsonValue:
    """Return what stands under `error`; None where nothing does, or the answer is no JSON."""
    try:
        return field_of(answer.json(), "error")
    except RemoteUnavailableError:
        return None


def quoted(answer: RemoteAnswer, sent: str) -> str | None:
    """Return the message of an error as it may be shown; None where there is none, or it repeats what was sent.

    Args:
        answer: with `error.message`.
        sent: the token of the request.
    """
    message = field_of(error_in(answer), "message")
    if not isinstance(message, str) or not message or (sent and sent in message):
        return None
    return re.sub(r"[^ -~]+", " ", message).strip()[:_QUOTED_MAX]
