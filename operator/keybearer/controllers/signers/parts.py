"""The parts of the signers, wired once: watches of kinds that may be absent, and a reconciler for each.

What knows X.509 is loaded with the first request or bundle: most processes never see one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import orjson
from pydantic import JsonValue

from keybearer.base.clock import Clock
from keybearer.base.json_reading import mapping_of
from keybearer.controllers.background import Background
from keybearer.controllers.certificate_metrics import CertificateMetrics
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.issuance.profile import ReadProfile
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.signers.asked import SOURCES
from keybearer.controllers.signers.bundles import OUR_BUNDLES, BundleStore
from keybearer.controllers.signers.profiles import Profiles
from keybearer.controllers.signers.rights import BundleRights
from keybearer.controllers.signers.store import OpenRequests, RequestReceiver
from keybearer.controllers.signers.teller import Teller
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.controllers.workers import Reconciler, RunResult
from keybearer.kube.connection import Connection
from keybearer.kube.event_recorder import EventRecorder
from keybearer.kube.gateway import Gateway
from keybearer.kube.optional_watch import OptionalWatch, ServedVersions
from keybearer.kube.resources import (
    CERTIFICATE_PROFILES,
    CERTIFICATE_REQUESTS,
    CLUSTER_TRUST_BUNDLES,
    ObjectKey,
)

__all__ = ["Signers", "SignersGiven", "assemble_signers"]


@dataclass(frozen=True, slots=True)
class SignersGiven:
    """What signers share with the rest of the operator."""

    clock: Clock
    rng: random.Random
    connection: Connection
    gateway: Gateway
    queue: WorkQueue
    objects: ObjectStore
    cluster: ClusterIdentity
    recorder: EventRecorder
    metrics: CertificateMetrics
    read_profile: ReadProfile
    namespaces: Sequence[str] | None
    budgets: EffectBudgets


@dataclass(frozen=True, slots=True)
class Signers:
    """The parts that a process starts and feeds.

    Attributes:
        reconcilers: by the kind of the queue's keys.
        watches: of resources that may be absent; not one of them is missed by a probe.
        versions: says which of them are served, and in which version.
        profile_seen: to be told of each event of a CertificateProfile.
        publishes: tells whether authorities are published in trust bundles.
        rights: to do so; None where nothing is published anyway.
    """

    reconcilers: Mapping[str, Reconciler] = field(repr=False)
    watches: tuple[OptionalWatch, ...]
    versions: ServedVersions
    profile_seen: Callable[[WorkKey], None]
    publishes: Callable[[], bool]
    rights: BundleRights | None

    def start(self, background: Background) -> None:
        """Start all that runs by itself."""
        if self.rights is not None:
            background.start("ask for the right to publish", self.rights.run())
        background.start("look for optional resources", self.versions.run())
        for number, watch in enumerate(self.watches, start=1):
            background.start(f"watch optional resource {number}", watch.run())


def assemble_signers(given: SignersGiven) -> Signers:
    """Return the signers, wired; nothing runs yet.

    Where the operator serves some namespaces only, it has no right across the cluster, and signers of Kubernetes need
    one: then cert-manager's requests are all it signs, and no bundle is published.
    """
    profiles = Profiles(given.objects, given.read_profile)
    cluster_wide = given.namespaces is None
    served = [one for one in SOURCES.values() if cluster_wide or one is CERTIFICATE_REQUESTS]
    versions = ServedVersions(
        given.gateway.plurals_beside,
        [*served, CLUSTER_TRUST_BUNDLES] if cluster_wide else served,
        given.rng,
        given.metrics.is_served,
    )
    requests = OpenRequests(given.queue.add, lambda kind: followed[kind].finds_older)
    bundles = BundleStore(lambda profile: given.queue.add(_trust_key(profile), Lane.URGENT))

    follow = partial(OptionalWatch, given.connection, versions, rng=given.rng, namespaces=given.namespaces)

    def publish_all() -> None:
        for seen in given.objects:
            if seen.key.kind == CERTIFICATE_PROFILES.kind:
                given.queue.add(_trust_key(ObjectKey(seen.key.namespace, seen.key.name)), Lane.REFRESH)

    teller = Teller(given.recorder, given.metrics, versions.of)
    signer = _Late(lambda: _new_signer(given, requests, profiles, teller, versions))
    reconcilers: dict[str, Reconciler] = {resource.kind: signer for resource in served}
    followed = {one.kind: follow(one, RequestReceiver(one.kind, requests)) for one in served}
    watches = list(followed.values())
    bundled = follow(CLUSTER_TRUST_BUNDLES, bundles, label_selector=OUR_BUNDLES, on_followed=publish_all)
    rights = BundleRights(given.gateway.review_own_access, given.rng, publish_all)
    # Without watch and rights nothing is published, but what was before is still let go of with its profile.
    reconcilers[CLUSTER_TRUST_BUNDLES.kind] = _Late(
        lambda: _new_trust(given, profiles, bundles, bundled, versions, rights)
    )
    if cluster_wide:
        watches.append(bundled)
    requests.on_closed.append(lambda asked: given.queue.forget(asked.key))

    shown: dict[ObjectKey, JsonValue] = {}

    def profile_seen(key: WorkKey) -> None:
        if key.kind != CERTIFICATE_PROFILES.kind:
            return
        profile = ObjectKey(key.namespace, key.name)
        matters = _what_matters(given.objects.get(key))
        if matters == shown.get(profile):
            return  # one of the many writes of its status
        if matters is None:
            shown.pop(profile, None)
        else:
            shown[profile] = matters
        requests.profile_changed(profile)
        given.queue.add(_trust_key(profile), Lane.REFRESH)

    return Signers(
        reconcilers,
        tuple(watches),
        versions,
        profile_seen,
        lambda: rights.granted and bundled.trouble is None,
        rights if cluster_wide else None,
    )


class _Late:
    """A reconciler that is made when the first key comes."""

    def __init__(self, make: Callable[[], Reconciler]) -> None:
        self._make = make
        self._made: Reconciler | None = None

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once for a key.

        Raises:
            LeaseLostError: another replica leads.
        """
        if self._made is None:
            self._made = self._make()
        return await self._made.reconcile(item, reconcile_id)


