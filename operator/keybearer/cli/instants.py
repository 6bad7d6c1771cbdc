"""Instants as people give them to commands."""

from __future__ import annotations

from datetime import UTC, datetime

from keybearer.base.clock import parse_instant
from keybearer.base.durations import parse_duration
from keybearer.base.errors import ConfigurationError

__all__ = ["since_of"]


def since_of(text: str) -> datetime:
    """Return the instant of `--since`: so long ago, or by itself.

    Raises:
        ConfigurationError: it is none.
    """
    try:
        return datetime.now(UTC) - parse_duration(text)
    except OverflowError as error:
        raise ConfigurationError(f"--since {text!r} lies before the year 1") from error
    except ValueError:
        pass
    try:
        return parse_instant(text)
    except ValueError as error:
        raise ConfigurationError(f"--since {text!r} is neither 30m, 24h nor 2026-01-02T03:04:05Z") from error
