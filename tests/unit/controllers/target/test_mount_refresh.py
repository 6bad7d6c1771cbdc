"""Which pods are annotated after a write, how many at a time, and what stands against it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import pytest
from prometheus_client import CollectorRegistry
from pydantic import JsonValue

from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import ObjectStore, ObservedObject, no_targets
from keybearer.controllers.resilience import urgent_work
from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.mount_refresh import REFRESH_ANNOTATION, MountRefresher
from keybearer.controllers.telemetry import OperatorMetrics, Telemetry
from keybearer.controllers.work import WorkKey
from keybearer.kube.errors import (
    ForbiddenError,
    InvalidError,
    KubeError,
    LeaseLostError,
    NotFoundError,
    UnavailableError,
)
from keybearer.kube.resources import JsonObject, ObjectKey, Resource
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.targets import UID, Body, Field, desired, new_spec
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time

_PATCH_SECONDS = 0.05


class _Pods(FakeGateway):
    """Pods whose patches take a while.

    Attributes:
        refused: what is answered to patches, by the pod's name; None: to those of all.
        patches: when which pod was patched, or refused to be.
        at_once: patches under way; `most_at_once`: the most that there were.
        urgent: whether one of the patches was as urgent as what people wait for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[str | None, KubeError] = {}
        self.patches: list[tuple[float, ObjectKey]] = []
        self.at_once = self.most_at_once = 0
        self.urgent = False

    def pod(self, name: str, namespace: str = "team-a", *, phase: str = "Running", node: str = "one") -> None:
        spec: Body = {
            "containers": [{"name": "app", "volumeMounts": [{"name": "v", "mountPath": "/etc/app"}]}],
            "volumes": [{"name": "v", "secret": {"secretName": "web"}}],
        }
        if node:
            spec["nodeName"] = node
        meta: Body = {"namespace": namespace, "name": name}
        self.put({"kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": phase}})

    def annotated(self, namespace: str = "team-a") -> set[str]:
        return {
            key.name
            for (kind, key), body in self.objects.items()
            if (kind, key.namespace) == ("Pod", namespace)
            and REFRESH_ANNOTATION in body["metadata"].get("annotations", {})
        }

    async def merge_patch(
        self,
        resource: Resource,
        key: ObjectKey,
        patch: Mapping[str, JsonValue],
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        subresource: str = "",
        manager: str = "keybearer",
        dry_run: bool = False,
    ) -> JsonObject:
        self.urgent |= urgent_work.get()
        self.patches.append((asyncio.get_running_loop().time(), key))
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await asyncio.sleep(_PATCH_SECONDS)
        finally:
            self.at_once -= 1
        refusal = self.refused.get(key.name, self.refused.get(None))
        if refusal is not None:
            raise refusal
        return await super().merge_patch(
            resource,
            key,
            patch,
            uid=uid,
            resource_version=resource_version,
            subresource=subresource,
            manager=manager,
            dry_run=dry_run,
        )


class _Telemetry(Telemetry):
    def __init__(self) -> None:
        self.metrics = OperatorMetrics(CollectorRegistry())
        self.told: list[str] = []

    def mounts_not_refreshed(self, seen: ObservedObject, why: str) -> None:
        self.told.append(f"{seen.key}: {why}")


class _Desk:
    """A refresher that a test tells of changes."""

    def __init__(self) -> None:
        self.pods, self.telemetry, self.objects = _Pods(), _Telemetry(), ObjectStore()
        clock = LoopClock()
        self.refresher = MountRefresher(clock, self.pods, self.objects, EffectBudgets(clock), self.telemetry)
        meta: Body = {"namespace": "team-a", "name": "web", "uid": UID, "resourceVersion": "1"}
        body: Body = {"metadata": meta, "spec": {}}
        self.objects.put(ObservedObject.from_body("SecretSync", body, trigger_at=0, targets_of=no_targets))

    def change(self, namespace: str = "team-a", *, keys: tuple[str, ...] = ("A",), **spec: Field) -> None:
        owner = WorkKey("SecretSync", namespace, "web")
        target = desired(new_spec(name="web", **spec), {"A": "cnry-a"}, owner=owner)
        self.refresher.changed(target, KeyChanges(change=keys), UID)


@asynccontextmanager
async def _running() -> AsyncIterator[_Desk]:
    desk = _Desk()
    running = asyncio.create_task(desk.refresher.run())
    yield desk
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


@in_virtual_time
async def test_pods_that_have_a_kubelet_and_have_not_ended_are_annotated() -> None:
    async with _running() as desk:
        desk.pods.pod("running")
        desk.pods.pod("starting", phase="Pending")
        desk.pods.pod("without-node", phase="Pending", node="")
        desk.pods.pod("succeeded", phase="Succeeded")
        desk.pods.pod("failed", phase="Failed")
        desk.pods.pod("leaving")
        leaving = desk.pods.find("Pod", "leaving")
        assert leaving is not None
        leaving["metadata"]["deletionTimestamp"] = "2026-03-01T12:00:00Z"
        desk.change()
        await asyncio.sleep(5)
        assert desk.pods.annotated() == {"running", "starting"}


