"""A CertificateProfile's world: everything real but the API server and the service."""

# ruff: noqa: ARG002 - signatures of the real ones

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import cast

from prometheus_client import CollectorRegistry

from keybearer.base.clock import Clock
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.certificateprofile.gather import ProfileGatherer
from keybearer.controllers.certificateprofile.reconcile import CertificateProfileReconciler
from keybearer.controllers.certificateprofile.remote import RemoteCertificates
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.secret_contents import Keyring, read_keyring
from keybearer.controllers.certificateprofile.targets import keyring_name, targets_of
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.references import References
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.observed import observe_target
from keybearer.controllers.target.recreation import Recreation
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.telemetry import OperatorMetrics, Telemetry
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.events import Occurrence
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import Resource
from keybearer.pki.certificates import Certificate, parse_certificates
from unit.controllers.fakes.certificate_service import FakeCertificateService, new_authority
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import FINGERPRINTER, Body, Field
from unit.controllers.fakes.world import FakeWatch

__all__ = ["DAY", "KEY", "ProfileWorld", "certificate", "issued_world"]

DAY = 86_400.0
"""Of seconds that pass."""
KEY = WorkKey("CertificateProfile", "team-a", "web")
_UID = "7f6c2f0e-0000-4000-8000-000000000007"
_START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class _Recorder:
    def __init__(self) -> None:
        self.told: list[Occurrence] = []

    def record(self, occurrence: Occurrence) -> None:
        self.told.append(occurrence)


class _Session:
    id = "session-1"


class _Gatherer(ProfileGatherer):
    """Gathers all but what comes from the service."""

    def __init__(self, references: References, service: FakeCertificateService) -> None:
        super().__init__(cast("ServiceAccess", None), references)
        self._service = service

    async def session(
        self, follower: WorkKey, spec: CertificateProfileSpec, *, cleans_up: bool = False
    ) -> ServiceSession:
        return cast("ServiceSession", _Session())

    def service(self, session: ServiceSession) -> RemoteCertificates:
        return cast("RemoteCertificates", self._service)

    async def project_id(self, session: ServiceSession, spec: CertificateProfileSpec) -> str | None:
        return spec.project_id


def certificate(name: str, **fields: Field) -> Body:
    """A certificate of a manifest."""
    attributes = {
        "commonName": f"{name}.example.com",
        "altNames": [{"value": f"{name}.example.com"}],
        "ttl": "90d",
    }
    return {"name": name, "attributes": attributes, **fields}


