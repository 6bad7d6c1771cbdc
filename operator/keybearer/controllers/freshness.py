"""How fresh targets are: the time from a change of a source to the write that brings it into the target.

A reading says since when its content is what it is; per object no more is remembered than the number of the content
that its target has. So a run costs a few comparisons, and nothing is counted twice: not a repair, not an edited spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from prometheus_client import CollectorRegistry, Histogram

from keybearer.base.clock import Clock
from keybearer.controllers.sources.state import SourceReading
from keybearer.controllers.work import WorkKey

__all__ = ["Freshness", "FreshnessMetrics"]

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)


class FreshnessMetrics:
    """The histogram, in the operator's registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "keybearer_freshness_seconds",
            "From a change of a source, by the service's clock, to the write of the target that has it.",
            ["updates"],
            buckets=_SECONDS,
            registry=registry,
        )
        for updates in ("events", "polling"):
            self._seconds.labels(updates)

    def observe(self, seconds: float, *, by_events: bool) -> None:
        """Count a change that arrived; a service whose clock is ahead of ours makes it no time at all."""
        self._seconds.labels("events" if by_events else "polling").observe(max(seconds, 0.0))


class Freshness:
    """Knows which content of its sources each object's target has."""

    def __init__(self, clock: Clock, metrics: FreshnessMetrics) -> None:
        self._clock = clock
        self._metrics = metrics
        self._reached: dict[WorkKey, int] = {}

    def reached(
        self,
        key: WorkKey,
        readings: Iterable[SourceReading],
        *,
        wrote_change: bool,
        refreshed_at: datetime | None,
        by_events: bool,
    ) -> None:
        """Learn that the target has what these readings hold.

        Args:
            key: the object.
            readings: of its sources.
            wrote_change: it had something else before, and the spec asks for the same as then.
            refreshed_at: when the sources were read that the status tells of; for what changed while nobody looked.
            by_events: its changes are heard of as they happen.
        """
        before = self._reached.get(key)
        newest, since = 0, None
        for reading in readings:
            newest = max(newest, reading.content)
            changed_at = reading.changed_at
            if changed_at is None or (before is not None and reading.content <= before):
                continue
            if before is None and (refreshed_at is None or changed_at <= refreshed_at.timestamp()):
                continue
            since = changed_at if since is None else min(since, changed_at)
        self._reached[key] = newest
        if wrote_change and since is not None:
            self._metrics.observe(self._clock.now().timestamp() - since, by_events=by_events)

    def forget(self, key: WorkKey) -> None:
        """Forget an object that is gone."""
        self._reached.pop(key, None)
