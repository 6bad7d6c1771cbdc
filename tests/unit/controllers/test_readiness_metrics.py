"""Which objects the metrics name as not ready."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from keybearer.controllers.readiness_metrics import NAMED_MAX, ReadinessMetrics
from keybearer.controllers.work import WorkKey

_WEB = WorkKey("SecretSync", "team-a", "web")


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> ReadinessMetrics:
    return ReadinessMetrics(registry)


def _named(registry: CollectorRegistry) -> dict[tuple[str, ...], float]:
    return {
        tuple(sample.labels.values()): sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == "keybearer_not_ready"
    }


def _count(registry: CollectorRegistry, kind: str) -> float | None:
    return registry.get_sample_value("keybearer_objects_not_ready", {"kind": kind})


def test_an_object_is_named_with_its_last_reason_until_all_is_well(
    registry: CollectorRegistry, metrics: ReadinessMetrics
) -> None:
    assert _count(registry, "SecretSync") == 0
    metrics.note(_WEB, "SourceNotFound")
    metrics.note(_WEB, "ServiceUnavailable")
    assert _named(registry) == {("SecretSync", "team-a", "web", "ServiceUnavailable"): 1}
    assert _count(registry, "SecretSync") == 1
    metrics.note(_WEB, None)
    assert _named(registry) == {}
    assert _count(registry, "SecretSync") == 0


def test_an_object_that_is_gone_is_forgotten(registry: CollectorRegistry, metrics: ReadinessMetrics) -> None:
    other = WorkKey("AppConnection", "team-a", "web")
    for key in (_WEB, other):
        metrics.note(key, "SpecInvalid")
    metrics.keep(lambda key: key == other)
    assert [labels[0] for labels in _named(registry)] == ["AppConnection"]


def test_of_very_many_objects_all_are_counted_and_some_are_named(
    registry: CollectorRegistry, metrics: ReadinessMetrics
) -> None:
    for number in range(NAMED_MAX + 7):
        metrics.note(WorkKey("SecretSync", "team-a", f"web-{number}"), "ServiceUnavailable")
    assert _count(registry, "SecretSync") == NAMED_MAX + 7
    assert len(_named(registry)) == NAMED_MAX
