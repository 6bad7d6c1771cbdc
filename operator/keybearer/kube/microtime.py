"""`metav1.MicroTime`, which Leases and Events carry."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["format_micro_time"]


def format_micro_time(instant: datetime) -> str:
    """Return the instant as RFC 3339 in UTC with microseconds, the only form the API server accepts."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
