"""When credentials that a service refused are shown to it again, and what is said until then."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from datetime import timedelta

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.base.ids import is_uuid
from keybearer.client import ClientError, NotFound
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.service_failures import refuses_login
from keybearer.controllers.sources.session import SourceFailure

__all__ = ["LoginTerms", "RefusedLogins", "with_identity"]

_LOCKED_WITHIN = timedelta(seconds=30)
_HELD = timedelta(seconds=60)
"""How long refused credentials are not shown again: by default three failures, each within 30 s of the one before,
lock the identity out (wire.md section 1.2), so that the right ones would be refused as well. Corrected ones are
another session, and used at once; `forget` is for what was corrected in the service."""
_HELD_FREELY = Backoff(floor=timedelta(seconds=5), ceiling=_HELD, jitter=0.3)
"""The same where no failure is counted: what was corrected in the service shows sooner."""
_WORD_FOR_ID = re.compile(r"CLIENT_ID_OR_NAME|IDENTITY_ID")
_IN_A_ROW = timedelta(minutes=5)
"""A refusal after so long is the first of others."""
_NOT_TRIED = (
    "; no login was tried: another refusal now would lock the identity out, so it is tried again in a minute"
)


@dataclass(frozen=True, slots=True)
class LoginTerms:
    """What is known of the logins of an identity.

    Attributes:
        rejected: what is to be done where the service refuses the credentials.
        unattached: what is to be done where the identity has no such method; None for the same.
        locks: whether refused logins are counted, and lock the identity out.
        identity: its id or client id; empty where neither is known.
    """

    rejected: Remedy | None = None
    unattached: Remedy | None = None
    locks: bool = True
    identity: str = ""

    def with_remedy(self, failure: SourceFailure, error: Exception) -> SourceFailure:
        """Return a failure with what is to be done about it, and the identity in its command if that is known."""
        remedy = failure.remedy
        if remedy is None and isinstance(error, ClientError) and refuses_login(error):
            is_unattached = isinstance(error, NotFound) and self.unattached is not None
            remedy = self.unattached if is_unattached else self.rejected
        return failure if remedy is None else replace(failure, remedy=with_identity(remedy, self.identity))


class RefusedLogins:
    """The refusals of one session."""

    def __init__(self, terms: LoginTerms, clock: Clock, rng: random.Random) -> None:
        """Begin without any."""
        self._terms = terms
        self._clock = clock
        self._rng = rng
        self._last: SourceFailure | None = None
        self._until = 0.0
        self._at = self._before = float("-inf")
        self._in_a_row = 0

    def held_back(self) -> SourceFailure | None:
        """Return why no login is tried now, and for how long; None where one may be."""
        left = self._until - self._clock.monotonic()
        return None if self._last is None or left <= 0 else replace(self._last, after=timedelta(seconds=left))

    def refused(self, failure: SourceFailure) -> SourceFailure:
        """Take in a refusal, and return it with when it is tried again."""
        now, terms = self._clock.monotonic(), self._terms
        self._in_a_row = self._in_a_row + 1 if now - self._at < _IN_A_ROW.total_seconds() else 1
        self._before, self._at = self._at, now
        held = _HELD if terms.locks else _HELD_FREELY.delay(self._in_a_row, self._rng)
        self._until = now + held.total_seconds()
        self._last = replace(failure, after=held)
        return self._last

    def forget(self) -> None:
        """Have the next call log in: a person asks.

        Where failures are counted, two may follow each other at once; the third, which would lock the identity out,
        may not, and what is told then says so.
        """
        if self._last is None:
            return
        within = _LOCKED_WITHIN.total_seconds()
        is_second = self._at - self._before < within
        if self._terms.locks and is_second and self._clock.monotonic() - self._at < within:
            message = f"{self._last.message.removesuffix(_NOT_TRIED)}{_NOT_TRIED}"
            self._last = replace(self._last, message=message)
            return
        self._last, self._until = None, 0.0


def with_identity(remedy: Remedy, identity: str) -> Remedy:
    """Return a remedy with the identity in its command, if what names it is an id.

    Other text of a Secret, perhaps one that was put under a wrong key, is never shown.
    """
    if not is_uuid(identity):
        return remedy
    return replace(remedy, command=_WORD_FOR_ID.sub(identity, remedy.command))
