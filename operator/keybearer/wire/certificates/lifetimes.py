"""How long certificates live, as requests write it (wire.md section 5.1)."""

from __future__ import annotations

import re
from datetime import timedelta

__all__ = ["MAX_LIFETIME", "parse_ttl"]

_YEAR = timedelta(days=365.25)
MAX_LIFETIME = 100 * _YEAR

# The published parser knows these words, in any case, with or without an `s` where one may say so.
_UNITS: dict[str, timedelta] = {
    **dict.fromkeys(("years", "year", "yrs", "yr", "y"), _YEAR),
    **dict.fromkeys(("months", "month", "mo"), _YEAR / 12),
    **dict.fromkeys(("weeks", "week", "w"), timedelta(weeks=1)),
    **dict.fromkeys(("days", "day", "d"), timedelta(days=1)),
    **dict.fromkeys(("hours", "hour", "hrs", "hr", "h"), timedelta(hours=1)),
    **dict.fromkeys(("minutes", "minute", "mins", "min", "m"), timedelta(minutes=1)),
    **dict.fromkeys(("seconds", "second", "secs", "sec", "s"), timedelta(seconds=1)),
    **dict.fromkeys(("milliseconds", "millisecond", "msecs", "msec", "ms", ""), timedelta(milliseconds=1)),
}
_TTL = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?|\.[0-9]{1,20}) *([a-zA-Z]{0,12})", re.ASCII)
_NO_TTL = "TTL must be a positive duration of at most 100 years, for example 12h, 30d or 1y"


def parse_ttl(text: str) -> timedelta:
    """Return the lifetime that a text such as `30d`, `12h`, `1y` or `90 days` asks for.

    A number alone is in milliseconds, and `m` in minutes, as the published service reads them.

    Raises:
        ValueError: it is none, or not between nothing and 100 years; the message says what to write.
    """
    found = _TTL.fullmatch(text.strip())
    unit = None if found is None else _UNITS.get(found[2].lower())
    if found is None or unit is None:
        raise ValueError(_NO_TTL)
    try:
        ttl = float(found[1]) * unit
    except OverflowError:
        raise ValueError(_NO_TTL) from None
    if not timedelta() < ttl <= MAX_LIFETIME:
        raise ValueError(_NO_TTL)
    return ttl
