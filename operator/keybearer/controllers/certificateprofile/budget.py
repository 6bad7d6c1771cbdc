"""The budget of certificates that make up for lost keys: so many within an hour. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from keybearer.controllers.certificateprofile.status import LostKeys

__all__ = ["mints_left", "with_mints"]

_HOUR = timedelta(hours=1)


def mints_left(used: LostKeys | None, budget: int, now: datetime) -> tuple[int, datetime | None]:
    """Return how many may be issued now, and when the hour ends of which some are used."""
    current = _of_this_hour(used, now)
    if current is None:
        return budget, None
    return max(budget - current.minted, 0), current.since + _HOUR


def with_mints(used: LostKeys | None, minted: int, now: datetime) -> LostKeys | None:
    """Return what is used after that many more were issued."""
    current = _of_this_hour(used, now)
    if minted == 0:
        return current
    if current is None:
        return LostKeys(since=now.replace(microsecond=0), minted=minted)
    return current.model_copy(update={"minted": current.minted + minted})


def _of_this_hour(used: LostKeys | None, now: datetime) -> LostKeys | None:
    # An hour that begins in the future was noted by a clock that was wrong.
    return used if used is not None and used.since <= now < used.since + _HOUR else None
