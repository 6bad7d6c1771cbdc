from __future__ import annotations

from typing import cast

import pytest

from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import ObservedObject, no_targets
from keybearer.controllers.outcome import WaitingError
from keybearer.controllers.target.restart import RESTART_ANNOTATION, WorkloadRestarter
from keybearer.controllers.target.spec import Workload
from keybearer.controllers.telemetry import Telemetry
from keybearer.kube.errors import ForbiddenError, LeaseLostError
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import UID, Body, desired, new_spec

_WANTED = desired(new_spec(), {"A": "cnry-a"})
_META: Body = {"namespace": "team-a", "name": "web", "uid": UID}
_SEEN = ObservedObject.from_body(
    "SecretSync", {"metadata": _META, "spec": {}}, trigger_at=0, targets_of=no_targets
)


@pytest.fixture
def gateway() -> FakeGateway:
    gateway = FakeGateway()
    for kind, name in (("Deployment", "api"), ("StatefulSet", "db"), ("DaemonSet", "agent")):
        gateway.put(
            {"kind": kind, "metadata": {"namespace": "team-a", "name": name}, "spec": {"replicas": 2}}
        )
    return gateway


def workload(kind: str, name: str) -> Workload:
    return Workload.model_validate({"kind": kind, "name": name})


class _Telemetry:
    def __init__(self) -> None:
        self.missing: list[tuple[str, str]] = []

    def workload_missing(self, seen: ObservedObject, kind: str, name: str) -> None:
        assert seen is _SEEN
        self.missing.append((kind, name))


async def restart(gateway: FakeGateway, *workloads: Workload) -> list[tuple[str, str]]:
    """Return what was missing."""
    told = _Telemetry()
    await WorkloadRestarter(gateway, cast("Telemetry", told), EffectBudgets(HandClock())).restart(
        _SEEN, workloads, _WANTED
    )
    return told.missing


def mark(gateway: FakeGateway, kind: str, name: str) -> str | None:
    body = gateway.find(kind, name)
    assert body is not None
    assert body["spec"]["replicas"] == 2
    template = body["spec"].get("template")
    return None if template is None else str(template["metadata"]["annotations"][RESTART_ANNOTATION])


async def test_each_kind_of_workload_is_marked_with_the_fingerprint_of_the_data(gateway: FakeGateway) -> None:
    await restart(
        gateway, workload("Deployment", "api"), workload("StatefulSet", "db"), workload("DaemonSet", "agent")
    )

    expected = f"web:{_WANTED.data_fingerprint}"
    assert mark(gateway, "Deployment", "api") == expected
    assert mark(gateway, "StatefulSet", "db") == expected
    assert mark(gateway, "DaemonSet", "agent") == expected


async def test_a_workload_that_does_not_exist_is_named_and_keeps_no_other_from_it(
    gateway: FakeGateway,
) -> None:
    missing = await restart(gateway, workload("Deployment", "missing"), workload("StatefulSet", "db"))

    assert missing == [("Deployment", "missing")]
    assert mark(gateway, "StatefulSet", "db")


async def test_one_that_can_not_be_patched_keeps_no_other_from_it_and_is_named(gateway: FakeGateway) -> None:
    gateway.fail("merge_patch", "Deployment", ForbiddenError("no right to patch"))
    with pytest.raises(WaitingError) as waiting:
        await restart(gateway, workload("Deployment", "api"), workload("StatefulSet", "db"))

    assert waiting.value.reason == "WorkloadNotRestarted"
    assert "Deployment api: no right to patch" in waiting.value.message
    assert mark(gateway, "Deployment", "api") is None
    assert mark(gateway, "StatefulSet", "db")


async def test_a_lost_lease_ends_it_at_once(gateway: FakeGateway) -> None:
    gateway.fail("merge_patch", "Deployment", LeaseLostError("the Lease was lost"))
    with pytest.raises(LeaseLostError):
        await restart(gateway, workload("Deployment", "api"), workload("StatefulSet", "db"))

    assert mark(gateway, "StatefulSet", "db") is None


async def test_a_restart_that_is_done_again_is_no_second_one(gateway: FakeGateway) -> None:
    for _ in range(2):
        await restart(gateway, workload("Deployment", "api"))

    body = gateway.find("Deployment", "api")
    assert body is not None
    assert body["spec"]["template"] == {
        "metadata": {"annotations": {RESTART_ANNOTATION: f"web:{_WANTED.data_fingerprint}"}}
    }


async def test_two_targets_that_change_at_once_restart_a_workload_a_minute_apart(
    gateway: FakeGateway,
) -> None:
    clock = HandClock()
    restarter = WorkloadRestarter(gateway, cast("Telemetry", _Telemetry()), EffectBudgets(clock))
    api = workload("Deployment", "api")
    await restarter.restart_for(_SEEN, [api], "first")

    with pytest.raises(WaitingError, match="less than a minute ago") as waiting:
        await restarter.restart_for(_SEEN, [api, workload("StatefulSet", "db")], "second")

    assert mark(gateway, "Deployment", "api") == "first"
    assert mark(gateway, "StatefulSet", "db") == "second"
    assert waiting.value.after is not None
    clock.seconds += waiting.value.after.total_seconds()
    await restarter.restart_for(_SEEN, [api, workload("StatefulSet", "db")], "second")
    assert mark(gateway, "Deployment", "api") == "second"


async def test_one_that_could_not_be_patched_is_tried_again_at_once(gateway: FakeGateway) -> None:
    gateway.fail("merge_patch", "Deployment", ForbiddenError("no right to patch"))
    restarter = WorkloadRestarter(gateway, cast("Telemetry", _Telemetry()), EffectBudgets(HandClock()))
    with pytest.raises(WaitingError):
        await restarter.restart_for(_SEEN, [workload("Deployment", "api")], "first")

    await restarter.restart_for(_SEEN, [workload("Deployment", "api")], "first")

    assert mark(gateway, "Deployment", "api") == "first"


async def test_a_workload_that_does_not_exist_uses_no_budget(gateway: FakeGateway) -> None:
    telemetry = _Telemetry()
    restarter = WorkloadRestarter(gateway, cast("Telemetry", telemetry), EffectBudgets(HandClock()))
    slip = workload("Deployment", "apii")

    await restarter.restart_for(_SEEN, [slip], "first")
    await restarter.restart_for(_SEEN, [slip], "second")
    gateway.put({"kind": "Deployment", "metadata": {"namespace": "team-a", "name": "apii"}, "spec": {}})
    await restarter.restart_for(_SEEN, [slip], "third")

    assert telemetry.missing == [("Deployment", "apii")] * 2
    body = gateway.find("Deployment", "apii")
    assert body is not None
    assert body["spec"]["template"]["metadata"]["annotations"] == {RESTART_ANNOTATION: "third"}
