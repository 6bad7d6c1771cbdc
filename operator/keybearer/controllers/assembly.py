"""The parts of a leading operator, wired once."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.base.tracing import Tracer
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.appconnection.gather import ConnectionGatherer
from keybearer.controllers.appconnection.reconcile import AppConnectionReconciler
from keybearer.controllers.appconnection.state import connection_state
from keybearer.controllers.background import Background
from keybearer.controllers.catalogue import CatalogueOf, own_catalogue
from keybearer.controllers.certificateprofile.parts import CertificateProfiles, ProfilesGiven
from keybearer.controllers.certificateprofile.targets import targets_of as targets_of_profile
from keybearer.controllers.cleanup_rights import CleanupRights
from keybearer.controllers.cleanup_tokens import CleanupTokens
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.connection_followers import ConnectionFollowers
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.freshness import Freshness
from keybearer.controllers.identity import ServiceIdentity, ServicePolicy, normalized_url
from keybearer.controllers.instant import InstantUpdates
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.object_resync import ObjectResync
from keybearer.controllers.objects import KindReading, ObjectStore
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.outage import ApiServerOutage
from keybearer.controllers.queue import Shares, WorkQueue
from keybearer.controllers.references import References, WatchFactory
from keybearer.controllers.resilience import ConcurrencyLimit, WriteGate
from keybearer.controllers.secretsync.destination import Destinations
from keybearer.controllers.secretsync.gather import Gatherer
from keybearer.controllers.secretsync.reconcile import SecretSyncReconciler
from keybearer.controllers.secretsync.targets import identity_of as identity_of_sync
from keybearer.controllers.secretsync.targets import targets_of as targets_of_sync
from keybearer.controllers.sessions import SessionOpener
from keybearer.controllers.settings import OperatorSettings
from keybearer.controllers.signers.parts import Signers, SignersGiven, assemble_signers
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.mount_refresh import MountRefresher
from keybearer.controllers.target.recreation import Recreation
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.target_resync import TargetResync
from keybearer.controllers.target_watch import TargetWatches
from keybearer.controllers.telemetry import OperatorMetrics, Telemetry
from keybearer.controllers.template.renderer import TemplateRenderer
from keybearer.controllers.work import Lane, WorkKey
from keybearer.controllers.workers import Reconciler, WorkerPool
from keybearer.kube.connection import Connection
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.gateway import Gateway
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import ObjectKey, Resource

__all__ = ["READINGS", "Assembly", "Circumstances", "assemble"]

_BACKOFF = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(minutes=5))

READINGS: Mapping[str, KindReading] = {
    "SecretSync": KindReading(targets_of_sync, identity_of_sync),
    "AppConnection": KindReading(),
    "CertificateProfile": KindReading(targets_of_profile),
}
"""How the objects of each kind are read as they arrive."""


class _OfKind(Reconciler, Protocol):
    """Reconciles a kind of custom resource, and knows all that it keeps of an object."""

    def forget(self, key: WorkKey) -> None:
        """Forget all that is kept of an object that is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a process has before it is assembled; `namespace` is where its own objects are."""

    settings: OperatorSettings
    namespace: str
    clock: Clock
    rng: random.Random
    connection: Connection
    gateway: Gateway
    fingerprinter: Fingerprinter
    metrics: OperatorMetrics
    tracer: Tracer | None = None
    catalogue: CatalogueOf = own_catalogue


@dataclass(frozen=True, slots=True)
class Assembly:
    """The parts that a process starts, feeds and ends."""

    queue: WorkQueue
    gate: WriteGate
    intake: EventIntake
    targets: TargetWatches
    sources: SourceReader
    instant: InstantUpdates
    references: References
    access: ServiceAccess
    cleanup_rights: CleanupRights
    sessions: SessionOpener
    renderer: TemplateRenderer
    recorder: EventRecorder
    target_resync: TargetResync
    object_resync: ObjectResync
    recreation: Recreation
    refresher: MountRefresher
    outage: ApiServerOutage
    signers: Signers
    workers: WorkerPool
    objects: ObjectStore
    metrics: OperatorMetrics

    async def start(self, background: Background) -> None:
        """Start all that runs by itself; the watch of our own kinds is the caller's."""
        background.start("watch targets", self.targets.run())
        listening, reading, knowing = asyncio.Event(), asyncio.Event(), asyncio.Event()
        background.start("post Events", self.recorder.run())
        background.start("follow events", self.instant.run(listening))
        await listening.wait()
        background.start("read sources", self.sources.run(reading))
        await reading.wait()
        background.start("follow references", self.references.run())
        background.start("keep rights to clean up", self.cleanup_rights.run(knowing))
        await knowing.wait()
        background.start("renew rights to clean up", self.cleanup_rights.renew())
        background.start("close unused sessions", self.access.run(self._sessions_in_use))
        background.start("resync targets", self.target_resync.run())
        background.start("resync objects", self.object_resync.run())
        background.start("refresh mounts", self.refresher.run())
        background.start("settle backups", self.recreation.run())
        self.signers.start(background)
        background.start("await the end of outages", self.outage.run())
        background.start("work", self.workers.run())

    def collect(self) -> None:
        """Bring gauges up to date; called when the metrics are asked for."""
        self.metrics.collect_queue(self.queue)
        self.metrics.bulk_limit.set(self.gate.limit)
        self.metrics.event_streams.set(self.instant.open_streams)
        for kind, count in self.objects.counts().items():
            self.metrics.objects.labels(kind).set(count)
        for kept in (self.metrics.readiness, self.metrics.conditions):
            kept.keep(lambda key: self.objects.get(key) is not None)

    def _sessions_in_use(self) -> set[str]:
        return self.sources.sessions_in_use() | self.cleanup_rights.sessions_in_use()

    async def close(self) -> None:
        """End sessions (revoking tokens that nobody needs any more), connections and the renderer."""
        await self.access.close(await self.cleanup_rights.hand_on())
        await self.sessions.close()
        await self.renderer.aclose()


