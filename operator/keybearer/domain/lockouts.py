"""Lockouts: failed logins are counted by account and address, so that a stranger locks nobody else out.

An account may be one that doesn't exist. Addresses count as `source_of` has them. Unknown emails that somebody
invites are counted the same way, by who invites them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from keybearer.domain.addresses import source_of
from keybearer.domain.lifetimes import LockoutTerms, failed_again, is_locked, locked_for
from keybearer.domain.server_keys import ServerKeys
from keybearer.domain.universal_auth import UniversalAuthTerms, credential_digest
from keybearer.store.unit import UnitOfWork

__all__ = ["DEFAULT_LOCKOUT", "Counter", "Lockouts", "in_minutes"]


DEFAULT_LOCKOUT: LockoutTerms = UniversalAuthTerms()
"""For what has no settings of its own: passwords of users, and unknown emails."""


@dataclass(frozen=True, slots=True)
class Counter:
    """What failures are counted under; digests are keyed, for what was typed as an account may be a password."""

    digest: bytes = field(repr=False)
    account: bytes = field(repr=False)


def in_minutes(left: timedelta) -> str:
    """Return how long to wait, in words: in whole minutes, never less than it takes."""
    minutes = math.ceil(left / timedelta(minutes=1))
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


class Lockouts:
    """Counts, and tells who is locked out. All within the caller's unit."""

    def __init__(self, keys: ServerKeys) -> None:
        self._key = keys.credential_digest

    def counter(self, kind: str, account: str, address: str | None) -> Counter:
        """Return what failures of this account from this address are counted under."""
        return Counter(
            credential_digest(self._key, f"failed logins by {kind} from {source_of(address)} to {account}"),
            self._account(kind, account),
        )

    async def is_locked(self, unit: UnitOfWork, counter: Counter, terms: LockoutTerms, now: datetime) -> bool:
        """Return whether the account is locked for the address at present."""
        return await self.locked_for(unit, counter, terms, now) > timedelta()

    async def locked_for(
        self, unit: UnitOfWork, counter: Counter, terms: LockoutTerms, now: datetime
    ) -> timedelta:
        """Return how much longer the account is locked for the address, zero if it isn't."""
        if not terms.lockout_enabled:
            return timedelta()
        return locked_for(terms, await unit.failed_logins.find(counter.digest), now)

    async def claim(
        self, unit: UnitOfWork, counter: Counter, terms: LockoutTerms, now: datetime
    ) -> timedelta:
        """Return how much longer the account is locked, zero if it isn't; from then on, tries take turns."""
        return locked_for(terms, await unit.failed_logins.claim(counter.digest, counter.account), now)

    async def count(self, unit: UnitOfWork, counter: Counter, terms: LockoutTerms, now: datetime) -> None:
        """Count a failure, unless nothing is to be counted, or the account is locked already."""
        if not terms.lockout_enabled:
            return
        former = await unit.failed_logins.claim(counter.digest, counter.account)
        if not is_locked(terms, former, now):
            await unit.failed_logins.record(failed_again(terms, former, now))
            await unit.failed_logins.prune(now)

    async def forget(self, unit: UnitOfWork, counter: Counter) -> None:
        """Start the count anew, after a login that worked."""
        await unit.failed_logins.forget(counter.digest)

    async def clear(self, unit: UnitOfWork, kind: str, account: str, now: datetime) -> int:
        """End the lockouts of an account from everywhere, and return how many there were."""
        return await unit.failed_logins.forget_account(self._account(kind, account), now)

    def _account(self, kind: str, account: str) -> bytes:
        return credential_digest(self._key, f"failed logins by {kind} to {account}")
