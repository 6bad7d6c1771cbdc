"""What the metrics tell of objects that are not as their manifests want them: few, where all is well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from keybearer.controllers.kinds import RESOURCES
from keybearer.controllers.work import WorkKey

__all__ = ["NAMED_MAX", "ReadinessMetrics"]

NAMED_MAX = 1000
"""How many objects are named at once: an outage of the service concerns all of them, and is one fault."""


class ReadinessMetrics(Collector):
    """Gauges of the objects whose last reconcile ended with anything but what was asked for."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._reasons: dict[WorkKey, str] = {}
        registry.register(self)

    def note(self, key: WorkKey, reason: str | None) -> None:
        """A reconcile of the object ended; `reason` says what is wrong, None that nothing is."""
        if reason is None:
            self._reasons.pop(key, None)
        else:
            self._reasons[key] = reason

    def keep(self, exists: Callable[[WorkKey], bool]) -> None:
        """Forget the objects that are gone."""
        self._reasons = {key: reason for key, reason in self._reasons.items() if exists(key)}

    def describe(self) -> Iterator[Metric]:
        """Return the families without a sample: the registry asks for their names."""
        yield from self._families()

    def collect(self) -> Iterator[Metric]:
        """Return how many objects of each kind are concerned, and the names of the first `NAMED_MAX`."""
        counted, named = families = self._families()
        counts = dict.fromkeys(RESOURCES, 0) | Counter(key.kind for key in self._reasons)
        for kind, count in counts.items():
            counted.add_metric((kind,), count)
        for key, reason in islice(self._reasons.items(), NAMED_MAX):
            named.add_metric((key.kind, key.namespace, key.name, reason), 1)
        yield from families

    @staticmethod
    def _families() -> tuple[GaugeMetricFamily, GaugeMetricFamily]:
        return (
            GaugeMetricFamily(
                "keybearer_objects_not_ready",
                "Custom resources whose last reconcile didn't end as they ask.",
                labels=("kind",),
            ),
            GaugeMetricFamily(
                "keybearer_not_ready",
                f"1 for each of them, by reason; of more than {NAMED_MAX}, the first.",
                labels=("kind", "namespace", "name", "reason"),
            ),
        )
