"""Durations as programs in Go write them (time.ParseDuration), and as our kinds take them."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

from keybearer.controllers.resource_fields import DURATION_MAX, write_duration
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes

__all__ = ["INTERVAL_MIN", "carry_interval", "parse_go_duration"]

INTERVAL_MIN = timedelta(seconds=10)
"""The shortest refreshInterval that a SecretSync takes."""

_LENGTH_MAX = 64
_UNIT_SECONDS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
    # Not Go's, but the Infisical operator takes them.
    "d": Fraction(86_400),
    "w": Fraction(7 * 86_400),
}
_TERM = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d|w)")


def parse_go_duration(text: str) -> timedelta | None:
    """Return the duration of a text such as `1h0m0s`, cut to whole seconds; None where it is none, or too long."""
    if text == "0":
        return timedelta()
    terms = _TERM.findall(text) if len(text) <= _LENGTH_MAX else []
    if not terms or "".join(number + unit for number, unit in terms) != text:
        return None
    seconds = sum(Fraction(number) * _UNIT_SECONDS[unit] for number, unit in terms)
    return timedelta(seconds=int(seconds)) if seconds <= DURATION_MAX.total_seconds() else None


def carry_interval(part: Part, name: str, notes: Notes) -> str | None:
    """Return a field as a refreshInterval; None where it is absent, no duration, or zero."""
    given = part.text(name)
    if given is None:
        return None
    duration = parse_go_duration(given)
    if duration is None:
        notes.left_out(
            part.where(name), "is no duration that Keybearer takes", "Write digits and one unit, as in 5m."
        )
        return None
    if not duration:
        return None
    if duration < INTERVAL_MIN:
        notes.changed(
            part.where(name),
            "is raised to 10s, the shortest that is taken",
            "Changes arrive by events at once, so a longer interval loses nothing.",
        )
        duration = INTERVAL_MIN
    return write_duration(duration)
