"""Summaries of repeated measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Summary", "median", "percentile", "slope", "summarize"]


def percentile(samples: Sequence[float], percent: float) -> float:
    """Return the smallest sample that at least that share of all samples does not exceed (nearest rank).

    Nothing is interpolated: the answer was measured. With fewer than 100 samples p99 is the largest one.

    Raises:
        ValueError: there are no samples, or percent is not in (0, 100].
    """
    if not samples:
        msg = "no samples"
        raise ValueError(msg)
    if not 0 < percent <= 100:
        msg = f"percent must be over 0 and at most 100, not {percent}"
        raise ValueError(msg)
    rank = math.ceil(percent * len(samples) / 100)
    return sorted(samples)[rank - 1]


def median(samples: Sequence[float]) -> float:
    """Return the 50th percentile by nearest rank: of an even number of samples, the lower middle one."""
    return percentile(samples, 50)


@dataclass(frozen=True, slots=True)
class Summary:
    """Samples in one unit; `unanswered` counts those that never came and are the largest by definition."""

    count: int
    p50: float
    p99: float
    worst: float
    unanswered: int = 0


def summarize(samples: Iterable[float]) -> Summary:
    """Return the summary; an infinite sample is one that never came.

    Raises:
        ValueError: there are no samples.
    """
    taken = list(samples)
    return Summary(
        count=len(taken),
        p50=median(taken),
        p99=percentile(taken, 99),
        worst=percentile(taken, 100),
        unanswered=sum(math.isinf(sample) for sample in taken),
    )


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the least-squares rise of y per unit of x.

    Raises:
        ValueError: fewer than two different x.
    """
    if len({x for x, _ in points}) < 2:
        msg = "a slope needs two different x"
        raise ValueError(msg)
    mean_x = math.fsum(x for x, _ in points) / len(points)
    mean_y = math.fsum(y for _, y in points) / len(points)
    run = math.fsum((x - mean_x) ** 2 for x, _ in points)
    return math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / run