def _new_signer(
    given: SignersGiven,
    requests: OpenRequests,
    profiles: Profiles,
    teller: Teller,
    versions: ServedVersions,
) -> Reconciler:
    from keybearer.controllers.signers.reconcile import SignerReconciler

    return SignerReconciler(
        clock=given.clock,
        gateway=given.gateway,
        requests=requests,
        profiles=profiles,
        cluster=given.cluster,
        teller=teller,
        served=versions.of,
        trigger=given.queue.add,
    )


def _new_trust(
    given: SignersGiven,
    profiles: Profiles,
    bundles: BundleStore,
    watch: OptionalWatch,
    versions: ServedVersions,
    rights: BundleRights,
) -> Reconciler:
    from keybearer.controllers.signers.trust import TrustReconciler

    return TrustReconciler(
        clock=given.clock,
        gateway=given.gateway,
        objects=given.objects,
        profiles=profiles,
        bundles=bundles,
        watch=watch,
        served=versions.of,
        rights=rights,
        budgets=given.budgets,
    )


def _what_matters(seen: ObservedObject | None) -> JsonValue:
    """Return what of a profile decides on requests and bundles; None where it is gone."""
    if seen is None:
        return None
    status = mapping_of(orjson.loads(seen.status_json))
    return [
        seen.uid,
        seen.generation,
        seen.deletion_timestamp,
        list(seen.finalizers),
        status.get("profile"),
        status.get("authorities"),
    ]


def _trust_key(profile: ObjectKey) -> WorkKey:
    return WorkKey(CLUSTER_TRUST_BUNDLES.kind, profile.namespace, profile.name)
