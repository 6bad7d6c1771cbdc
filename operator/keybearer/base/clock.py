"""Time as a collaborator, so that decisions take their instant and tests take control of it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

__all__ = ["Clock", "SystemClock", "format_instant", "parse_instant"]


class Clock(Protocol):
    """What code that needs time is given."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards; only differences mean anything."""
        ...

    def boottime(self) -> float:
        """Return seconds since boot, suspended time included; used for lease deadlines."""
        ...


class SystemClock:
    """The clocks of the operating system."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never run backwards; only differences mean anything."""
        return time.monotonic()

    def boottime(self) -> float:
        """Return seconds since boot, suspended time included; used for lease deadlines."""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()


def format_instant(instant: datetime) -> str:
    """Return the instant as RFC 3339 in UTC with seconds, as Kubernetes writes `metav1.Time`."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_instant(text: str) -> datetime:
    """Return the aware UTC instant of an RFC 3339 text.

    Raises:
        ValueError: the text is no RFC 3339 instant, names no offset, or lies outside the years 1 to 9999 of UTC.
    """
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        msg = "the instant names no offset from UTC; write for example 2026-01-02T03:04:05Z"
        raise ValueError(msg)
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("the instant lies outside the years 1 to 9999 of UTC") from None
