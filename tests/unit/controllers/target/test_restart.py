from __future__ import annotations

from typing import cast

import pytest

from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import ObservedObject, no_targets
from keybearer.controllers.outcome import WaitingError
from keybearer.controllers.target.restart import (
    RESTART_ANNOTATION,
    Restarts,
    WantedRestart,
    WorkloadRestarter,
)
from keybearer.controllers.target.spec import Workload
from keybearer.controllers.target.status import WorkloadStatus
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


_VALUE = f"web:{_WANTED.data_fingerprint}"


class _Restarting:
    """An operator, and what the status that it wrote last says of the workloads."""

    def __init__(self, gateway: FakeGateway) -> None:
        self.clock, self.told = HandClock(), _Telemetry()
        self._restarter = WorkloadRestarter(
            gateway, cast("Telemetry", self.told), EffectBudgets(self.clock), self.clock
        )
        self.status: tuple[WorkloadStatus, ...] = ()

    async def settle(
        self, *workloads: Workload, value: str = _VALUE, changed: bool = True, look: bool = False
    ) -> Restarts:
        wanted = [WantedRestart(one, value, changed) for one in workloads]
        restarts = await self._restarter.settle(_SEEN, wanted, self.status, look=look)
        self.status = restarts.workloads
        return restarts


async def restart(gateway: FakeGateway, *workloads: Workload) -> list[tuple[str, str]]:
    """Return what was missing."""
    operator = _Restarting(gateway)
    restarts = await operator.settle(*workloads)
    if restarts.trouble is not None:
        raise restarts.trouble
    return operator.told.missing


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

    expected = _VALUE
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
    assert body["spec"]["template"] == {"metadata": {"annotations": {RESTART_ANNOTATION: _VALUE}}}


async def test_a_change_within_a_minute_waits_for_its_end(gateway: FakeGateway) -> None:
    operator = _Restarting(gateway)
    api, db = workload("Deployment", "api"), workload("StatefulSet", "db")
    await operator.settle(api, value="first")

    restarts = await operator.settle(api, db, value="second")

    assert mark(gateway, "Deployment", "api") == "first"
    assert mark(gateway, "StatefulSet", "db") == "second"
    assert restarts.trouble is None
    assert restarts.unsettled == {("Deployment", "api")}
    assert restarts.message == (
        "Deployment api is restarted at 2026-03-01T12:01:00Z, a minute after its last restart"
    )
    assert restarts.after is not None
    operator.clock.seconds += restarts.after.total_seconds()
    restarts = await operator.settle(api, db, value="second", changed=False)
    assert mark(gateway, "Deployment", "api") == "second"
    assert restarts.unsettled == frozenset()
    assert restarts.after is None


async def test_one_restart_covers_all_targets_that_changed_before_it(gateway: FakeGateway) -> None:
    operator = _Restarting(gateway)
    api = workload("Deployment", "api")
    await operator.settle(api, value="a:1")
    operator.clock.seconds += 10
    restarts = await operator.settle(api, value="a:2")
    of_another = restarts.workloads
    operator.clock.seconds += 10
    await operator.settle(api, value="b:2")
    operator.clock.seconds += 40
    await operator.settle(api, value="b:2", changed=False)
    assert mark(gateway, "Deployment", "api") == "b:2"
    gateway.writes.clear()

    operator.status = of_another
    restarts = await operator.settle(api, value="a:2", changed=False)

    assert restarts.unsettled == frozenset()
    assert gateway.writes == []


async def test_one_that_could_not_be_patched_is_tried_again_at_once(gateway: FakeGateway) -> None:
    gateway.fail("merge_patch", "Deployment", ForbiddenError("no right to patch"))
    operator = _Restarting(gateway)
    assert (await operator.settle(workload("Deployment", "api"))).trouble is not None

    assert (await operator.settle(workload("Deployment", "api"), changed=False)).trouble is None

    assert mark(gateway, "Deployment", "api") == _VALUE


async def test_a_workload_that_does_not_exist_uses_no_budget(gateway: FakeGateway) -> None:
    operator = _Restarting(gateway)
    slip = workload("Deployment", "apii")

    await operator.settle(slip, value="first")
    await operator.settle(slip, value="second")
    gateway.put({"kind": "Deployment", "metadata": {"namespace": "team-a", "name": "apii"}, "spec": {}})
    await operator.settle(slip, value="third")

    assert operator.told.missing == [("Deployment", "apii")] * 2
    body = gateway.find("Deployment", "apii")
    assert body is not None
    assert body["spec"]["template"]["metadata"]["annotations"] == {RESTART_ANNOTATION: "third"}


async def test_workloads_that_do_not_exist_are_named_before_a_restart_is_due_and_nothing_is_written(
    gateway: FakeGateway,
) -> None:
    operator = _Restarting(gateway)
    gateway.fail("merge_patch", "StatefulSet", ForbiddenError("no right to patch"))

    named = (workload("Deployment", "api"), workload("StatefulSet", "db"), workload("DaemonSet", "missing"))
    await operator.settle(*named, changed=False, look=True)

    assert operator.told.missing == [("DaemonSet", "missing")]
    assert [one.name for one in operator.status if one.missing_since is not None] == ["missing"]
    assert gateway.writes == []
    gateway.fail("merge_patch", "Deployment", LeaseLostError("the Lease was lost"))
    with pytest.raises(LeaseLostError):
        await operator.settle(*named, changed=False, look=True)


async def test_workloads_are_looked_for_up_to_a_bound(gateway: FakeGateway) -> None:
    operator = _Restarting(gateway)
    many = [workload("Deployment", f"missing-{number}") for number in range(100)]

    restarts = await operator.settle(*many, changed=False, look=True)

    assert len(operator.told.missing) == 64
    assert len(restarts.workloads) == 64
    assert restarts.message.endswith("; and 59 more")
    assert (await operator.settle(*many)).unsettled == {("Deployment", one.name) for one in many[:64]}
    assert len(operator.told.missing) == 64 + 100


async def test_nothing_is_sent_and_said_of_workloads_that_nothing_happened_to(gateway: FakeGateway) -> None:
    gateway.fail("merge_patch", "Deployment", ForbiddenError("no right to patch"))
    operator = _Restarting(gateway)

    assert await operator.settle(workload("Deployment", "api"), changed=False) == Restarts()
