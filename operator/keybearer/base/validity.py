"""How long a policy lets certificates live, as it writes it (wire.md section 5.5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

__all__ = ["USUAL_DATING", "VALIDITY_PATTERN", "Dating", "parse_validity"]

VALIDITY_PATTERN = r"^\d+[hdmy]$"
_UNITS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365.25),
}
_MAX_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Dating:
    """How far the beginning of a certificate may be from the instant at which it is issued."""

    backdate: timedelta
    postdate: timedelta


USUAL_DATING = Dating(backdate=timedelta(minutes=5), postdate=timedelta(hours=1))
"""Where no policy says more: clocks differ, and who asks may be a little early."""


def parse_validity(text: str) -> timedelta:
    """Return the longest lifetime that a policy allows: digits and one of h, d, m (30 days) and y.

    Raises:
        ValueError: it is written otherwise.
    """
    if not re.fullmatch(r"[0-9]+[hdmy]", text, re.ASCII) or len(text) > _MAX_DIGITS + 1:
        msg = (
            "a validity is up to 7 digits and one of h (hours), d (days), m (months of 30 days) and y (years)"
        )
        raise ValueError(msg)
    try:
        return int(text[:-1]) * _UNITS[text[-1]]
    except OverflowError:
        return timedelta.max