def assemble(given: Circumstances) -> Assembly:
    """Return the parts, wired; nothing runs yet."""
    settings, clock, gateway = given.settings, given.clock, given.gateway
    queue = WorkQueue(clock, _BACKOFF, given.rng, shares=_shares(settings))
    gate = WriteGate(clock, ConcurrencyLimit(maximum=settings.workers))
    gateway.admit_writes(gate.write)
    gateway.watch_writes(given.metrics.calls.api_write)
    outage = ApiServerOutage(gateway.server_version, given.rng)
    gateway.observe(lambda answered: outage.note(answered=answered))
    objects, observed = ObjectStore(), ObservedStore()
    recorder = EventRecorder(gateway, instance=socket.gethostname(), clock=clock, idle=queue.rest)
    telemetry = Telemetry(given.metrics, recorder, given.tracer)
    instant = InstantUpdates(clock, given.rng)
    sources = SourceReader(clock, queue.add, given.rng, instant)
    instant.on_touch, instant.on_told = sources.touch, sources.show
    instant.on_attempt = lambda result: given.metrics.event_stream_attempts.labels(result).inc()
    instant.on_event = given.metrics.events.inc
    sources.on_read = lambda result: given.metrics.source_reads.labels(result).inc()
    sources.on_saved = given.metrics.coalesced.inc
    references = References(gateway, queue.add, _watch_factory(given))
    sessions = SessionOpener(clock, gateway, given.rng, given.metrics.calls.service_call)
    tokens = CleanupTokens(gateway, ObjectKey(given.namespace, f"{settings.lease_name}-cleanup-tokens"))
    access = ServiceAccess(
        clock=clock,
        gateway=gateway,
        references=references,
        fingerprinter=given.fingerprinter,
        policy=_policy(settings),
        open_session=sessions.open,
        shared=_shared_identity(settings),
        grants=settings.shared_grants,
        kept_token=tokens.use,
    )
    renderer = TemplateRenderer()
    recreation = Recreation(gateway)
    budgets = EffectBudgets(clock, telemetry.effect_delayed)
    writer = TargetWriter(gateway, observed, given.fingerprinter, recreation, budgets)
    restarter = WorkloadRestarter(gateway, telemetry, budgets, clock)
    refresher = MountRefresher(clock, gateway, objects, budgets, telemetry)
    writer.on_changed = refresher.changed
    cluster = ClusterIdentity(gateway, settings.cluster_id)
    followers = ConnectionFollowers(queue.add)
    gatherer = Gatherer(
        access, sources, references, renderer, given.fingerprinter, settings.allowed_target_types
    )
    destinations = Destinations(
        clock=clock,
        access=access,
        gatherer=gatherer,
        objects=objects,
        followers=followers,
        read_connection=connection_state,
        cluster=cluster,
        catalogue=given.catalogue,
        fingerprinter=given.fingerprinter,
        budgets=budgets,
    )
    reconciler = SecretSyncReconciler(
        clock=clock,
        gateway=gateway,
        objects=objects,
        sources=sources,
        gatherer=gatherer,
        writer=writer,
        restarter=restarter,
        destinations=destinations,
        fingerprinter=given.fingerprinter,
        telemetry=telemetry,
        freshness=Freshness(clock, given.metrics.freshness),
        changes_wait=lambda: queue.is_waiting(Lane.CHANGE),
    )

    connections = AppConnectionReconciler(
        clock=clock,
        gateway=gateway,
        objects=objects,
        gatherer=ConnectionGatherer(access, references),
        cluster=cluster,
        catalogue=given.catalogue,
        fingerprinter=given.fingerprinter,
        telemetry=telemetry,
        changed=followers.changed,
    )

    profiles = CertificateProfiles(
        ProfilesGiven(
            clock=clock,
            rng=given.rng,
            gateway=gateway,
            access=access,
            references=references,
            objects=objects,
            writer=writer,
            restarter=restarter,
            cluster=cluster,
            fingerprinter=given.fingerprinter,
            telemetry=telemetry,
        )
    )

    signers = assemble_signers(
        SignersGiven(
            clock=clock,
            rng=given.rng,
            connection=given.connection,
            gateway=gateway,
            queue=queue,
            objects=objects,
            cluster=cluster,
            recorder=recorder,
            metrics=given.metrics.certificates,
            read_profile=profiles.for_signers,
            namespaces=settings.namespaces or None,
            budgets=budgets,
        )
    )
    profiles.on_written, profiles.publishes = signers.profile_seen, signers.publishes

    kinds: Mapping[str, _OfKind] = {
        "SecretSync": reconciler,
        "AppConnection": connections,
        "CertificateProfile": profiles,
    }

    def forget(key: WorkKey) -> None:
        kinds[key.kind].forget(key)
        signers.profile_seen(key)
        followers.changed(key)

    intake = EventIntake(clock, queue, objects, observed, given.fingerprinter, READINGS, forget)
    intake.on_backup = recreation.notice
    intake.on_managed = references.noticed
    intake.on_seen = signers.profile_seen
    # Whoever was reconciled before its connection was known here has waited for it.
    intake.on_new = followers.changed
    intake.on_request = access.ask_again
    return Assembly(
        queue=queue,
        gate=gate,
        intake=intake,
        targets=TargetWatches(given.connection, intake, observed, given.rng, settings.namespaces or None),
        sources=sources,
        instant=instant,
        references=references,
        access=access,
        cleanup_rights=CleanupRights(clock, objects, access, tokens),
        sessions=sessions,
        renderer=renderer,
        recorder=recorder,
        target_resync=TargetResync(gateway, objects, observed, queue, intake, settings, given.rng),
        object_resync=ObjectResync(gateway, objects, intake, settings, given.rng),
        recreation=recreation,
        refresher=refresher,
        outage=outage,
        signers=signers,
        workers=WorkerPool(
            clock,
            queue,
            {**kinds, **signers.reconcilers},
            telemetry,
            gate,
            outage.pass_by,
            settings.workers,
        ),
        objects=objects,
        metrics=given.metrics,
    )


