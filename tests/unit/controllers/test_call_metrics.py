"""Calls and conditions, as metrics count them: by few words, and by no name of an object."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from keybearer.controllers.call_metrics import CallMetrics
from keybearer.controllers.condition_metrics import ConditionMetrics
from keybearer.controllers.custom_resource import Condition, ConditionStatus
from keybearer.controllers.work import WorkKey
from keybearer.kube.exchange import Act


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.mark.parametrize(
    ("status", "told"),
    [
        pytest.param(200, "200", id="an answer"),
        pytest.param(304, "304", id="an answer without content"),
        pytest.param(None, "none", id="no answer"),
        pytest.param(777, "other", id="a status that HTTP doesn't know"),
    ],
)
def test_a_call_is_counted_by_operation_and_status(
    registry: CollectorRegistry, status: int | None, told: str
) -> None:
    calls = CallMetrics(registry)
    for _ in range(2):
        calls.service_call("GetSecret").end(status)
    which = {"operation": "GetSecret", "status": told}
    assert registry.get_sample_value("keybearer_service_calls_total", which) == 2
    counted = registry.get_sample_value(
        "keybearer_service_call_duration_seconds_count", {"operation": "GetSecret"}
    )
    assert counted == 2


def test_a_write_is_counted_by_what_it_does_to_which_kind(registry: CollectorRegistry) -> None:
    calls = CallMetrics(registry)
    calls.api_write(Act("apply", "SecretSync", "status")).end(409)
    which = {"verb": "apply", "object": "SecretSync", "subresource": "status", "status": "409"}
    assert registry.get_sample_value("keybearer_api_writes_total", which) == 1


def _condition(kind: str, status: ConditionStatus) -> Condition:
    return Condition(
        type=kind,
        status=status,
        last_transition_time=datetime(2026, 3, 1, tzinfo=UTC),
        reason="Because",
        message="cnry",
    )


def test_conditions_are_counted_by_kind_and_status_until_their_objects_are_gone(
    registry: CollectorRegistry,
) -> None:
    conditions = ConditionMetrics(registry)
    ready = [_condition("Ready", ConditionStatus.TRUE)]
    stalled = [_condition("Ready", ConditionStatus.FALSE), _condition("Stalled", ConditionStatus.TRUE)]
    keys = [WorkKey("SecretSync", "team-a", name) for name in ("a", "b", "c")]
    for key, said in zip(keys, (ready, ready, stalled), strict=True):
        conditions.note(key, said)

    def count(condition: str, status: str) -> float | None:
        which = {"kind": "SecretSync", "condition": condition, "status": status}
        return registry.get_sample_value("keybearer_conditions", which)

    assert [count("Ready", "True"), count("Ready", "False"), count("Stalled", "True")] == [2, 1, 1]
    conditions.note(keys[2], ready)
    assert [count("Ready", "True"), count("Stalled", "True")] == [3, None]
    conditions.keep(lambda key: key.name == "a")
    assert count("Ready", "True") == 1
    assert "team-a" not in generate_latest(registry).decode()
