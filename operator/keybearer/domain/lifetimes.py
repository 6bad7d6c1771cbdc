"""How long tokens live and when a login method is locked: pure rules of wire.md sections 1.2 and 1.3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from keybearer.store.records import AccessToken, GrantedTerms
from keybearer.wire.limits import TOKEN_TTL_MAX_SECONDS

__all__ = [
    "NO_FAILURES",
    "PERIODIC_MAX_TTL_SECONDS",
    "Lockout",
    "TokenTerms",
    "is_locked",
    "lockout_after",
    "on_present_terms",
    "token_terms",
]

PERIODIC_MAX_TTL_SECONDS = 1_000_000_000
"""What is reported as max TTL of a periodic token (wire.md section 1.2)."""


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


class _Lockable(Protocol):
    """A way to log in that is locked after failures, Universal Auth for one; times in seconds."""

    @property
    def lockout_enabled(self) -> bool: ...
    @property
    def lockout_threshold(self) -> int: ...
    @property
    def lockout_duration_seconds(self) -> int: ...
    @property
    def lockout_counter_reset_seconds(self) -> int: ...
    @property
    def failures(self) -> int: ...
    @property
    def last_failure_at(self) -> datetime | None: ...
    @property
    def locked_until(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class Lockout:
    """The counter of failed logins."""

    failures: int
    last_failure_at: datetime | None
    locked_until: datetime | None


NO_FAILURES = Lockout(0, None, None)


def is_locked(auth: _Lockable, now: datetime) -> bool:
    """Return whether the method refuses everybody at present."""
    return auth.lockout_enabled and auth.locked_until is not None and now < auth.locked_until


def lockout_after(auth: _Lockable, now: datetime) -> Lockout:
    """Return the counter after one more failure.

    Failures further apart than the reset time don't add up; the threshold locks and starts the count anew.
    """
    reset = timedelta(seconds=auth.lockout_counter_reset_seconds)
    fresh = auth.last_failure_at is None or now - auth.last_failure_at > reset
    failures = 1 if fresh else auth.failures + 1
    if not auth.lockout_enabled or failures < auth.lockout_threshold:
        return Lockout(failures, now, None)
    return Lockout(0, None, now + timedelta(seconds=auth.lockout_duration_seconds))
