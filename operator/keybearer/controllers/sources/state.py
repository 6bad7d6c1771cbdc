"""One source: who wants it, what is held of it, and when it is asked for next."""

from __future__ import annotations

import asyncio
import random
import sys
from dataclasses import dataclass, field
from datetime import timedelta

from keybearer.base.backoff import Backoff, jittered
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.sources.changes import ChangeTimes
from keybearer.controllers.sources.query import SourceKey
from keybearer.controllers.sources.session import SourceFailure, SourceSession
from keybearer.controllers.work import WorkKey

__all__ = ["SourceReading", "SourceState"]

_RETRY = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(seconds=60), jitter=0.3)
_AFTER_MAX = timedelta(minutes=10)
"""The longest wait a service is granted: what it asks beyond would be a source that nobody looks after."""


@dataclass(frozen=True, slots=True)
class SourceReading:
    """What is known of a source: the last good secrets, when a read that confirmed them began, and what ails it.

    There are no secrets beside a failure that doesn't pass by itself.

    Attributes:
        content: a number that the same secrets keep, and that no others ever get; later ones are greater.
        changed_at: the instant since when they are so, in seconds of the epoch; None where nobody can tell.
    """

    secrets: tuple[SourceSecret, ...] | None = field(repr=False)
    read_at: float
    failure: SourceFailure | None
    content: int = 0
    changed_at: float | None = None


@dataclass(slots=True)
class SourceState:
    """What is remembered of a source between its reads.

    Attributes:
        key: the source.
        session: who asks; the newest one given.
        subscribers: who wants it, each with the longest time between two polls; zero asks for none.
        etag: the tag to ask by next time.
        secrets: the last good ones; None before the first, and where they are held no longer.
        content: a number that the same secrets keep.
        size: of the secrets, in bytes, as memory holds them.
        evicted: hash of the secrets that are held no longer, to tell whether those that are read next are still the
            same.
        read_at: when the read began that confirmed the secrets; this and the other instants in monotonic seconds.
        started_at: when the last read began; negative before the first.
        failure: what ails it and is shown.
        failed_at: when the last read began that failed.
        failures: how many reads failed in a row.
        reading: the read under way.
        changes: since when it is as it is.
        is_due: a change was heard of since the read under way began.
        next_poll: the timer of the next read.
    """

    key: SourceKey
    session: SourceSession
    subscribers: dict[WorkKey, timedelta] = field(default_factory=dict)
    etag: str | None = None
    secrets: tuple[SourceSecret, ...] | None = field(default=None, repr=False)
    content: int = 0
    size: int = 0
    evicted: int = 0
    read_at: float = -1.0
    started_at: float = -1.0
    failure: SourceFailure | None = None
    failed_at: float = -1.0
    failures: int = 0
    reading: asyncio.Task[None] | None = None
    changes: ChangeTimes = field(default_factory=ChangeTimes)
    is_due: bool = False
    next_poll: asyncio.TimerHandle | None = None

    def interval(self) -> timedelta | None:
        """Return the shortest time between two polls that a subscriber asks for; None where none asks for any."""
        wanted = [interval for interval in self.subscribers.values() if interval]
        return min(wanted) if wanted else None

    def wait(self, rng: random.Random) -> timedelta | None:
        """Return how long the next poll waits; None where none is asked for."""
        if self.failures:
            delay = _RETRY.delay(self.failures, rng)
            asked = None if self.failure is None else self.failure.after
            return delay if asked is None else max(delay, min(asked, _AFTER_MAX))
        interval = self.interval()
        return None if interval is None else jittered(interval, rng)

    def stop_poll(self) -> None:
        """Plan no next read."""
        if self.next_poll is not None:
            self.next_poll.cancel()
            self.next_poll = None

    def is_held(self, secrets: tuple[SourceSecret, ...]) -> bool:
        """Tell whether these are the secrets that were read last."""
        return self.evicted == hash(secrets) if self.secrets is None else self.secrets == secrets

    def hold(self, secrets: tuple[SourceSecret, ...]) -> None:
        """Hold these secrets."""
        # In memory, a text of n characters takes up to 4n bytes.
        self.size = sum(sys.getsizeof(secret.value) + sys.getsizeof(secret.key) for secret in secrets)
        self.secrets = secrets

    def let_go(self) -> None:
        """Hold no secrets any more, and remember which they were."""
        self.evicted, self.secrets, self.size = hash(self.secrets), None, 0

    def told(self) -> SourceReading:
        """Return what is known of it."""
        return SourceReading(self.secrets, self.read_at, self.failure, self.content, self.changes.changed_at)
