"""A signer's world: everything real but the API server, the service, and the watches, which a test plays itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

import orjson
from prometheus_client import CollectorRegistry

from keybearer.controllers.certificate_metrics import CertificateMetrics
from keybearer.controllers.certificateprofile.parts import issuing_profile
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.issuance.profile import IssuingProfile
from keybearer.controllers.issuance.service import OpenedService
from keybearer.controllers.objects import ObjectStore, ObservedObject, no_targets
from keybearer.controllers.signers.asked import SOURCES
from keybearer.controllers.signers.profiles import Profiles
from keybearer.controllers.signers.reconcile import SignerReconciler
from keybearer.controllers.signers.store import OpenRequests, RequestReceiver
from keybearer.controllers.signers.teller import Teller
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.events import Occurrence
from keybearer.kube.resources import ObjectKey, Resource
from tools.local.kube_api import Body
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.signing_service import PROFILE_ID, PROJECT_ID, FakeSigningService

__all__ = ["NAMESPACE", "SIGNER", "SigningWorld", "condition"]

NAMESPACE = "team-a"
SIGNER = f"certificateprofiles.keybearer.dev/{NAMESPACE}.web"
_SPEC = {"identityRef": {"name": "identity"}, "existing": True}
_STATUS = {"profile": {"id": PROFILE_ID, "slug": "web", "caId": "ca-1"}}
_SETTLED_SECONDS = 60


class SigningWorld:
    """One operator process with its signers; `restart` makes another one of it.

    Attributes:
        told: Events.
        queued: requests that were put on the queue.
    """

    def __init__(self, *, skew: timedelta = timedelta()) -> None:
        """Begin it; `skew` is how far the service's clock is ahead."""
        self.clock = HandClock()
        self.gateway = FakeGateway()
        self.service = FakeSigningService(lambda: self.clock.now() + skew)
        self.objects = ObjectStore()
        self.registry = CollectorRegistry()
        self._metrics = CertificateMetrics(self.registry)
        self.told: list[Occurrence] = []
        self.queued: list[WorkKey] = []
        self.start()

    def start(self) -> None:
        """The process begins; what the one before knew is gone."""
        self.requests = OpenRequests(self._queue, lambda _: True)
        self._receivers = {kind: RequestReceiver(kind, self.requests) for kind in SOURCES}
        self.signer = SignerReconciler(
            clock=self.clock,
            gateway=self.gateway,
            requests=self.requests,
            profiles=Profiles(self.objects, self.read_profile),
            cluster=ClusterIdentity(self.gateway, "cluster-1"),
            teller=Teller(cast("EventRecorder", self), self._metrics, self.served),
            served=self.served,
            trigger=self._queue,
        )

    def served(self, resource: Resource) -> Resource:
        """The resource in the version that is served."""
        return next((one for one in resource.versions if one not in self.gateway.unserved), resource)

    def settle(self) -> None:
        """Time passes: nothing of a process before is on its way any more."""
        self.clock.seconds += _SETTLED_SECONDS

    def record(self, occurrence: Occurrence) -> None:
        self.told.append(occurrence)

    def profile(
        self,
        *,
        status: Body | None = None,
        deleting: bool = False,
        finalizers: Sequence[str] = (),
        **spec: object,
    ) -> None:
        """The profile is there, as its own reconcile leaves it, but for what is said."""
        meta: Body = {"namespace": NAMESPACE, "name": "web", "uid": "profile-uid", "generation": 1}
        if finalizers:
            meta["finalizers"] = list(finalizers)
        if deleting:
            meta["deletionTimestamp"] = "2026-03-01T12:00:00Z"
        body: Body = {
            "kind": "CertificateProfile",
            "metadata": meta,
            "spec": {**_SPEC, **spec},
            "status": _STATUS if status is None else status,
        }
        self.objects.put(
            ObservedObject.from_body(
                "CertificateProfile", body, trigger_at=self.clock.monotonic(), targets_of=no_targets
            )
        )
        self.gateway.put(body)

    def show(self, body: Body) -> WorkKey | None:
        """The watch shows an object that somebody made; return its key where it asks us something."""
        body = {**body, "metadata": {"namespace": "", **body["metadata"]}}
        return self.watch(self.gateway.put(body))

    def watch(self, body: Mapping[str, Any], *, listed: bool = False) -> WorkKey | None:
        """The watch shows the object as it is; `listed`: a listing found it, and may have missed what was before."""
        kind, meta = body["kind"], body["metadata"]
        key = ObjectKey(meta["namespace"], meta["name"])
        receiver = self._receivers[kind]
        (receiver.listed if listed else receiver.changed)(key, orjson.loads(orjson.dumps(body)))
        namespaces = (meta["namespace"], NAMESPACE)
        keys = (WorkKey(kind, namespace, meta["name"]) for namespace in namespaces)
        return next((one for one in keys if self.requests.get(one) is not None), None)

    def end(self, body: Mapping[str, Any]) -> None:
        """The watch tells that the object is gone."""
        meta = body["metadata"]
        self._receivers[body["kind"]].gone(ObjectKey(meta["namespace"], meta["name"]), None)

    async def run(self, key: WorkKey) -> RunResult:
        """The key's turn comes, and the watch shows what was written."""
        result = await self.signer.reconcile(WorkItem(key, Lane.URGENT, 0.0), "r1")
        for (kind, _), body in list(self.gateway.objects.items()):
            if kind in SOURCES:
                self.watch(body)
        return result

    async def sign(self, body: Body) -> Body:
        """Somebody makes the object, and its turn comes once; return what it is then."""
        self.settle()
        key = self.show(body)
        if key is not None:
            await self.run(key)
        return self.object(body)

    def object(self, body: Body) -> Body:
        """The object as the API server holds it."""
        meta = body["metadata"]
        found = self.gateway.find(body["kind"], meta["name"], meta.get("namespace", ""))
        assert found is not None
        return found

    def counted(self, kind: str, status: str) -> float:
        labels = {"source": kind, "status": status}
        name = "keybearer_certificate_requests_total"
        return self.registry.get_sample_value(name, labels) or 0.0

    def read_profile(self, seen: ObservedObject) -> IssuingProfile:
        return issuing_profile(seen, self._open)

    async def _open(self, key: WorkKey, spec: CertificateProfileSpec) -> OpenedService:
        assert (key.name, spec.identity_ref.name) == ("web", "identity")
        return OpenedService(self.service, PROJECT_ID)

    def _queue(self, key: WorkKey, lane: Lane) -> None:
        del lane
        self.queued.append(key)


def condition(body: Body, kind: str) -> tuple[str, str] | None:
    """Status and reason of a condition."""
    listed = body.get("status", {}).get("conditions", [])
    return next(((one["status"], one["reason"]) for one in listed if one["type"] == kind), None)
