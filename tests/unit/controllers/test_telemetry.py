from __future__ import annotations

from typing import cast

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.secretsync.targets import targets_of
from keybearer.controllers.telemetry import OperatorMetrics, Telemetry
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.events import Occurrence
from unit.controllers.fakes.targets import UID, Body

_BODY: Body = {"metadata": {"namespace": "team-a", "name": "web", "uid": UID, "generation": 3}, "spec": {}}
_SEEN = ObservedObject.from_body("SecretSync", _BODY, trigger_at=0, targets_of=targets_of)


class Desk:
    def __init__(self) -> None:
        self.metrics = OperatorMetrics(CollectorRegistry())
        self.told: list[Occurrence] = []
        self.telemetry = Telemetry(self.metrics, cast("EventRecorder", self))

    def record(self, occurrence: Occurrence) -> None:
        self.told.append(occurrence)

    def value(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(f"keybearer_{name}", labels)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.parametrize(
    ("was", "fine", "events", "lines"),
    [
        pytest.param(None, True, [], 1, id="a first success has its status to say so"),
        pytest.param(None, False, ["Warning"], 1, id="a first failure is an Event"),
        pytest.param("Other", True, ["Normal"], 1, id="a recovery is an Event"),
        pytest.param("Other", False, ["Warning"], 1, id="a new failure is an Event"),
        pytest.param("Reason", True, [], 0, id="the same success again is no news"),
        pytest.param("Reason", False, [], 0, id="the same failure again is no news"),
    ],
)
def test_transitions_are_told_once(
    desk: Desk,
    capsys: pytest.CaptureFixture[str],
    was: str | None,
    events: list[str],
    lines: int,
    *,
    fine: bool,
) -> None:
    desk.telemetry.outcome(_SEEN, "Reason", "the message", was=was, fine=fine)

    assert [one.type_ for one in desk.told] == events
    assert capsys.readouterr().out.count("condition_changed") == lines
    assert desk.value("outcomes_total", kind="SecretSync", reason="Reason") == 1


def test_an_event_is_about_the_custom_resource_of_that_uid(desk: Desk) -> None:
    desk.telemetry.orphaned(_SEEN, "what was merged into Secret shared", "no answer")

    (event,) = desk.told
    assert (event.regarding.resource.kind, str(event.regarding.key), event.regarding.uid) == (
        "SecretSync",
        "team-a/web",
        UID,
    )


def test_a_first_write_is_counted_and_later_ones_are_told_too(desk: Desk) -> None:
    desk.telemetry.target_written(_SEEN, "Create", "Secret web: added A", first=True)
    desk.telemetry.target_written(_SEEN, "Apply", "Secret web: changed A", first=False)

    assert [one.message for one in desk.told] == ["Secret web: changed A"]
    assert desk.value("target_writes_total", kind="Secret", action="Create") == 1


def test_a_wait_is_counted_from_the_trigger_and_never_below_zero(desk: Desk) -> None:
    key = WorkKey("SecretSync", "team-a", "web")
    desk.telemetry.started(WorkItem(key, Lane.URGENT, since=10.0), now=10.5)
    desk.telemetry.started(WorkItem(key, Lane.URGENT, since=10.0), now=9.0)

    assert desk.value("queue_wait_seconds_sum", lane="urgent") == 0.5
    assert desk.value("queue_wait_seconds_count", lane="urgent") == 2


def test_metrics_start_with_all_lanes_at_zero_and_name_no_object(desk: Desk) -> None:
    desk.telemetry.outcome(_SEEN, "Reason", "the message", was=None, fine=True)
    text = generate_latest(desk.metrics.registry).decode()

    for lane in Lane:
        assert desk.value("queue_depth", lane=lane.name.lower()) == 0
    assert "team-a" not in text, "a label for each object would grow without bound"


def test_an_object_that_is_not_as_asked_is_among_those_that_alerts_name(desk: Desk) -> None:
    which = {"kind": "SecretSync", "namespace": "team-a", "name": "web", "reason": "SourceNotFound"}
    desk.telemetry.outcome(_SEEN, "SourceNotFound", "the message", was=None, fine=False)
    assert desk.metrics.registry.get_sample_value("keybearer_not_ready", which) == 1
    desk.telemetry.outcome(_SEEN, "Synced", "the message", was="SourceNotFound", fine=True)
    assert desk.value("objects_not_ready", kind="SecretSync") == 0
