"""How long tokens live and when a login method is locked: pure rules of wire.md sections 1.2 and 1.3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from keybearer.store.records import AccessToken, GrantedTerms, LoginFailures
from keybearer.wire.limits import TOKEN_TTL_MAX_SECONDS

__all__ = [
    "PERIODIC_MAX_TTL_SECONDS",
    "SLOW_FACTOR",
    "LockoutTerms",
    "TokenTerms",
    "failed_again",
    "is_locked",
    "locked_for",
    "on_present_terms",
    "token_terms",
]

PERIODIC_MAX_TTL_SECONDS = 1_000_000_000
"""What is reported as max TTL of a periodic token (wire.md section 1.2)."""
SLOW_FACTOR = 5
"""So many times the threshold of failures within a day lock, too: with the usual threshold the fifteenth."""
_SLOW_WINDOW = timedelta(days=1)
_SLOW_LOCKOUT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """When a token ends, and what its owner is told in seconds. `expires_at` None: without end."""

    expires_at: datetime | None
    expires_in: int
    max_ttl: int


def token_terms(token: AccessToken, now: datetime) -> TokenTerms:
    """Return the terms of a token whose present lifetime begins now.

    The times told are always positive: clients that cache a token for a share of `expiresIn` would not cache
    at all for 0 (wire.md section 9.6).
    """
    if token.period > 0:
        return TokenTerms(now + timedelta(seconds=token.period), token.period, PERIODIC_MAX_TTL_SECONDS)
    ends = []
    if token.ttl > 0:
        ends.append(now + timedelta(seconds=token.ttl))
    if token.max_ttl > 0:
        ends.append(token.created_at + timedelta(seconds=token.max_ttl))
    expires_at = min(ends, default=None)
    remaining = TOKEN_TTL_MAX_SECONDS if expires_at is None else int((expires_at - now).total_seconds())
    return TokenTerms(expires_at, max(remaining, 1), token.max_ttl or TOKEN_TTL_MAX_SECONDS)


def on_present_terms(token: AccessToken, terms: GrantedTerms) -> AccessToken:
    """Return the token as these terms have it, which may be others than those it was given on.

    It ends when they say, counted from its last renewal, and never later than it was promised to.
    """
    present = replace(
        token,
        ttl=terms.ttl,
        max_ttl=terms.max_ttl,
        period=terms.period,
        num_uses_limit=terms.num_uses_limit,
        trusted_ips=terms.trusted_ips,
    )
    ends = (token.expires_at, token_terms(present, token.renewed_at or token.created_at).expires_at)
    return replace(present, expires_at=min((end for end in ends if end is not None), default=None))


class LockoutTerms(Protocol):
    """A way to log in that is locked after failures, Universal Auth for one; times in seconds."""

    @property
    def lockout_enabled(self) -> bool:
        """Whether it is at all."""
        ...

    @property
    def lockout_threshold(self) -> int:
        """The failure that locks."""
        ...

    @property
    def lockout_duration_seconds(self) -> int:
        """How long."""
        ...

    @property
    def lockout_counter_reset_seconds(self) -> int:
        """After which pause a failure is the first one again."""
        ...


def is_locked(terms: LockoutTerms, failures: LoginFailures | None, now: datetime) -> bool:
    """Return whether who is counted there is refused at present."""
    return locked_for(terms, failures, now) > timedelta()


def locked_for(terms: LockoutTerms, failures: LoginFailures | None, now: datetime) -> timedelta:
    """Return how much longer who is counted there is refused; zero if not at all."""
    if not terms.lockout_enabled or failures is None or failures.locked_until is None:
        return timedelta()
    return max(failures.locked_until - now, timedelta())


def failed_again(terms: LockoutTerms, former: LoginFailures, now: datetime) -> LoginFailures:
    """Return the counter after one more failure.

    Failures further apart than the reset time don't add up to a lockout; but five times the threshold within a day
    lock as well, for an hour at least, however slowly they come. What locks starts its count anew.
    """
    reset = timedelta(seconds=terms.lockout_counter_reset_seconds)
    fresh = former.last_failure_at is None or now - former.last_failure_at > reset
    failures = 1 if fresh else former.failures + 1
    since = former.slow_since
    if since is None or now - since >= _SLOW_WINDOW:
        since, slow = now, 1
    else:
        slow = former.slow_failures + 1
    locked = timedelta()
    if failures >= terms.lockout_threshold:
        failures, locked = 0, timedelta(seconds=terms.lockout_duration_seconds)
    if slow >= SLOW_FACTOR * terms.lockout_threshold:
        failures, slow, locked = 0, 0, max(locked, _SLOW_LOCKOUT)
    return replace(
        former,
        failures=failures,
        last_failure_at=now,
        slow_failures=slow,
        slow_since=since,
        locked_until=now + locked if locked else None,
        expires_at=max(now + locked, since + _SLOW_WINDOW, now + reset),
    )
