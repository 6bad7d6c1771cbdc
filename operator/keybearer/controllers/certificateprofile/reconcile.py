"""One run for one CertificateProfile: find the profile, have its certificates issued, and write its status once.

Every step may be cut off between any two lines and run again from the top: what must not be done twice is noted
before, in the keyring, and what is noted is looked for in the service before it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from random import Random

from keybearer.base.certificate_terms import IssuerType
from keybearer.base.clock import Clock
from keybearer.controllers.annotations import RENEW, SYNC
from keybearer.controllers.certificateprofile.conclusion import (
    ProfileOutcome,
    build_status,
)
from keybearer.controllers.certificateprofile.context import (
    RoundContext,
    RoundTools,
    RunContext,
)
from keybearer.controllers.certificateprofile.gather import CaseBuilder, ProfileGatherer
from keybearer.controllers.certificateprofile.issuing import CertificateRemoval, Issuing, Preview
from keybearer.controllers.certificateprofile.profile_secrets import ProfileSecrets
from keybearer.controllers.certificateprofile.profiles import REFRESH, FoundProfile, Profiles
from keybearer.controllers.certificateprofile.reasons import REMEDIES, Reason
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec, RemoteDeletionPolicy
from keybearer.controllers.certificateprofile.status import (
    CertificateProfileStatus,
)
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.conditions import Tone
from keybearer.controllers.finalizer import (
    TRUST_FINALIZER,
)
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.ownership import is_own, mark_of
from keybearer.controllers.reconciler import Kind, KindReconciler, Leftover
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.target.rivals import Rivals
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.underway import UnknownOrders
from keybearer.controllers.work import WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.gateway import Gateway

__all__ = ["CertificateProfileReconciler"]


_NEEDED_TO_DELETE = frozenset({"identity_ref", "project_id", "project_slug", "existing", "on_delete"})
_NEEDED_TO_FIND = _NEEDED_TO_DELETE | {"slug"}
"""What can't be guessed of a spec, for deleting the wrong profile would be worse than leaving one behind."""


_KIND = Kind(
    spec=CertificateProfileSpec,
    status=CertificateProfileStatus,
    outcome=ProfileOutcome,
    requests=frozenset({SYNC, RENEW}),
    remedies=REMEDIES,
    as_a_matter_of_course=frozenset(
        {Reason.ISSUING, Reason.PENDING, Reason.PENDING_APPROVAL, Reason.PENDING_VALIDATION, Reason.PLANNED}
    ),
)


