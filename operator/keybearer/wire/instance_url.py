"""Where a remote is that anybody may run: a URL that the person who makes a connection names."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, StringConstraints

__all__ = ["InstanceUrl"]

_URL_MAX = 512


def _check(text: str) -> str:
    wrong = ValueError("Must be an http:// or https:// URL with a host, and neither user, query nor fragment")
    if any(not "!" <= character <= "~" for character in text) or {"\\", "?", "#", "@"} & set(text):
        raise wrong
    try:
        parts = urlsplit(text)
        has_place = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not has_place:
        raise wrong
    return text


InstanceUrl = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=_URL_MAX, pattern=r"\S"),
    AfterValidator(_check),
]
"""Kept as it was written, without the space around it. Whether its host may be called is the gate's to say."""
