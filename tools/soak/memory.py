"""Whether memory stays where it is: resident memory in stretches of one process doing one job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.bench.samples import median

__all__ = ["Flatness", "Stretch", "judge", "theil_sen"]

_NOISE_MIB = 5.0
"""What resident memory moves by while nothing leaks, as the benchmarks have it."""
_DRIFT_MIB_PER_HOUR = 4.0
_POINTS_MAX = 300
"""The slope compares each pair; more points than these are thinned out."""


@dataclass(slots=True)
class Stretch:
    """A process from its start, or from the moment that it led or led no more, to its end or the next such moment.

    Attributes:
        job: what it did, such as "operator-1, leading".
        points: seconds of the run, and MiB with all child processes.
    """

    job: str
    pid: int
    points: list[tuple[float, float]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """How long it was seen."""
        return self.points[-1][0] - self.points[0][0] if self.points else 0.0


@dataclass(frozen=True, slots=True)
class Flatness:
    """The second half of a stretch.

    Attributes:
        mib_per_hour: slope by Theil and Sen.
        growth_mib: that slope over the half.
        limit_mib: that growth which still counts as flat.
    """

    job: str
    seconds: float
    mib_per_hour: float
    growth_mib: float
    limit_mib: float

    @property
    def flat(self) -> bool:
        """Whether it grew by no more than the limit."""
        return self.growth_mib <= self.limit_mib


def theil_sen(points: Sequence[tuple[float, float]]) -> float:
    """Return the median of the slopes of all pairs: up to 29 % of the points may be anything (Sen 1968).

    Raises:
        ValueError: fewer than two different x.
    """
    slopes = [
        (later_y - y) / (later_x - x)
        for number, (x, y) in enumerate(points)
        for later_x, later_y in points[number + 1 :]
        if later_x != x
    ]
    if not slopes:
        msg = "a slope needs two different x"
        raise ValueError(msg)
    return median(slopes)


def judge(stretch: Stretch, shortest_seconds: float) -> Flatness | None:
    """Return how flat the second half of a stretch was; None where it was too short to tell."""
    if stretch.seconds < shortest_seconds:
        return None
    middle = stretch.points[0][0] + stretch.seconds / 2
    half = [point for point in stretch.points if point[0] >= middle]
    step = -(-len(half) // _POINTS_MAX)
    thinned = half[::step]
    if len(thinned) < 2:
        return None
    slope = theil_sen(thinned)
    seconds = half[-1][0] - half[0][0]
    return Flatness(
        job=stretch.job,
        seconds=stretch.seconds,
        mib_per_hour=slope * 3600,
        growth_mib=slope * seconds,
        limit_mib=_NOISE_MIB + _DRIFT_MIB_PER_HOUR * seconds / 3600,
    )
