"""When: renewals, spread so that not all come at once, and attempts after failures. Pure."""

from __future__ import annotations

import hashlib
import random
from datetime import datetime, timedelta

from keybearer.base.backoff import Backoff

__all__ = ["next_attempt", "poll_interval", "renewal_time", "spread"]

_SHARE = 2 / 3
_EARLIER = 0.15
"""By which part of the time until a renewal is due it is moved forward at most."""
_ATTEMPTS = Backoff(floor=timedelta(minutes=1), ceiling=timedelta(hours=32))
_REJECTED_FAILURES = 7
"""A person's refusal counts as this many failures: the next request comes after an hour at the earliest."""
_POLL_FLOOR = timedelta(seconds=1)
_POLL_CEILING = timedelta(minutes=2)
_WORD = 2**64


def spread(uid: str, name: str) -> float:
    """Return a number from 0 up to 1 that stays the same for a certificate, and is evenly spread over many."""
    digest = hashlib.sha256(f"{uid}/{name}".encode()).digest()
    return int.from_bytes(digest[:8]) / _WORD


def renewal_time(
    not_before: datetime, not_after: datetime, renew_before: timedelta | None, share: float
) -> datetime:
    """Return when a certificate is renewed: when due, or up to 15 percent of the time until then earlier.

    Args:
        not_before: when it became valid.
        not_after: when it ends.
        renew_before: how long before its end it is due; None, or what is longer than it lives: after two thirds
            of its lifetime.
        share: from `spread`.
    """
    lifetime = max(not_after - not_before, timedelta())
    until_due = lifetime * _SHARE
    if renew_before is not None and timedelta() < renew_before < lifetime:
        until_due = lifetime - renew_before
    # Whole seconds, as a status holds them: otherwise what is due now would be due again after a restart.
    return (not_before + until_due * (1 - _EARLIER * share)).replace(microsecond=0)


def next_attempt(now: datetime, failures: int, rng: random.Random, *, rejected: bool = False) -> datetime:
    """Return when what failed that often in a row is asked for again: after 1 minute, doubled up to 32 hours."""
    counted = max(failures, _REJECTED_FAILURES) if rejected else failures
    return (now + _ATTEMPTS.delay(counted, rng)).replace(microsecond=0)


def poll_interval(waited: timedelta) -> timedelta:
    """Return how long to wait before an open request is looked at again: the longer it is open, the longer."""
    return min(max(waited / 4, _POLL_FLOOR), _POLL_CEILING)
