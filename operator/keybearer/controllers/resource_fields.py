"""Types of fields that several kinds have: durations, instants, names, and texts that are cut to fit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from keybearer.base.clock import format_instant, parse_instant
from keybearer.base.durations import DURATION_PATTERN, parse_duration

__all__ = [
    "DATA_KEY_PATTERN",
    "DNS_SUBDOMAIN_PATTERN",
    "DURATION_MAX",
    "Clipped",
    "Duration",
    "Instant",
    "ObjectName",
    "RefreshInterval",
    "clip",
    "reads_as_duration",
    "told_instant",
    "write_duration",
]

DNS_SUBDOMAIN_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
"""RFC 1123 subdomain, as Kubernetes demands of most names (at most 253 characters)."""
DATA_KEY_PATTERN = r"^[-._a-zA-Z0-9]+$"
"""A key of a Secret or ConfigMap, which must not be `.` or `..` or begin with `..` either
(IsConfigMapKey of k8s.io/apimachinery)."""

DURATION_MAX = timedelta(days=365)
_DURATION_LENGTH_MAX = 8
_WRITTEN_MAX = 32
"""So long a text is judged by the rule, which says what to write; a longer one is refused for its length alone."""
_INTERVAL_MIN = timedelta(seconds=10)

_DURATION_MESSAGE = "must be 0, or digits and one unit (s, m or h) as in 30s, 5m or 12h, at most 8760h"
_INTERVAL_MESSAGE = "must be at least 10s, or 0 to refresh only on change"


def _read_duration(given: object) -> object:
    if isinstance(given, timedelta):
        return given
    if isinstance(given, bool) or not isinstance(given, (str, int)) or len(str(given)) > _DURATION_LENGTH_MAX:
        raise ValueError(_DURATION_MESSAGE)
    try:
        duration = parse_duration(given)
    except ValueError:
        raise ValueError(_DURATION_MESSAGE) from None
    if duration > DURATION_MAX:
        raise ValueError(_DURATION_MESSAGE)
    return duration


def _at_least_interval(duration: timedelta) -> timedelta:
    if duration < _INTERVAL_MIN and duration:
        raise ValueError(_INTERVAL_MESSAGE)
    return duration


def write_duration(duration: timedelta) -> str:
    """Return the duration as manifests write it, in the largest unit that takes it whole."""
    seconds = int(duration.total_seconds())
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s" if seconds else "0"


# `type(self) == int` first: a bare 0 has no text to match. The API server evaluates a rule even where another
# one failed, so each lets pass what another reports. Hours are held to four digits before `duration` sees
# them: it overflows at 2,562,048 of them, with a message that helps nobody.
# Eight characters are the most that a duration has.
def reads_as_duration(field: str) -> str:
    """Return the CEL expression that tells whether a field is written as a duration."""
    return f"string({field}).matches('^(0|[0-9]{{1,7}}[sm]|0{{0,3}}[0-9]{{1,4}}h)$')"


_READS_AS_DURATION = reads_as_duration("self")
_IS_DURATION = (
    f"type(self) == int ? self == 0 : {_READS_AS_DURATION} && duration(string(self)) <= duration('8760h')"
)
_IS_INTERVAL = (
    f"type(self) == int || !{_READS_AS_DURATION} || duration(string(self)) == duration('0s')"
    " || duration(string(self)) >= duration('10s')"
)


def _duration_schema(*rules: tuple[str, str]) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "x-kubernetes-int-or-string": True,
            "pattern": DURATION_PATTERN,
            "maxLength": _WRITTEN_MAX,
            "x-kubernetes-validations": [{"rule": rule, "message": message} for rule, message in rules],
        }
    )


def _in_utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("the instant lies outside the years 1 to 9999 of UTC") from None


_DurationValue = Annotated[
    timedelta,
    Field(strict=False),
    BeforeValidator(_read_duration),
    PlainSerializer(write_duration, return_type=str),
]

Duration = Annotated[_DurationValue, _duration_schema((_IS_DURATION, _DURATION_MESSAGE))]
"""`30s`, `5m`, `12h` or `0` (quoted or not), at most a year."""

RefreshInterval = Annotated[
    _DurationValue,
    AfterValidator(_at_least_interval),
    _duration_schema((_IS_DURATION, _DURATION_MESSAGE), (_IS_INTERVAL, _INTERVAL_MESSAGE)),
]
"""A duration of at least 10 seconds, or `0`."""

ObjectName = Annotated[str, Field(min_length=1, max_length=253, pattern=DNS_SUBDOMAIN_PATTERN)]
"""The name of a Kubernetes object."""

Instant = Annotated[
    datetime,
    Field(strict=False),
    AfterValidator(_in_utc),
    PlainSerializer(format_instant, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""`metav1.Time`: RFC 3339 in UTC, whole seconds."""


def told_instant(text: str | None) -> datetime | None:
    """Return the instant that the service tells, in whole seconds as an `Instant` is; None where it tells none."""
    try:
        return parse_instant(text).replace(microsecond=0) if text else None
    except ValueError:
        return None


def clip(length: int) -> Callable[[object], object]:
    """Return a validator that cuts a text to the length, with a mark where it was cut."""

    def cut(given: object) -> object:
        if isinstance(given, str) and len(given) > length:
            return given[: length - 1] + "…"
        return given

    return cut


def Clipped(length: int) -> tuple[BeforeValidator, object]:  # noqa: N802 - reads as a type, like Field
    """Return the annotations of a text that is cut, not refused, when it is longer than `length`."""
    return BeforeValidator(clip(length)), Field(max_length=length)
