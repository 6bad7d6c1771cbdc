"""Signers against a real API server, with the rights of the chart and a service in the test's hands."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TypeVar

from prometheus_client import CollectorRegistry

from keybearer.base.backoff import Backoff
from keybearer.base.clock import SystemClock
from keybearer.controllers.background import Background
from keybearer.controllers.certificateprofile.parts import issuing_profile
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.issuance.service import CertificateService, OpenedService
from keybearer.controllers.objects import ObjectStore, ObservedObject, no_targets
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.resilience import ConcurrencyLimit, WriteGate
from keybearer.controllers.signers.parts import Signers, SignersGiven, assemble_signers
from keybearer.controllers.telemetry import OperatorMetrics, Telemetry
from keybearer.controllers.work import WorkKey
from keybearer.controllers.workers import WorkerPool
from keybearer.kube.connection import Connection
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.gateway import Gateway
from support import async_waiting
from tools.local.kube_api import Body
from tools.local.operator_cluster import OperatorCluster
from tools.local.waiting import eventually

__all__ = ["SignersInProcess", "aside", "signers_in_process", "until"]

T = TypeVar("T")

_WORKERS = 4


@dataclass(frozen=True)
class SignersInProcess:
    """Running signers.

    Attributes:
        signers: the parts.
        objects: where the test shows profiles.
        registry: of their metrics.
    """

    signers: Signers
    objects: ObjectStore
    registry: CollectorRegistry

    def versions(self) -> dict[str, str]:
        """By kind, the version in which it is served as the metric tells it; nothing before the first look."""
        families = (one for one in self.registry.collect() if one.name == "keybearer_served_version")
        return {one.labels["kind"]: one.labels["version"] for found in families for one in found.samples}

    def follow_all(self) -> bool:
        """Whether all that is served is followed."""
        versions = self.versions()
        served = (one for one in self.signers.watches if versions.get(one.resource.kind) != "none")
        return bool(versions) and all(one.trouble is None for one in served)

    def show(self, profile: Body) -> None:
        """The watch of profiles shows this one, as the API server holds it."""
        seen = ObservedObject.from_body("CertificateProfile", profile, trigger_at=0, targets_of=no_targets)
        self.objects.put(seen)
        self.signers.profile_seen(seen.key)

    def end(self, profile: Body) -> None:
        """The watch of profiles tells that this one is gone."""
        meta = profile["metadata"]
        key = WorkKey("CertificateProfile", meta["namespace"], meta["name"])
        self.objects.end(key, meta["uid"])
        self.signers.profile_seen(key)


@asynccontextmanager
async def signers_in_process(
    cluster: OperatorCluster, service: CertificateService
) -> AsyncIterator[SignersInProcess]:
    """Yield signers that work until the block ends."""

    async def open_service(key: WorkKey, spec: CertificateProfileSpec) -> OpenedService:
        del key
        return OpenedService(service, spec.project_id)

    async def ready() -> None:
        return

    tasks, sockets = asyncio.all_tasks(), _watched_sockets()

    async def has_closed() -> bool:
        await asyncio.sleep(0)  # a socket is closed in the turn after the loop stopped watching it
        return asyncio.all_tasks() <= tasks and _watched_sockets() <= sockets

    clock, rng = SystemClock(), random.Random(1)  # noqa: S311 - spreads reconnecting
    async with await Connection.open(kubeconfig=str(cluster.kubeconfig)) as connection:
        gateway = Gateway(connection, may_write=lambda: None)
        queue = WorkQueue(clock, Backoff(timedelta(seconds=0.2), timedelta(seconds=1)), rng)
        metrics, objects = OperatorMetrics(CollectorRegistry()), ObjectStore()
        recorder = EventRecorder(gateway, instance=socket.gethostname(), clock=clock, idle=queue.rest)
        signers = assemble_signers(
            SignersGiven(
                clock=clock,
                rng=rng,
                connection=connection,
                gateway=gateway,
                queue=queue,
                objects=objects,
                cluster=ClusterIdentity(gateway, "cluster-1"),
                recorder=recorder,
                metrics=metrics.certificates,
                read_profile=partial(issuing_profile, open_service=open_service),
                namespaces=None,
                budgets=EffectBudgets(clock),
            )
        )
        gate = WriteGate(clock, ConcurrencyLimit(maximum=_WORKERS))
        workers = WorkerPool(
            clock, queue, signers.reconcilers, Telemetry(metrics, recorder), gate, ready, _WORKERS
        )
        async with Background() as background:
            background.start("post Events", recorder.run())
            signers.start(background)
            background.start("work", workers.run())
            # What a first listing finds may be known to a process before: what tests make is to be new.
            running = SignersInProcess(signers, objects, metrics.registry)
            await until(running.follow_all, "a first listing of all")
            yield running
    # Connections that were cut off while they were made close themselves in later turns of the loop.
    await async_waiting.until(has_closed, awaited="an end of all connections")


def _watched_sockets() -> int:
    loop = asyncio.get_running_loop()
    return len(loop._selector.get_map())  # type: ignore[attr-defined] # the loop tells it in no other way


async def aside(act: Callable[..., T], *args: object, **given: object) -> T:
    """Do something that blocks, while the signers go on."""
    return await asyncio.to_thread(act, *args, **given)


async def until(probe: Callable[[], T | None], awaited: str) -> T:
    """Return the first answer of a probe that blocks."""
    return await asyncio.to_thread(eventually, probe, awaited=awaited)