class CertificateProfileReconciler(
    KindReconciler[CertificateProfileSpec, CertificateProfileStatus, ProfileOutcome]
):
    """Brings a profile of the service, and the Secrets of its certificates, to what the manifest says."""

    def __init__(  # noqa: PLR0913 - collaborators, given once where the process is wired
        self,
        *,
        clock: Clock,
        gateway: Gateway,
        objects: ObjectStore,
        gatherer: ProfileGatherer,
        writer: TargetWriter,
        restarter: WorkloadRestarter,
        cluster: ClusterIdentity,
        fingerprinter: Fingerprinter,
        telemetry: Telemetry,
        rng: Random,
        seen_by_others: Callable[[WorkKey], None],
        publishes: Callable[[], bool],
    ) -> None:
        super().__init__(_KIND, clock=clock, gateway=gateway, objects=objects, telemetry=telemetry)
        self._gatherer = gatherer
        self._cluster = cluster
        self._seen_by_others = seen_by_others
        self._publishes = publishes
        self._profiles = Profiles(clock)
        secrets = ProfileSecrets(clock, objects, writer, Rivals(objects, gateway))
        self._removal = CertificateRemoval(secrets)
        self._orders = UnknownOrders(clock)
        tools = RoundTools(
            secrets, fingerprinter, restarter, rng, clock.now, gateway.require_lead, self._orders
        )
        builder = CaseBuilder(gatherer, secrets, fingerprinter)
        self._issuing = Issuing(clock, builder, tools, self._removal, telemetry)
        self._preview = Preview(self._profiles, builder, tools)

    def forget(self, key: WorkKey) -> None:
        """Forget all that is kept of an object that is gone."""
        self._gatherer.forget(key)
        self._profiles.forget(key)
        self._orders.forget(key)
        self._telemetry.metrics.certificates.forget(key)

    async def _bring_about(
        self,
        seen: ObservedObject,
        spec: CertificateProfileSpec,
        previous: CertificateProfileStatus,
        request: PendingRequest | None,
    ) -> tuple[ProfileOutcome, RunResult]:
        if spec.mode is Mode.SUSPENDED:
            message = "mode is Suspended: nothing is issued, renewed or repaired"
            return ProfileOutcome(Tone.PAUSED, Reason.SUSPENDED, message), RunResult()
        run = await self._context(seen, spec, previous)
        if spec.mode is Mode.PLAN:
            return await self._preview.look(run), RunResult(requeue_after=REFRESH)
        # Without an answer of the service nobody knows what time it is there.
        is_known = request is None and run.service.clock_ahead is not None
        remembered = self._profiles.remembered(run) if is_known else None
        found = remembered or await self._find(run, afresh=request is not None)
        if remembered is None:
            self._profiles.remember(run, found)
        context = RoundContext(
            run,
            found.profile,
            found.authority,
            self_signed=found.self_signed,
            compared=remembered is None,
            asked=request is not None,
            renew=request is not None and request.renews,
        )
        outcome, result = await self._issuing.issue(context)
        if outcome.reason == Reason.TARGET_CONFLICT:
            # When the other Secret is removed, the next run starts at once.
            await self._gatherer.await_targets(seen.key, spec)
            if not _is_in_conflict(previous):
                # No event reports a Secret that was removed before this line, so run once more.
                result = replace(result, requeue_after=timedelta())
        return outcome, result

    async def _context(
        self, seen: ObservedObject, spec: CertificateProfileSpec, previous: CertificateProfileStatus
    ) -> RunContext:
        """Return what the run is about."""
        self._gatherer.follow(seen.key, spec, targets=_is_in_conflict(previous))
        is_ending = seen.deletion_timestamp is not None
        session = await self._gatherer.session(seen.key, spec, cleans_up=is_ending)
        service = self._gatherer.service(session)
        project_id = await self._gatherer.project_id(session, spec)
        return RunContext(seen, spec, previous, service, session.id, project_id, await self._cluster.get())

    async def _find(self, run: RunContext, *, afresh: bool) -> FoundProfile:
        """Return the profile, made or changed as described where it is managed."""
        # Before there is anything to clean up, so that no crash in between leaves it behind.
        # A trust bundle is another part's to clean up, and its mark costs nothing in the same write.
        is_published = self._publishes() and run.spec.issuer_type is not IssuerType.SELF_SIGNED
        await self._finalizer.set(
            run.seen,
            present=_leaves_something(run.spec, run.previous),
            besides=(TRUST_FINALIZER,) if is_published else (),
        )
        return await self._profiles.bring_about(run, afresh=afresh)

    def _is_answered(self, request: PendingRequest, outcome: ProfileOutcome, result: RunResult) -> bool:
        # A renewal that broke off before it had begun is still owed.
        return not request.renews or not result.failed or outcome.issued is not None

    def _status_after(
        self,
        seen: ObservedObject,
        previous: CertificateProfileStatus,
        outcome: ProfileOutcome,
        now: datetime,
    ) -> CertificateProfileStatus:
        return build_status(previous, outcome, generation=seen.generation, now=now)

    def _wrote(self, key: WorkKey) -> None:
        self._seen_by_others(key)

    # The end of the object

    def _needed_to_clean_up(self, previous: CertificateProfileStatus) -> Collection[str]:
        return _NEEDED_TO_DELETE if previous.profile is not None else _NEEDED_TO_FIND

    def _what_it_left(self, seen: ObservedObject, previous: CertificateProfileStatus) -> str:
        slug = seen.key.name if previous.profile is None else previous.profile.slug
        return f"profile {slug}, or a certificate of it,"

    def _leftovers(
        self, seen: ObservedObject, spec: CertificateProfileSpec, previous: CertificateProfileStatus
    ) -> Sequence[Leftover[ProfileOutcome]]:
        return (
            Leftover(self._what_it_left(seen, previous), partial(self._take_all_back, seen, spec, previous)),
        )

    async def _take_all_back(
        self, seen: ObservedObject, spec: CertificateProfileSpec, previous: CertificateProfileStatus
    ) -> None:
        """Take back what the object asked of the service: Secrets first, then certificates, then the profile."""
        run, known = await self._context(seen, spec, previous), previous.profile
        ending = [entry for entry in previous.certificate_requests if entry.revoke_on_delete or entry.is_open]
        due = await self._removal.retire(run, ending, (), self._clock.now())
        revoked = await self._removal.revoke((*previous.revocations, *due), run.service)
        if revoked.trouble is not None:
            raise revoked.trouble
        if spec.existing or spec.on_delete is RemoteDeletionPolicy.RETAIN:
            return
        found = await self._profiles.find(run)
        if found is None:
            return
        takes_unmarked = known is not None and found.profile.id == known.id
        if is_own(
            found.profile.description, mark_of(run.cluster_id, seen.uid), takes_unmarked=takes_unmarked
        ):
            await run.service.delete_profile(found.profile.id)


def _is_in_conflict(previous: CertificateProfileStatus) -> bool:
    return any(one.reason == Reason.TARGET_CONFLICT for one in previous.conditions)


def _leaves_something(spec: CertificateProfileSpec, previous: CertificateProfileStatus) -> bool:
    """Tell whether the end of the object leaves something that garbage collection can't take."""
    manages = not spec.existing and spec.on_delete is RemoteDeletionPolicy.DELETE
    revokes = any(entry.revoke_on_delete for entry in spec.certificates)
    revoked = any(entry.revoke_on_delete for entry in previous.certificate_requests)
    return manages or revokes or revoked or bool(previous.revocations)
