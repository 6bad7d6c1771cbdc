"""How long to wait before the next attempt."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta

__all__ = ["Backoff", "jittered"]

_MAX_EXPONENT = 32  # 2**32 times any floor is over any ceiling; keeps the power small


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff: `floor` doubled per failure up to `ceiling`, then jittered downwards."""

    floor: timedelta
    ceiling: timedelta
    jitter: float = 0.2

    def delay(self, failures: int, rng: random.Random) -> timedelta:
        """Return the wait after that many failures in a row (1 or more): never under 1 - jitter of it."""
        exponent = min(max(failures - 1, 0), _MAX_EXPONENT)
        whole = min(self.floor * float(2**exponent), self.ceiling)
        return whole * (1 - self.jitter * rng.random())


def jittered(interval: timedelta, rng: random.Random, share: float = 0.1) -> timedelta:
    """Return the interval moved at random by at most half of `share` either way: the mean stays the interval."""
    return interval * (1 + share * (rng.random() - 0.5))
