"""How long changes take to arrive, told by whoever watches from outside; and which of them nothing disturbed."""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.bench.workload import Key

__all__ = ["Arrivals", "Disturbance", "Repairs", "Sample", "undisturbed"]

_UNDISTURBED_SECONDS = 10.0
"""A change counts as undisturbed when nothing was disturbed as it was made, nor within this time afterwards. Not
until it arrived: one that takes minutes would meet a disturbance sooner or later, and drop out because it is late."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One wait: when it began (seconds of the run), and how long it took."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Something that was done to the programs.

    Attributes:
        began, ended: seconds of the run.
        settles_seconds: how long what it did may be felt afterwards.
    """

    kind: str
    began: float
    ended: float
    settles_seconds: float


class Arrivals:
    """Waits from the commit of a revision to each Secret that depends on it.

    A Secret that shows a later revision has the earlier ones as well. A Secret that left takes its waits with it.

    Attributes:
        samples: waits that are over.
    """

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._awaited: dict[Key, deque[tuple[int, float]]] = {}
        self._seen: dict[Key, tuple[int, float]] = {}

    def committed(self, revision: int, at: float, dependents: Iterable[Key]) -> None:
        """From now on these Secrets owe the revision; the event of one may have come before the service's answer."""
        for key in dependents:
            shown, shown_at = self._seen.get(key, (0, 0.0))
            if shown >= revision:
                self.samples.append(Sample(at, max(shown_at - at, 0.0)))
            elif shown:
                # Before its first contents a Secret waits for its SecretSync, not for a change.
                self._awaited.setdefault(key, deque()).append((revision, at))

    def seen(self, key: Key, revision: int, at: float) -> bool:
        """Note what a Secret shows; False when it went back to an earlier revision."""
        awaited = self._awaited.get(key, ())
        while awaited and awaited[0][0] <= revision:
            _, began = awaited.popleft()
            self.samples.append(Sample(began, max(at - began, 0.0)))
        shown, shown_at = self._seen.get(key, (0, at))
        self._seen[key] = (revision, at if revision > shown else shown_at)
        return revision >= shown

    def forget(self, key: Key) -> None:
        """The Secret left, or follows another source."""
        self._awaited.pop(key, None)
        self._seen.pop(key, None)

    def waiting(self) -> int:
        """Return how many waits aren't over."""
        return sum(map(len, self._awaited.values()))


class Repairs:
    """Waits from an edit or a deletion by hand, as its event shows it, to the right contents.

    Attributes:
        samples: waits that are over.
    """

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._damaged: dict[Key, float] = {}

    def damaged(self, key: Key, at: float) -> None:
        """Note that a Secret is not what it should be; later damage to it makes no new wait."""
        self._damaged.setdefault(key, at)

    def right(self, key: Key, at: float) -> None:
        """Note that it is."""
        began = self._damaged.pop(key, None)
        if began is not None:
            self.samples.append(Sample(began, at - began))

    def forget(self, key: Key) -> None:
        """The Secret left."""
        self._damaged.pop(key, None)


def undisturbed(samples: Iterable[Sample], disturbances: Sequence[Disturbance]) -> list[Sample]:
    """Return the waits that began where nothing was disturbed, nor 10 s later."""
    spans = _merged(
        (one.began - _UNDISTURBED_SECONDS, one.ended + one.settles_seconds) for one in disturbances
    )
    starts = [start for start, _ in spans]

    def is_calm(sample: Sample) -> bool:
        before = bisect.bisect_right(starts, sample.at) - 1
        return before < 0 or sample.at > spans[before][1]

    return [sample for sample in samples if is_calm(sample)]


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
