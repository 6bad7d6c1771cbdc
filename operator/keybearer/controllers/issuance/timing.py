"""When: renewals, spread so that not all come at once, attempts after failures, and by whose clock. Pure."""

from __future__ import annotations

import hashlib
import random
from datetime import datetime, timedelta

from keybearer.base.backoff import Backoff

__all__ = [
    "CLOCKS_AGREE",
    "earliest_renewal",
    "is_too_early",
    "next_attempt",
    "poll_interval",
    "renewal_time",
    "spread",
    "time_there",
]

CLOCKS_AGREE = timedelta(minutes=1)
"""By how much the clocks of operator and service may differ without anybody being told."""

_SHARE = 2 / 3
_EARLIEST = 1 / 3
"""Of its lifetime: so that there are at most three in the lifetime of one."""
_PAUSE = 1 / 10
"""Of its lifetime, which passes after an issue whatever the certificate says of its beginning."""
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


def time_there(now: datetime, ahead: timedelta | None) -> datetime:
    """Return the present by which decisions are made: the service's, where its clock differs from ours.

    Args:
        now: the present, as our clock has it.
        ahead: by how much the service's clock is ahead; None where that isn't known.
    """
    # Within a minute it is as well the way that answers take, and their whole seconds.
    return now if ahead is None or abs(ahead) <= CLOCKS_AGREE else now + ahead


def is_too_early(renew_before: timedelta | None, lifetime: timedelta | None) -> bool:
    """Tell whether a certificate would have to be renewed before a third of its lifetime has passed."""
    return renew_before is not None and lifetime is not None and renew_before > lifetime * _SHARE


def earliest_renewal(not_before: datetime, not_after: datetime) -> datetime:
    """Return when a third of a lifetime has passed, in whole seconds, as a status holds them."""
    return _whole(not_before + max(not_after - not_before, timedelta()) * _EARLIEST)


def renewal_time(
    not_before: datetime,
    not_after: datetime,
    renew_before: timedelta | None,
    share: float,
    issued_at: datetime | None = None,
) -> datetime:
    """Return when a certificate is renewed: when due, or up to 15 percent of the time until then earlier.

    It is never due before a third of its lifetime, nor before a tenth of it has passed since the issue.

    Args:
        not_before: when it became valid; that may be some minutes before it was issued.
        not_after: when it ends.
        renew_before: how long before its end it is due; None: after two thirds of its lifetime.
        share: from `spread`.
        issued_at: when it was issued; None where that isn't known any more.
    """
    begins = not_before if issued_at is None else max(not_before, issued_at)
    lifetime = max(not_after - begins, timedelta())
    until_due = lifetime * _SHARE
    if renew_before:
        until_due = max(lifetime - renew_before, timedelta())
    # Whole seconds, as a status holds them: otherwise what is due now would be due again after a restart.
    due = (begins + until_due * (1 - _EARLIER * share)).replace(microsecond=0)
    due = max(due, earliest_renewal(begins, not_after))
    pause = max(not_after - not_before, timedelta()) * _PAUSE
    return due if issued_at is None else max(due, _whole(issued_at + pause))


def _whole(instant: datetime) -> datetime:
    """Return the first whole second that isn't before the instant."""
    return instant + timedelta(microseconds=-instant.microsecond % 1_000_000)


def next_attempt(now: datetime, failures: int, rng: random.Random, *, rejected: bool = False) -> datetime:
    """Return when what failed that often in a row is asked for again: after 1 minute, doubled up to 32 hours."""
    counted = max(failures, _REJECTED_FAILURES) if rejected else failures
    return (now + _ATTEMPTS.delay(counted, rng)).replace(microsecond=0)


def poll_interval(waited: timedelta) -> timedelta:
    """Return how long to wait before an open request is looked at again: the longer it is open, the longer."""
    return min(max(waited / 4, _POLL_FLOOR), _POLL_CEILING)
