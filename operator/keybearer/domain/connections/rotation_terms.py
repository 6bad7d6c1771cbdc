"""When the credentials of a connection are made anew. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Self

from keybearer.domain.errors import InvalidError
from keybearer.store.app_connections import AppConnection

__all__ = ["NEVER", "Terms", "next_rotation"]


@dataclass(frozen=True, slots=True)
class Terms:
    """Every so many days, at a time of the day in UTC; None where that was never said."""

    is_automatic: bool = False
    interval_days: int | None = None
    hour: int | None = None
    minute: int | None = None

    @classmethod
    def of(cls, connection: AppConnection) -> Self:
        """Return the terms of a connection."""
        return cls(
            connection.is_auto_rotation_enabled,
            connection.rotation_interval_days,
            connection.rotation_hour,
            connection.rotation_minute,
        )

    @property
    def is_asked_for(self) -> bool:
        """Whether they say anything."""
        return self.is_automatic or self.interval_days is not None


NEVER = Terms()


def next_rotation(terms: Terms, now: datetime) -> datetime | None:
    """Return when credentials are made anew after now; None where they aren't by themselves.

    Raises:
        InvalidError: they should be, but nobody said when.
    """
    if not terms.is_automatic:
        return None
    if terms.interval_days is None or terms.hour is None or terms.minute is None:
        raise InvalidError("isAutoRotationEnabled needs a rotation with rotationInterval and rotateAtUtc")
    day = now.astimezone(UTC).date() + timedelta(days=terms.interval_days)
    return datetime.combine(day, time(terms.hour, terms.minute), UTC)