def _shares(settings: OperatorSettings) -> Shares | None:
    """Return how many of the workers one tenant's slow objects may hold: three in four at most."""
    if len(settings.namespaces) == 1:
        return None
    return Shares(urgent=max(1, settings.workers // 4), other=max(1, settings.workers // 2))


def _watch_factory(given: Circumstances) -> WatchFactory:
    namespaces = given.settings.namespaces or None

    def make(resource: Resource, on_change: Callable[[frozenset[WorkKey]], None]) -> ReferenceWatch[WorkKey]:
        return ReferenceWatch(
            given.connection, resource, on_change=on_change, rng=given.rng, namespaces=namespaces
        )

    return make


def _policy(settings: OperatorSettings) -> ServicePolicy:
    return ServicePolicy(
        default_url=settings.service_url,
        allowed_urls=settings.allowed_service_urls,
        allow_insecure_http=settings.allow_insecure_http,
        default_ca_pem=settings.service_ca_pem,
        api_audiences=settings.api_audiences,
    )


def _shared_identity(settings: OperatorSettings) -> ServiceIdentity | None:
    if settings.shared_client_id is None or settings.shared_client_secret is None:
        return None
    return ServiceIdentity(
        url=normalized_url(settings.service_url or ""),
        method="UniversalAuth",
        credentials={"clientId": settings.shared_client_id, "clientSecret": settings.shared_client_secret},
        ca_pem=settings.service_ca_pem,
    )
