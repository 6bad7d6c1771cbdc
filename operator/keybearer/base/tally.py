"""Counting of how long things take, for metrics: an addition, and a search in a few bounds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate

__all__ = ["SECONDS", "Durations"]

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds, inclusive, in seconds."""


class Durations:
    """How many there were up to each bound, and how long they were together. For one thread."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds

    def take_in(self, others: Iterable[Durations]) -> Durations:
        """Add what others counted, and return this."""
        for other in others:
            self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
            self.total += other.total
        return self

    def buckets(self) -> list[tuple[str, float]]:
        """Return how many were at most as long as each bound, which is a text as Prometheus has it."""
        return list(zip((*map(str, SECONDS), "+Inf"), accumulate(self.counts), strict=True))