@in_virtual_time
async def test_volumes_of_a_pod_are_read_once() -> None:
    async with _running() as desk:
        desk.pods.pod("app")
        for _ in range(2):
            desk.change()
            await asyncio.sleep(1)
        desk.pods.pod("later")
        desk.change()
        await asyncio.sleep(1)
        assert desk.pods.reads == ["Pod team-a/app", "Pod team-a/later"]
        assert len(desk.pods.patches) == 4


@in_virtual_time
async def test_what_no_file_shows_needs_no_look_at_pods() -> None:
    async with _running() as desk:
        desk.pods.pod("app")
        desk.change(keys=())
        desk.change(immutable=True)
        await asyncio.sleep(1)
        assert (desk.pods.reads, desk.pods.patches) == ([], [])


@in_virtual_time
async def test_after_an_outage_nothing_is_tried_before_the_next_change() -> None:
    async with _running() as desk:
        desk.pods.pod("app")
        desk.pods.fail("list", "Pod", UnavailableError("list pods: no connection"))
        desk.change()
        await asyncio.sleep(600)
        assert desk.pods.patches == []
        desk.change()
        await asyncio.sleep(1)
        assert desk.pods.annotated() == {"app"}


@in_virtual_time
async def test_pods_that_have_gone_are_no_refusals() -> None:
    async with _running() as desk:
        for number in range(25):
            desk.pods.pod(f"app-{number}")
            if number < 20:
                desk.pods.refused[f"app-{number}"] = NotFoundError("patch Pod: not found")
        desk.change()
        await asyncio.sleep(5)
        assert len(desk.pods.annotated()) == 5


@in_virtual_time
async def test_a_pod_whose_annotation_is_refused_keeps_no_other_from_its_own() -> None:
    """An admission policy that was made after a pod refuses every change of it."""
    names = {f"app-{number:03}" for number in range(250)}
    async with _running() as desk:
        for name in sorted(names):
            desk.pods.pod(name)
        desk.pods.refused["app-007"] = InvalidError("patch Pod team-a/app-007: a policy refuses it")
        desk.pods.refused["app-008"] = ForbiddenError("patch Pod team-a/app-008: a policy refuses it")
        desk.change()
        await asyncio.sleep(10)
        assert names - desk.pods.annotated() == {"app-007", "app-008"}
        assert not desk.telemetry.told, "the right is there"


@in_virtual_time
async def test_a_missing_right_is_told_once_and_not_asked_for_each_of_many_pods() -> None:
    async with _running() as desk:
        for number in range(500):
            desk.pods.pod(f"app-{number}")
        desk.pods.refused[None] = ForbiddenError("patch Pod: pods can't be patched")
        desk.change()
        await asyncio.sleep(30)
        assert len(desk.telemetry.told) == 1
        assert len(desk.pods.patches) <= 100


@in_virtual_time
async def test_pods_of_all_namespaces_together_are_annotated_a_hundred_a_second() -> None:
    namespaces = [f"team-{number}" for number in range(8)]
    async with _running() as desk:
        for namespace in namespaces:
            for number in range(150):
                desk.pods.pod(f"app-{number}", namespace)
            desk.change(namespace)
        await asyncio.sleep(30)
        assert all(len(desk.pods.annotated(namespace)) == 150 for namespace in namespaces)
        a_second = Counter(int(at) for at, _ in desk.pods.patches)
        assert max(a_second.values()) <= 110
        assert desk.pods.most_at_once <= 8, "others of the operator write as well"


@in_virtual_time
async def test_reconciles_go_first() -> None:
    async with _running() as desk:
        desk.pods.pod("app")
        desk.change()
        await asyncio.sleep(1)
        assert desk.pods.annotated()
        assert not desk.pods.urgent


@in_virtual_time
async def test_namespaces_that_change_all_the_time_leave_turns_to_others() -> None:
    async with _running() as desk:
        for number in range(8):
            desk.pods.pod("app", f"busy-{number}")
        desk.pods.pod("app", "quiet")
        for number in range(8):
            desk.change(f"busy-{number}")
        for turn in range(100):
            await asyncio.sleep(_PATCH_SECONDS / 2)
            for number in range(8):
                desk.change(f"busy-{number}")
            if turn == 3:
                desk.change("quiet")
        assert desk.pods.annotated("quiet")


@in_virtual_time
async def test_a_lost_lease_ends_it_with_that_very_error() -> None:
    desk = _Desk()
    running = asyncio.create_task(desk.refresher.run())
    for number in range(20):
        desk.pods.pod(f"app-{number}")
    desk.pods.refused[None] = LeaseLostError("another replica leads")
    desk.change()
    with pytest.raises(LeaseLostError, match="another replica leads"):
        await running
