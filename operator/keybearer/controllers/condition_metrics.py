"""What the metrics tell of conditions: how many objects of a kind say what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from keybearer.controllers.custom_resource import Condition
from keybearer.controllers.work import WorkKey

__all__ = ["ConditionMetrics"]

_Said = tuple[tuple[str, str], ...]


class ConditionMetrics(Collector):
    """A gauge of the conditions that the last reconciles led to: types and statuses, and no object's name."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._said: dict[WorkKey, _Said] = {}
        self._same: dict[_Said, _Said] = {}
        registry.register(self)

    def note(self, key: WorkKey, conditions: Iterable[Condition]) -> None:
        """Tell these conditions of the object from now on."""
        said = tuple((condition.type, str(condition.status)) for condition in conditions)
        # There are few combinations, and many objects: each is kept once.
        self._said[key] = self._same.setdefault(said, said)

    def keep(self, exists: Callable[[WorkKey], bool]) -> None:
        """Forget the objects that are gone."""
        self._said = {key: said for key, said in self._said.items() if exists(key)}

    def describe(self) -> Iterator[Metric]:
        """Return the family without a sample: the registry asks for its name."""
        yield self._family()

    def collect(self) -> Iterator[Metric]:
        """Return how many objects of each kind have each condition."""
        family = self._family()
        groups = Counter((key.kind, said) for key, said in self._said.items())
        counts: Counter[tuple[str, str, str]] = Counter()
        for (kind, said), number in groups.items():
            for condition, status in said:
                counts[kind, condition, status] += number
        for labels, number in sorted(counts.items()):
            family.add_metric(labels, number)
        yield family

    @staticmethod
    def _family() -> GaugeMetricFamily:
        return GaugeMetricFamily(
            "keybearer_conditions",
            "Custom resources by condition, as their last reconciles left it.",
            labels=("kind", "condition", "status"),
        )
