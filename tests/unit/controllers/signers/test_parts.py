from __future__ import annotations

import random
from datetime import timedelta
from functools import partial
from typing import cast

from prometheus_client import CollectorRegistry

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.controllers.certificate_metrics import CertificateMetrics
from keybearer.controllers.certificateprofile.parts import issuing_profile
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.issuance.service import OpenedService
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.signers.parts import Signers, SignersGiven, assemble_signers
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.kube.connection import Connection
from keybearer.kube.errors import ForbiddenError
from keybearer.kube.event_recorder import EventRecorder
from unit.controllers.fakes.signing_service import PROJECT_ID
from unit.controllers.fakes.signing_world import NAMESPACE, SigningWorld

_TRUST = "keybearer.dev/trust-bundle"
_KEY = WorkKey("ClusterTrustBundle", NAMESPACE, "web")


def _assembled(world: SigningWorld, queue: WorkQueue, *namespaces: str) -> Signers:
    async def open_service(key: WorkKey, spec: CertificateProfileSpec) -> OpenedService:
        del key, spec
        return OpenedService(world.service, PROJECT_ID)

    return assemble_signers(
        SignersGiven(
            clock=world.clock,
            rng=random.Random(1),  # noqa: S311 - spreads reconnecting
            connection=cast("Connection", None),
            gateway=world.gateway,
            queue=queue,
            objects=world.objects,
            cluster=ClusterIdentity(world.gateway, "cluster-1"),
            recorder=cast("EventRecorder", world),
            metrics=CertificateMetrics(CollectorRegistry()),
            read_profile=partial(issuing_profile, open_service=open_service),
            namespaces=namespaces or None,
            budgets=EffectBudgets(world.clock),
        )
    )


async def test_a_profile_that_was_held_for_its_bundle_is_let_go_where_the_operator_serves_namespaces_only() -> (
    None
):
    """It served the whole cluster before, and has no right to the bundle any more."""
    world = SigningWorld()
    queue = WorkQueue(cast("Clock", world.clock), Backoff(timedelta(seconds=1), timedelta(seconds=60)))
    signers = _assembled(world, queue, NAMESPACE)
    world.profile(deleting=True, finalizers=[_TRUST])
    world.gateway.fail("list", "ClusterTrustBundle", ForbiddenError("may not list"), times=2)

    signers.profile_seen(WorkKey("CertificateProfile", NAMESPACE, "web"))
    item = await queue.take()
    assert item.key == _KEY
    assert (await signers.reconcilers[_KEY.kind].reconcile(item, "r1")).failed
    world.clock.seconds += 660
    await signers.reconcilers[_KEY.kind].reconcile(WorkItem(_KEY, Lane.REFRESH, 0.0), "r2")

    found = world.gateway.find("CertificateProfile", "web")
    assert found is not None
    assert found["metadata"]["finalizers"] == []


async def test_an_operator_that_serves_namespaces_publishes_and_follows_nothing_across_the_cluster() -> None:
    world = SigningWorld()
    signers = _assembled(
        world,
        WorkQueue(cast("Clock", world.clock), Backoff(timedelta(seconds=1), timedelta(seconds=60))),
        NAMESPACE,
    )
    world.profile()

    await signers.reconcilers[_KEY.kind].reconcile(WorkItem(_KEY, Lane.REFRESH, 0.0), "r1")

    assert world.gateway.writes == []
    assert len(signers.watches) == 1, "of cert-manager's requests"
    assert set(signers.reconcilers) == {"CertificateRequest", "ClusterTrustBundle"}
