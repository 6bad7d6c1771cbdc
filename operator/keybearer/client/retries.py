"""Whether a failed request is sent again, and after which wait."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from keybearer.base.backoff import Backoff
from keybearer.client.errors import TransportError
from keybearer.client.messages import Response
from keybearer.client.operation import Repeat
from keybearer.client.refusals import retry_after_of

__all__ = ["NO_RETRIES", "RetryPolicy"]

_PASSING = frozenset({429, 502, 503, 504})
"""Refused for now; 500 is left out, for it mostly comes again."""
_BACKOFF = Backoff(floor=timedelta(milliseconds=250), ceiling=timedelta(seconds=4), jitter=0.5)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently.

    Attributes:
        attempts: how often a request is sent at most; 1 turns retries off.
        backoff: the waits between attempts, where the service asks for none.
        longest_wait: a service that asks for more is not waited for: its refusal is raised as it is.
    """

    attempts: int = 4
    backoff: Backoff = _BACKOFF
    longest_wait: timedelta = timedelta(seconds=30)

    def wait(
        self,
        repeat: Repeat,
        outcome: Response | TransportError,
        tries: int,
        *,
        now: datetime,
        rng: random.Random,
    ) -> timedelta | None:
        """Return how long to wait before sending once more, or None to take the outcome as it is.

        Args:
            repeat: what the operation bears.
            outcome: of the last attempt.
            tries: attempts made, 1 or more.
            now: for a `Retry-After` that is a date.
            rng: for jitter.
        """
        if tries >= self.attempts:
            return None
        if isinstance(outcome, TransportError):
            safe = repeat is Repeat.FREELY or not outcome.sent
            return self.backoff.delay(tries, rng) if safe and outcome.is_retryable else None
        if outcome.status not in _PASSING or repeat is not Repeat.FREELY:
            return None
        asked = retry_after_of(outcome, now)
        if asked is None:
            return self.backoff.delay(tries, rng)
        return asked if asked <= self.longest_wait else None


NO_RETRIES = RetryPolicy(attempts=1)
"""For callers that retry by themselves."""
