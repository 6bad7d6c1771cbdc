"""An AppConnection that went: nothing that was followed for it stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from prometheus_client import CollectorRegistry

from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.appconnection.gather import ConnectionGatherer
from keybearer.controllers.appconnection.reconcile import AppConnectionReconciler
from keybearer.controllers.catalogue import own_catalogue
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.objects import ObjectStore, ObservedObject, no_targets
from keybearer.controllers.references import References
from keybearer.controllers.telemetry import OperatorMetrics, Telemetry
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.events import Occurrence
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import Resource
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import FINGERPRINTER, Body
from unit.controllers.fakes.world import FakeWatch

_KEY = WorkKey("AppConnection", "team-a", "store")


class _Recorder:
    def record(self, occurrence: Occurrence) -> None:
        """Keep nothing."""


async def test_one_that_ended_while_it_was_reconciled_follows_no_secret() -> None:
    gateway, objects, clock = FakeGateway(), ObjectStore(), HandClock()
    watches: dict[str, FakeWatch] = {}

    def watch(resource: Resource, on_change: Callable[[frozenset[WorkKey]], None]) -> ReferenceWatch[WorkKey]:
        watches[resource.kind] = FakeWatch(resource, on_change)
        return cast("ReferenceWatch[WorkKey]", watches[resource.kind])

    references = References(gateway, lambda *_: None, watch)
    reconciler = AppConnectionReconciler(
        clock=clock,
        gateway=gateway,
        objects=objects,
        gatherer=ConnectionGatherer(cast("ServiceAccess", None), references),
        cluster=ClusterIdentity(gateway, "cluster-1"),
        catalogue=own_catalogue,
        fingerprinter=FINGERPRINTER,
        telemetry=Telemetry(OperatorMetrics(CollectorRegistry()), cast("EventRecorder", _Recorder())),
        changed=lambda _: None,
    )
    spec: Body = {
        "app": "cloud",
        "method": "access-key",
        "projectId": "shop",
        "identityRef": {"name": "login"},
        "credentials": {"accessKeyId": {"valueFrom": {"secretKeyRef": {"name": "keys", "key": "id"}}}},
    }
    # The API server has it no more, which its status shows: nobody has told the operator yet.
    meta: Body = {"namespace": "team-a", "name": "store", "uid": "uid-1", "generation": 1}
    objects.put(
        ObservedObject.from_body(
            "AppConnection", {"metadata": meta, "spec": spec}, trigger_at=0.0, targets_of=no_targets
        )
    )

    assert await reconciler.reconcile(WorkItem(_KEY, Lane.URGENT, 0.0), "reconcile-1") == RunResult()

    assert objects.get(_KEY) is None
    assert watches["Secret"].followed == {}
