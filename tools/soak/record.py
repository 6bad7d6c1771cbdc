"""What a soak found: plain figures, as the JSON file keeps them and the report shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from tools.bench.samples import Summary, summarize
from tools.soak.freshness import Disturbance, Sample
from tools.soak.memory import Flatness, Stretch
from tools.soak.meters import Calls
from tools.soak.verdict import Check

__all__ = ["Bucket", "Record", "Waits", "buckets", "save", "waits"]

_BUCKET_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of one kind in seconds; None where there were none."""

    all: Summary | None
    undisturbed: Summary | None


@dataclass(frozen=True, slots=True)
class Bucket:
    """Waits that began within 10 s of the run, from `at`."""

    at: float
    count: int
    p50: float
    p99: float
    worst: float


@dataclass(frozen=True, slots=True)
class Record:
    """Everything.

    Attributes:
        started_at: in UTC.
        minutes: how long things were changed and disturbed; less than was asked for where it was interrupted.
        population: SecretSyncs at the end.
        settled_seconds: from the last action until all was right; None when it never was.
        freshness: from the service's answer to a change to each Secret.
        repairs: from an edit or a deletion by hand to the right contents.
        requests: to the service by route and status.
        writes: to the API server by kind, Events and the Lease included.
        restarted: programs that ended by themselves and were started again.
    """

    started_at: str
    minutes: float
    machine: Mapping[str, str]
    settings: Mapping[str, str]
    population: int
    first_sync_seconds: float
    settled_seconds: float | None
    checks: Sequence[Check]
    actions: Mapping[str, int]
    disturbances: Sequence[Disturbance]
    restarted: Mapping[str, int]
    freshness: Waits
    freshness_over_time: Sequence[Bucket]
    repairs: Waits
    memory: Sequence[Flatness]
    stretches: Sequence[Stretch]
    calls: Sequence[Calls]
    requests: Mapping[str, int]
    writes: Mapping[str, int]
    faults: int

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)


def waits(samples: Sequence[Sample], calm: Sequence[Sample]) -> Waits:
    """Return the summaries of all waits, and of those that nothing disturbed."""
    return Waits(_summary(samples), _summary(calm))


def buckets(samples: Iterable[Sample]) -> list[Bucket]:
    """Return the waits by the time that they began."""
    by_time: dict[int, list[float]] = {}
    for sample in samples:
        by_time.setdefault(int(sample.at // _BUCKET_SECONDS), []).append(sample.seconds)
    found = []
    for number, seconds in sorted(by_time.items()):
        summary = summarize(seconds)
        found.append(Bucket(number * _BUCKET_SECONDS, summary.count, summary.p50, summary.p99, summary.worst))
    return found


def save(record: Record, path: Path) -> None:
    """The file holds the record, and whether it passed."""
    document = asdict(record) | {"passed": record.passed}
    path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))


def _summary(samples: Sequence[Sample]) -> Summary | None:
    return summarize(sample.seconds for sample in samples) if samples else None
