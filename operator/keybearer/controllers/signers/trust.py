"""One run for the trust bundles of one profile: publish what its authority is, and take it back with the profile.

The service isn't asked: the profile's own runs compare its authority, and its status holds who is to be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.effect_budget import REPAIRS, EffectBudgets
from keybearer.controllers.finalizer import TRUST_FINALIZER, FinalizerKeeper
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError, ReconcileError
from keybearer.controllers.signers.anchors import anchors_text
from keybearer.controllers.signers.bundles import (
    OUR_BUNDLES,
    BundleStore,
    SeenBundle,
    build_bundle,
    read_bundle,
)
from keybearer.controllers.signers.profiles import Profiles, profile_key
from keybearer.controllers.signers.rights import BundleRights
from keybearer.controllers.work import WorkItem
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import ForbiddenError, KubeError, LeaseLostError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.optional_watch import OptionalWatch
from keybearer.kube.resources import CERTIFICATE_PROFILES, CLUSTER_TRUST_BUNDLES, ObjectKey, Resource
from keybearer.pki.errors import MalformedError

__all__ = ["TrustReconciler"]

_log = get_logger(__name__)

_SOON: Final = timedelta(seconds=1)


class TrustReconciler:
    """Keeps the ClusterTrustBundle of each profile's authority.

    Args:
        clock: for instants.
        gateway: the API server.
        objects: the profiles.
        profiles: as they are to be looked up.
        bundles: those that are there.
        watch: that shows them: nothing is published that can't be followed.
        served: says in which version a resource is served.
        rights: whether we may publish: without them no profile is held.
        budgets: bounds what a fight over a bundle costs.
    """

    def __init__(  # noqa: PLR0913 - collaborators, given once where the process is wired
        self,
        *,
        clock: Clock,
        gateway: Gateway,
        objects: ObjectStore,
        profiles: Profiles,
        bundles: BundleStore,
        watch: OptionalWatch,
        served: Callable[[Resource], Resource],
        rights: BundleRights,
        budgets: EffectBudgets,
    ) -> None:
        self._clock = clock
        self._gateway = gateway
        self._objects = objects
        self._profiles = profiles
        self._bundles = bundles
        self._watch = watch
        self._served = served
        self._rights = rights
        self._budgets = budgets
        self._finalizer = FinalizerKeeper(clock, gateway, TRUST_FINALIZER)

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once for a profile.

        Raises:
            LeaseLostError: another replica leads; nothing more may be written.
        """
        key = ObjectKey(item.key.namespace, item.key.name)
        seen = self._objects.get(profile_key(key))
        try:
            if seen is None:
                return await self._without_profile(key)
            if seen.deletion_timestamp is not None:
                return await self._clean_up(key, seen)
            return await self._publish(key)
        except LeaseLostError:
            raise
        except ObjectGoneError:
            return RunResult(
                requeue_after=_SOON
            )  # its own first run follows its identity, or it is gone just now
        except (ReconcileError, KubeError, MalformedError) as error:
            _log.warning(
                "trust_bundle_failed",
                namespace=key.namespace,
                name=key.name,
                error=str(error),
                id=reconcile_id,
            )
            return RunResult(failed=True)

    async def _publish(self, key: ObjectKey) -> RunResult:
        if self._watch.trouble is not None or not self._rights.granted:
            return (
                RunResult()
            )  # whoever watches calls when they are served, and who asks when they are granted
        resource = self._served(CLUSTER_TRUST_BUNDLES)
        profile = self._profiles.require(key)
        if not profile.view.issues:
            return RunResult()
        # What the profile's own runs learned of it: the present authority, and those whose certificates still serve.
        issuing = profile.issuing
        anchors = anchors_text(issuing.anchors)
        if issuing.authority is None:
            if profile.view.service_id is not None and not anchors:
                # Its certificates sign themselves by now.
                await self._take_back(resource, self._bundles.of_profile(key).values())
            return RunResult()  # the profile's next status calls
        if not anchors:
            return RunResult()  # not known yet: likewise
        wanted = build_bundle(key, issuing.authority, anchors_text((anchors, *issuing.former_anchors)))
        await self._finalizer.set(profile.seen, present=True)
        # Looked at and expected without a wait between, also where it is there as it should be: an end that the watch
        # shows before is seen here, and one that it shows later calls.
        present = self._bundles.of_profile(key)
        there = present.get(wanted.key)
        is_repair = self._bundles.is_expected(wanted.key, wanted.digest)
        self._bundles.expect(wanted.key, wanted.digest)
        if there is None or there.digest != wanted.digest:
            wait = self._wait_to_repair(profile.seen.uid, wanted.key) if is_repair else None
            if wait is not None:
                return RunResult(requeue_after=wait)
            try:
                await self._gateway.apply(resource, wanted.key, wanted.body)
            except ForbiddenError:
                self._rights.lost()
                marked = replace(profile.seen, finalizers=(*profile.seen.finalizers, TRUST_FINALIZER))
                await self._finalizer.set(marked, present=False)
                raise
        await self._take_back(resource, (one for name, one in present.items() if name != wanted.key))
        return RunResult()

    def _wait_to_repair(self, owner_uid: str, bundle: ObjectKey) -> timedelta | None:
        """Count a write that makes good what others did to a bundle; or return how long it has to wait."""
        of = f"{owner_uid} {bundle.name}"
        why = f"ClusterTrustBundle {bundle.name} is changed by others each time it was put right"
        was_told = self._budgets.overrun(of, REPAIRS) is not None
        if self._budgets.take(of, REPAIRS, why) is None:
            return None
        if not was_told:
            _log.warning("trust_bundle_contested", bundle=bundle.name, why=why)
        return self._budgets.wait(of, REPAIRS)

    async def _clean_up(self, key: ObjectKey, seen: ObservedObject) -> RunResult:
        if TRUST_FINALIZER not in seen.finalizers:
            return RunResult()
        try:
            await self._delete_all(key)
        except KubeError as error:
            left = self._finalizer.time_left(seen)
            if isinstance(error, LeaseLostError) or left is not None:
                raise
            _log.error("trust_bundle_orphaned", namespace=key.namespace, name=key.name, error=str(error))
        await self._finalizer.set(seen, present=False)
        return RunResult()

    async def _without_profile(self, key: ObjectKey) -> RunResult:
        """Take back what a profile left that went without us, its finalizer removed by somebody."""
        if not self._bundles.of_profile(key):
            return RunResult()
        if await self._gateway.get(CERTIFICATE_PROFILES, key, metadata_only=True) is not None:
            return RunResult(requeue_after=_SOON)  # the watch of profiles is on its way
        await self._delete_all(key)
        return RunResult()

    async def _delete_all(self, key: ObjectKey) -> None:
        """Delete the bundles of a profile; where the API server serves none, there are none.

        The version isn't taken from the last look: what was served then may have gone with an upgrade.

        Raises:
            KubeError: they can't be listed or deleted.
        """
        for resource in CLUSTER_TRUST_BUNDLES.versions:
            try:
                found = [
                    bundle
                    async for body in self._gateway.list(resource, label_selector=OUR_BUNDLES)
                    if (bundle := read_bundle(body)) is not None and bundle.profile == key
                ]
            except NotFoundError:
                continue
            await self._take_back(resource, found)
            return

    async def _take_back(self, resource: Resource, bundles: Iterable[SeenBundle]) -> None:
        for bundle in bundles:
            self._bundles.expect(bundle.key, None)
            await self._gateway.delete(resource, bundle.key, uid=bundle.uid)
