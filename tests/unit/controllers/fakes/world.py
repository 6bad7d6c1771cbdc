"""A SecretSync's world: everything real but the API server, the service, and what renders templates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import cast

import orjson
from prometheus_client import CollectorRegistry, generate_latest

from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.appconnection.state import connection_state
from keybearer.controllers.catalogue import own_catalogue
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.connection_followers import ConnectionFollowers
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.freshness import Freshness
from keybearer.controllers.identity import ServicePolicy
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.references import References
from keybearer.controllers.secretsync.destination import Destinations
from keybearer.controllers.secretsync.gather import Gatherer
from keybearer.controllers.secretsync.reconcile import SecretSyncReconciler
from keybearer.controllers.secretsync.targets import targets_of
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.observed import observe_target
from keybearer.controllers.target.recreation import Recreation
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.telemetry import OperatorMetrics, Telemetry
from keybearer.controllers.template.renderer import TemplateRenderer
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.events import Occurrence
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import ObjectKey, Resource
from tools.local.marks import find_mark
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.source_follower import FakeFollower
from unit.controllers.fakes.source_session import FakeSession
from unit.controllers.fakes.targets import FINGERPRINTER, SYNC, UID, Body, Field, b64
from unit.controllers.fakes.virtual_loop import LoopClock

__all__ = ["FakeWatch", "World", "new_world", "secret"]


class FakeWatch:
    """Takes note of who follows what; a test calls back."""

    def __init__(self, resource: Resource, on_change: Callable[[frozenset[WorkKey]], None]) -> None:
        self.resource = resource
        self.on_change = on_change
        self.followed: dict[WorkKey, frozenset[ObjectKey]] = {}
        self.versions: dict[tuple[WorkKey, ObjectKey], str | None] = {}

    def follow(self, owner: WorkKey, keys: frozenset[ObjectKey]) -> None:
        if keys:
            self.followed[owner] = keys
        else:
            self.followed.pop(owner, None)

    def seen(self, owner: WorkKey, key: ObjectKey, version: str | None) -> None:
        self.versions[owner, key] = version

    async def run(self) -> None:
        await asyncio.get_running_loop().create_future()


class _Renderer:
    async def render(
        self, templates: Mapping[str, str], values: Mapping[str, bytes], *, tenant: str
    ) -> dict[str, bytes]:
        assert tenant == "team-a"
        joined = b",".join(values[name] for name in sorted(values))
        return {name: text.encode() + b":" + joined for name, text in templates.items()}


class _Recorder:
    def __init__(self) -> None:
        self.told: list[Occurrence] = []

    def record(self, occurrence: Occurrence) -> None:
        self.told.append(occurrence)


class World:
    """Holds SecretSync team-a/web, its identity and its target.

    Attributes:
        called: keys that were put on the queue.
        others_changed: a changed value has still to reach other targets.
    """

    def __init__(self, session: FakeSession) -> None:
        self.clock = LoopClock()
        self.gateway = FakeGateway()
        self.objects, self.observed = ObjectStore(), ObservedStore()
        self.session = session
        self.called: list[tuple[str, Lane]] = []
        self.others_changed = False
        self.watches: dict[str, FakeWatch] = {}
        self.recorder = _Recorder()
        self.metrics = OperatorMetrics(CollectorRegistry())
        self.follower = FakeFollower(others=False)
        self.sources = SourceReader(self.clock, self._call, SteadyChance(), self.follower)
        self.references = References(self.gateway, self._call, self._watch)
        self.access = ServiceAccess(
            clock=self.clock,
            gateway=self.gateway,
            references=self.references,
            fingerprinter=FINGERPRINTER,
            policy=ServicePolicy("https://keybearer.example.com"),
            open_session=lambda _id, _identity: cast("ServiceSession", self.session),
            shared=None,
            grants=(),
        )
        telemetry = Telemetry(self.metrics, cast("EventRecorder", self.recorder))
        budgets = EffectBudgets(self.clock, telemetry.effect_delayed)
        self.writer = TargetWriter(
            self.gateway, self.observed, FINGERPRINTER, Recreation(self.gateway), budgets
        )
        self.gatherer = Gatherer(
            self.access,
            self.sources,
            self.references,
            cast("TemplateRenderer", _Renderer()),
            FINGERPRINTER,
            frozenset(),
        )
        self.reconciler = SecretSyncReconciler(
            clock=self.clock,
            gateway=self.gateway,
            objects=self.objects,
            sources=self.sources,
            gatherer=self.gatherer,
            writer=self.writer,
            restarter=WorkloadRestarter(self.gateway, telemetry, budgets, self.clock),
            destinations=Destinations(
                catalogue=own_catalogue,
                clock=self.clock,
                access=self.access,
                gatherer=self.gatherer,
                objects=self.objects,
                followers=ConnectionFollowers(self._call),
                read_connection=connection_state,
                cluster=ClusterIdentity(self.gateway, "cluster-1"),
                fingerprinter=FINGERPRINTER,
                budgets=budgets,
            ),
            fingerprinter=FINGERPRINTER,
            telemetry=telemetry,
            freshness=Freshness(self.clock, self.metrics.freshness),
            changes_wait=lambda: self.others_changed,
        )
        self.gateway.put(secret("login", {"clientId": "cnry-id", "clientSecret": "cnry-secret"}))

    def _call(self, key: WorkKey, lane: Lane) -> None:
        self.called.append((key.name, lane))

    def _watch(
        self, resource: Resource, on_change: Callable[[frozenset[WorkKey]], None]
    ) -> ReferenceWatch[WorkKey]:
        watch = self.watches[resource.kind] = FakeWatch(resource, on_change)
        return cast("ReferenceWatch[WorkKey]", watch)

    def put_sync(self, *, target: Field = None, metadata: Field = None, **spec: Field) -> ObservedObject:
        """Create the SecretSync, or edit its spec; what was said of its status stays."""
        before = self.gateway.find("SecretSync", "web") or {}
        meta = before.get("metadata") or {"namespace": "team-a", "name": "web", "uid": UID, "generation": 0}
        source = {"projectId": "shop", "environment": "dev"}
        whole = {"source": source, "identityRef": {"name": "login"}, "target": target or {}, **spec}
        body = {
            "kind": "SecretSync",
            "metadata": meta | {"generation": meta["generation"] + 1} | (metadata or {}),
            "spec": whole,
            "status": before.get("status", {}),
        }
        return self.see(self.gateway.put(body))

    def ask(self, request: str, at: str) -> None:
        """Let a person ask for something."""
        body = self.gateway.find("SecretSync", "web")
        assert body is not None
        body["metadata"]["annotations"] = {"keybearer.dev/request": request, "keybearer.dev/requestedAt": at}
        self.see(body)

    def see(self, body: Body) -> ObservedObject:
        """Deliver an event of the SecretSync."""
        seen = ObservedObject.from_body(
            "SecretSync", body, trigger_at=self.clock.monotonic(), targets_of=targets_of
        )
        self.objects.put(seen)
        return seen

    def drop(self) -> None:
        """The SecretSync is gone from the API server, and no watch has told so."""
        self.gateway.remove("SecretSync", "web")

    def watch_targets(self) -> None:
        """Deliver what a watch would show of all targets by now."""
        for seen in list(self.observed):
            if self.gateway.find(seen.key.kind, seen.key.name, seen.key.namespace) is None:
                self.observed.drop(seen.key)
        for (kind, _), body in self.gateway.objects.items():
            if kind in ("Secret", "ConfigMap") and "keybearer.dev/managed" in (
                body["metadata"].get("labels") or {}
            ):
                self.observed.put(observe_target(kind, body, FINGERPRINTER))

    def echo(self) -> None:
        """Deliver what the watches would show of everything by now."""
        self.watch_targets()
        body = self.gateway.find("SecretSync", "web")
        if body is not None:
            self.see(body)

    async def reconcile(self, lane: Lane = Lane.URGENT) -> RunResult:
        """Run once for the SecretSync."""
        return await self.reconciler.reconcile(WorkItem(SYNC, lane, 0.0), "reconcile-1")

    @property
    def status(self) -> Body:
        """What the API server holds as the status."""
        body = self.gateway.find("SecretSync", "web")
        assert body is not None
        status: Body = body.get("status") or {}
        return status

    def condition(self, kind: str = "Ready") -> tuple[str, str] | None:
        """Return status and reason of a condition."""
        found = (one for one in self.status.get("conditions", []) if one["type"] == kind)
        return next(((one["status"], one["reason"]) for one in found), None)

    def message(self, kind: str = "Ready") -> str:
        """Return the message of a condition."""
        return next(str(one["message"]) for one in self.status["conditions"] if one["type"] == kind)

    def data(self, name: str = "web", kind: str = "Secret") -> dict[str, str] | None:
        """Return the data of a target, or None where there is none."""
        body = self.gateway.find(kind, name)
        return None if body is None else dict(body.get("data") or {})

    def written(self) -> list[str]:
        """Return what was written since the last question, in order."""
        writes = [str(write) for write in self.gateway.writes]
        self.gateway.writes.clear()
        return writes

    def shown(self) -> str:
        """Return all that more people may read than the target: status, Events and metrics."""
        body = self.gateway.find("SecretSync", "web")
        status = orjson.dumps(None if body is None else body.get("status")).decode()
        events = (f"{one.reason} {one.message}" for one in self.recorder.told)
        return "\n".join((status, *events, generate_latest(self.metrics.registry).decode()))


def secret(name: str, values: Mapping[str, str], *, labels: Mapping[str, str] | None = None) -> Body:
    """Return somebody's Secret."""
    return {
        "kind": "Secret",
        "metadata": {"namespace": "team-a", "name": name, "labels": dict(labels or {}), "managedFields": []},
        "type": "Opaque",
        "data": {key: b64(value) for key, value in values.items()},
    }


@asynccontextmanager
async def new_world(session: FakeSession) -> AsyncIterator[World]:
    """Yield a world whose sources are read while the context lasts; at its end none of it may show a value."""
    world = World(session)
    started = asyncio.Event()
    reading = asyncio.create_task(world.sources.run(started))
    await started.wait()
    yield world
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading
    leak = find_mark(world.shown())
    assert leak is None, f"status, Events or metrics show a marked value: {leak}"
