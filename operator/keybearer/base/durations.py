"""Durations as the custom resources write them."""

from __future__ import annotations

import re
from datetime import timedelta

__all__ = ["DURATION_PATTERN", "parse_duration"]

DURATION_PATTERN = r"^(0|[0-9]+(s|m|h))$"
"""Digits and one unit, or a bare zero. RE2 syntax, so that the API server reads it the same way."""

_UNITS = {"s": 1, "m": 60, "h": 3600}
_MAX_DIGITS = 9  # int of a longer text is bounded work, but no interval of 30 years is meant


def parse_duration(text: str | int) -> timedelta:
    """Return the duration of a text such as `30s`, `5m`, `12h` or `0` (an int may only be 0).

    Raises:
        ValueError: the text is none of these; the message says what to write.
    """
    written = str(text)
    if not re.fullmatch(DURATION_PATTERN[1:-1], written) or len(written) > _MAX_DIGITS + 1:
        msg = "a duration is digits and one unit (s, m or h), for example 30s, 5m or 12h, or 0"
        raise ValueError(msg)
    if written == "0":
        return timedelta()
    return timedelta(seconds=int(written[:-1]) * _UNITS[written[-1]])