class ProfileWorld:
    """One CertificateProfile `web` in `team-a`.

    Attributes:
        publishes: whether the authorities of profiles are published in trust bundles.
        shows_secrets: whether the watch of Secrets has shown by now what there is.
    """

    def __init__(self) -> None:
        self.clock = HandClock(_START)
        self.gateway = FakeGateway()
        self.service = FakeCertificateService(self.clock.now, new_authority("Example Root", _START))
        self.recorder = _Recorder()
        self.metrics = OperatorMetrics(CollectorRegistry())
        self.written: list[WorkKey] = []
        self.publishes = False
        self.shows_secrets = True
        self.restart()

    def restart(self) -> None:
        """The operator begins anew: nothing is remembered but what the API server holds."""
        self.objects, self.observed = ObjectStore(), ObservedStore()
        telemetry = Telemetry(self.metrics, cast("EventRecorder", self.recorder))
        references = References(self.gateway, lambda *_: None, self._watch)
        budgets = EffectBudgets(self.clock)
        self.reconciler = CertificateProfileReconciler(
            clock=cast("Clock", self.clock),
            gateway=self.gateway,
            objects=self.objects,
            gatherer=_Gatherer(references, self.service),
            writer=TargetWriter(
                self.gateway, self.observed, FINGERPRINTER, Recreation(self.gateway), budgets
            ),
            restarter=WorkloadRestarter(self.gateway, telemetry, budgets, self.clock),
            cluster=ClusterIdentity(self.gateway, "cluster-1"),
            fingerprinter=FINGERPRINTER,
            telemetry=telemetry,
            rng=Random(1),  # noqa: S311 - jitter
            seen_by_others=self.written.append,
            publishes=lambda: self.publishes,
        )
        self.echo()

    @staticmethod
    def _watch(
        resource: Resource, on_change: Callable[[frozenset[WorkKey]], None]
    ) -> ReferenceWatch[WorkKey]:
        return cast("ReferenceWatch[WorkKey]", FakeWatch(resource, on_change))

    def put(self, *certificates: Body, **spec: Field) -> None:
        """Create the CertificateProfile, or edit its spec; what was said of its status stays."""
        before = self.gateway.find("CertificateProfile", "web") or {}
        meta = before.get("metadata") or {"namespace": "team-a", "name": "web", "uid": _UID, "generation": 0}
        whole = {
            "identityRef": {"name": "login"},
            "policyRef": {"name": "policy"},
            "caRef": {"name": "authority"},
            "certificates": list(certificates),
            **spec,
        }
        self.gateway.put(
            {
                "kind": "CertificateProfile",
                "metadata": meta | {"generation": meta["generation"] + 1},
                "spec": {name: value for name, value in whole.items() if value is not None},
                "status": before.get("status", {}),
            }
        )
        self.echo()

    def ask(self, request: str, at: str) -> None:
        """Let a person ask for something."""
        body = self.gateway.find("CertificateProfile", "web")
        assert body is not None
        body["metadata"]["annotations"] = {"keybearer.dev/request": request, "keybearer.dev/requestedAt": at}
        self.echo()

    def delete(self) -> None:
        """Let a person delete it."""
        body = self.gateway.find("CertificateProfile", "web")
        assert body is not None
        body["metadata"]["deletionTimestamp"] = self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        self.echo()

    def echo(self) -> None:
        """Deliver what the watches would show of everything by now."""
        body = self.gateway.find("CertificateProfile", "web")
        if body is not None:
            self.objects.put(
                ObservedObject.from_body(
                    "CertificateProfile", body, trigger_at=self.clock.monotonic(), targets_of=targets_of
                )
            )
        if not self.shows_secrets:
            return
        for seen in list(self.observed):
            if self.gateway.find(seen.key.kind, seen.key.name, seen.key.namespace) is None:
                self.observed.drop(seen.key)
        for (kind, _), held in self.gateway.objects.items():
            if kind == "Secret" and "keybearer.dev/managed" in (held["metadata"].get("labels") or {}):
                self.observed.put(observe_target(kind, held, FINGERPRINTER))

    async def reconcile(self) -> RunResult:
        """Run once, after the watches have shown everything."""
        self.echo()
        return await self.reconciler.reconcile(WorkItem(KEY, Lane.URGENT, 0.0), "reconcile-1")

    def pass_time(self, seconds: float) -> None:
        """Let time go by."""
        self.clock.seconds += seconds

    def remove_secret(self, name: str) -> None:
        """Somebody deletes a Secret."""
        self.gateway.remove("Secret", name)

    @property
    def status(self) -> Body:
        """What the API server holds as the status."""
        body = self.gateway.find("CertificateProfile", "web")
        assert body is not None
        status: Body = body.get("status") or {}
        return status

    def entry(self, name: str) -> Body:
        """What the status says of a certificate."""
        return next(one for one in self.status["certificateRequests"] if one["name"] == name)

    @property
    def ready(self) -> tuple[str, str]:
        """Status and reason of the condition Ready."""
        found = next(one for one in self.status["conditions"] if one["type"] == "Ready")
        return found["status"], found["reason"]

    @property
    def message(self) -> str:
        """Message of the condition Ready."""
        return next(str(one["message"]) for one in self.status["conditions"] if one["type"] == "Ready")

    def data(self, name: str) -> dict[str, bytes]:
        """What a Secret holds."""
        body = self.gateway.find("Secret", name)
        assert body is not None, f"no Secret {name}"
        return {key: base64.b64decode(value) for key, value in body["data"].items()}

    def stored(self, name: str) -> list[Certificate]:
        """What is in `tls.crt`."""
        return list(parse_certificates(self.data(name)["tls.crt"].decode()))

    @property
    def keyring(self) -> Keyring:
        """What the Secret of keys holds."""
        return read_keyring(self.gateway.find("Secret", keyring_name("web")))

    def told_ready(self) -> dict[str, float]:
        """What `keybearer_certificate_ready` says, by certificate."""
        families = {family.name: family for family in self.metrics.certificates.collect()}
        samples = families["keybearer_certificate_ready"].samples
        return {sample.labels["certificate"]: sample.value for sample in samples}

    def writes(self) -> list[str]:
        """What was written since the last question, in order."""
        written = [str(write) for write in self.gateway.writes]
        self.gateway.writes.clear()
        return written


async def issued_world() -> ProfileWorld:
    """Return a world with a certificate that is good for long."""
    world = ProfileWorld()
    world.put(certificate("front"))
    await world.reconcile()
    assert world.ready == ("True", "Issued")
    return world
