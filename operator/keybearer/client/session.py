"""The state of a client beside its connections: who it is, its tokens, and its collaborators."""

from __future__ import annotations

import contextlib
import copy
import random
from collections import deque
from collections.abc import MutableMapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

from keybearer.base.clock import Clock
from keybearer.client.credentials import Credentials, SuppliedToken
from keybearer.client.errors import ClientClosed, ClientError
from keybearer.client.models import AccessToken
from keybearer.client.retries import RetryPolicy

__all__ = ["HeldToken", "Session", "Wallet"]

_RENEW_AFTER = 0.8
"""Share of a token's life after which it is renewed: a slow request still ends within the rest."""
_GRANTED_MAX = 16
"""Tokens remembered for revocation; older ones are left to run out."""


@dataclass(frozen=True, slots=True)
class HeldToken:
    """A token in use. Instants are seconds of `Clock.boottime`; None for a token whose end isn't known.

    Attributes:
        born_at: when its login was answered; renewals keep it.
        max_ttl: seconds from `born_at` past which it can't be renewed; 0 for no bound.
    """

    text: str = field(repr=False)
    ttl: float = 0
    max_ttl: float = 0
    born_at: float | None = None
    renew_at: float | None = None
    expires_at: float | None = None

    def is_due(self, now: float) -> bool:
        """Tell whether it should be renewed."""
        return self.renew_at is not None and now >= self.renew_at

    def is_renewable(self, now: float) -> bool:
        """Tell whether renewal is worth asking for: not expired, and not to pass its longest life by it."""
        if self.born_at is None or self.expires_at is None or now >= self.expires_at:
            return False
        return self.max_ttl == 0 or now - self.born_at + self.ttl <= self.max_ttl

    def postponed(self, now: float) -> HeldToken:
        """Return it with half of the life that is left before renewal is tried again; at least a second."""
        left = 0.0 if self.expires_at is None else self.expires_at - now
        return replace(self, renew_at=now + max(left / 2, 1.0))


@dataclass(slots=True)
class Wallet:
    """Credentials and tokens. Changed only by steps that are taken alone, or at once by `supply`.

    Attributes:
        credentials: None for a client that was given a token, or nothing.
        granted: tokens from our own logins, to be revoked when the client closes.
        attempts: logins and renewals so far, for calls that waited to see that another did it for them.
        failure: what the last of them failed with.
    """

    credentials: Credentials | None = None
    token: HeldToken | None = None
    granted: deque[str] = field(default_factory=lambda: deque(maxlen=_GRANTED_MAX), repr=False)
    attempts: int = 0
    failure: ClientError | None = None

    def supply(self, supplied: SuppliedToken) -> None:
        """Use a token from elsewhere from now on, and log in no more."""
        self.credentials = None
        self.token = HeldToken(supplied.access_token)

    def keep(self, answer: AccessToken, now: float, *, renewed: HeldToken | None = None) -> None:
        """Use the token that a login or a renewal of `renewed` yielded."""
        ends = answer.expires_in > 0
        self.token = HeldToken(
            text=answer.access_token,
            ttl=answer.expires_in,
            max_ttl=answer.access_token_max_ttl,
            born_at=now if renewed is None else renewed.born_at,
            renew_at=now + answer.expires_in * _RENEW_AFTER if ends else None,
            expires_at=now + answer.expires_in if ends else None,
        )
        if renewed is None:
            self.granted.append(answer.access_token)
        elif renewed.text in self.granted:
            self.granted[self.granted.index(renewed.text)] = answer.access_token
        self.failure = None
        self.attempts += 1

    def fail(self, error: ClientError) -> None:
        """Remember that a login failed, for those who wait for it."""
        self.failure = copy.copy(error)  # without the traceback, whose frames hold the credentials
        self.attempts += 1

    def spare(self, text: str) -> None:
        """Have a token outlive the client."""
        with contextlib.suppress(ValueError):
            self.granted.remove(text)

    def forget(self, text: str) -> None:
        """Let go of a token that is dead."""
        self.spare(text)
        if self.token is not None and self.token.text == text:
            self.token = None


@lru_cache(maxsize=64)
def _instant(date: str) -> datetime | None:
    """Return what a `Date` says; None where it is none. The answers of one second say the same."""
    try:
        told = parsedate_to_datetime(date)
    except ValueError:
        return None
    return told.replace(tzinfo=told.tzinfo or UTC)


@dataclass(slots=True)
class Session:
    """What the logic of calls works on."""

    wallet: Wallet
    retry: RetryPolicy
    clock: Clock
    rng: random.Random
    process_env: MutableMapping[str, str] = field(repr=False)
    is_closed: bool = False
    _told_time: tuple[str | None, datetime] | None = None

    def hear_time(self, date: str | None) -> None:
        """Take in the `Date` of an answer whose head has just come; None where it has none."""
        self._told_time = date, self.clock.now()

    @property
    def clock_ahead(self) -> timedelta | None:
        """By how much the service's clock is ahead of ours, as its last answer told, to a second or two.

        None where nothing was answered yet; zero where the answer told no time.
        """
        if self._told_time is None:
            return None
        date, heard_at = self._told_time
        told = _instant(date or "")
        return timedelta() if told is None else told - heard_at

    def require_open(self) -> None:
        """Raise ClientClosed if the client was closed."""
        if self.is_closed:
            raise ClientClosed("the client was closed; make a new one")
