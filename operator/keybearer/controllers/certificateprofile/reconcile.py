"""One run for one CertificateProfile: find the profile, have its certificates issued, and write its status once.

Every step may be cut off between any two lines and run again from the top: what must not be done twice is noted
before, in the keyring, and what is noted is looked for in the service before it is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from keybearer.base.certificate_terms import IssuerType
from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.conclusion import (
    Outcome,
    build_status,
)
from keybearer.controllers.certificateprofile.context import (
    ProfileSecrets,
    RoundContext,
    RoundTools,
    RunContext,
)
from keybearer.controllers.certificateprofile.gather import CaseBuilder, ProfileGatherer
from keybearer.controllers.certificateprofile.issuing import Issuing, Preview, Removal
from keybearer.controllers.certificateprofile.profiles import REFRESH, FoundProfile, Profiles
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec, RemoteDeletionPolicy
from keybearer.controllers.certificateprofile.status import (
    CertificateProfileStatus,
)
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.conditions import Tone, last_reason
from keybearer.controllers.faults import report_fault
from keybearer.controllers.finalizer import (
    DEFAULT_DEADLINE,
    FINALIZER,
    TRUST_FINALIZER,
    FinalizerKeeper,
)
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError, ReconcileError
from keybearer.controllers.ownership import is_own, mark_of
from keybearer.controllers.reading import read_spec, read_spec_in_part, read_status
from keybearer.controllers.requests import PendingRequest, pending_request
from keybearer.controllers.run_ends import end_run, failure_of
from keybearer.controllers.status_patch import StatusPatch
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.underway import UnknownOrders
from keybearer.controllers.work import WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import KubeError, LeaseLostError
from keybearer.kube.gateway import Gateway

__all__ = ["CertificateProfileReconciler", "Ending"]


class Ending:
    """Takes back what an object that is being deleted asked for."""

    def __init__(self, clock: Clock, profiles: Profiles, removal: Removal) -> None:
        self._clock = clock
        self._profiles = profiles
        self._removal = removal

    async def take_back(self, run: RunContext) -> None:
        """Take back what the object asked of the service: Secrets first, then certificates, then the profile.

        Raises:
            ReconcileError: the service refuses or can't be asked.
            KubeError: the API server refuses or can't be asked.
        """
        spec, previous, known = run.spec, run.previous, run.previous.profile
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
        mark = mark_of(run.cluster_id, run.seen.uid)
        if is_own(found.profile.description, mark, takes_unmarked=takes_unmarked):
            await run.service.delete_profile(found.profile.id)


_FINE = frozenset(
    {Reason.ISSUING, Reason.PENDING, Reason.PENDING_APPROVAL, Reason.PENDING_VALIDATION, Reason.PLANNED}
)
"""What is told as a matter of course though it isn't the end."""
_NEEDED_TO_DELETE = frozenset({"identity_ref", "project_id", "project_slug", "existing", "on_delete"})
_NEEDED_TO_FIND = _NEEDED_TO_DELETE | {"slug"}
"""What can't be guessed of a spec, for deleting the wrong profile would be worse than leaving one behind."""


class CertificateProfileReconciler:
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
        self._clock = clock
        self._objects = objects
        self._gatherer = gatherer
        self._cluster = cluster
        self._telemetry = telemetry
        self._seen_by_others = seen_by_others
        self._publishes = publishes
        self._profiles = Profiles(clock)
        secrets = ProfileSecrets(objects, writer)
        removal = Removal(secrets)
        self._ending = Ending(clock, self._profiles, removal)
        self._finalizer = FinalizerKeeper(clock, gateway)
        self._patch = StatusPatch(gateway, objects, self._finalizer)
        self._orders = UnknownOrders(clock)
        tools = RoundTools(
            secrets, fingerprinter, restarter, rng, clock.now, gateway.require_lead, self._orders
        )
        builder = CaseBuilder(gatherer, secrets, fingerprinter)
        self._issuing = Issuing(clock, builder, tools, removal, telemetry)
        self._preview = Preview(self._profiles, builder, tools)

    def forget(self, key: WorkKey) -> None:
        """Forget all that is kept of an object that is gone."""
        self._gatherer.forget(key)
        self._profiles.forget(key)
        self._orders.forget(key)
        self._telemetry.metrics.certificates.forget(key)

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once.

        Raises:
            LeaseLostError: another replica leads; nothing more may be written.
        """
        seen = self._objects.get(item.key)
        if seen is None:
            return RunResult()
        run = self._reconcile_seen(seen, reconcile_id)
        return await end_run(run, seen, reconcile_id, self._objects)

    async def _reconcile_seen(self, seen: ObservedObject, reconcile_id: str) -> RunResult:
        previous = read_status(seen, CertificateProfileStatus)
        if seen.deletion_timestamp is not None:
            return await self._clean_up(seen, previous)
        request = pending_request(seen, previous.last_handled_requested_at)
        outcome, result = await self._run(seen, previous, request, reconcile_id)
        broke_off = result.failed and outcome.issued is None
        if request is not None and not (request.renews and broke_off):
            outcome = replace(outcome, handled=request.requested_at)
        await self._write(seen, previous, outcome)
        return result

    async def _run(
        self,
        seen: ObservedObject,
        previous: CertificateProfileStatus,
        request: PendingRequest | None,
        reconcile_id: str,
    ) -> tuple[Outcome, RunResult]:
        try:
            return await self._reconcile_spec(
                seen, read_spec(seen, CertificateProfileSpec), previous, request
            )
        except (ObjectGoneError, LeaseLostError):
            raise
        except (ReconcileError, KubeError) as error:
            failure = failure_of(error)
            return Outcome(failure.tone, failure.reason, failure.message), failure.result
        except Exception as error:  # noqa: BLE001 - a fault in one object must not end the work on the others
            message = report_fault(error, seen.key, previous.conditions, reconcile_id)
            return Outcome(Tone.WAITING, Reason.INTERNAL_ERROR, message), RunResult(failed=True)

    async def _reconcile_spec(
        self,
        seen: ObservedObject,
        spec: CertificateProfileSpec,
        previous: CertificateProfileStatus,
        request: PendingRequest | None,
    ) -> tuple[Outcome, RunResult]:
        if spec.mode is Mode.SUSPENDED:
            message = "mode is Suspended: nothing is issued, renewed or repaired"
            return Outcome(Tone.PAUSED, Reason.SUSPENDED, message), RunResult()
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
        return await self._issuing.issue(context)

    async def _context(
        self, seen: ObservedObject, spec: CertificateProfileSpec, previous: CertificateProfileStatus
    ) -> RunContext:
        """Return what the run is about."""
        self._gatherer.follow(seen.key, spec)
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

    # The end

    async def _clean_up(self, seen: ObservedObject, previous: CertificateProfileStatus) -> RunResult:
        if FINALIZER not in seen.finalizers:
            return RunResult()
        deadline = DEFAULT_DEADLINE
        try:
            needed = _NEEDED_TO_DELETE if previous.profile is not None else _NEEDED_TO_FIND
            spec = read_spec_in_part(seen, CertificateProfileSpec, needed)
            deadline = spec.deletion_deadline
            run = await self._context(seen, spec, previous)
            await self._ending.take_back(run)
        except (ReconcileError, KubeError) as error:
            # The identity may not be readable any more: that holds up the end until the deadline, not for ever.
            if isinstance(error, LeaseLostError):
                raise
            failure = failure_of(error)
            outcome = Outcome(Tone.WAITING, failure.reason, failure.message)
            left = self._finalizer.time_left(seen, deadline)
            if left is not None:
                await self._write(seen, previous, outcome)
                return RunResult(failed=True, requeue_after=left)
            what = (
                f"profile {seen.key.name}" if previous.profile is None else f"profile {previous.profile.slug}"
            )
            self._telemetry.remote_orphaned(seen, f"{what}, or a certificate of it,", outcome.message)
        await self._finalizer.set(seen, present=False)
        return RunResult()

    async def _write(
        self, seen: ObservedObject, previous: CertificateProfileStatus, outcome: Outcome
    ) -> None:
        status = build_status(previous, outcome, generation=seen.generation, now=self._clock.now())
        was = last_reason(previous.conditions)
        fine = outcome.tone in (Tone.READY, Tone.PAUSED) or outcome.reason in _FINE
        self._telemetry.outcome(
            seen, outcome.reason, outcome.message, was=was, fine=fine, conditions=status.conditions
        )
        if status != previous:
            await self._patch.apply(seen, status.to_wire())
            self._seen_by_others(seen.key)


def _leaves_something(spec: CertificateProfileSpec, previous: CertificateProfileStatus) -> bool:
    """Tell whether the end of the object leaves something that garbage collection can't take."""
    manages = not spec.existing and spec.on_delete is RemoteDeletionPolicy.DELETE
    revokes = any(entry.revoke_on_delete for entry in spec.certificates)
    revoked = any(entry.revoke_on_delete for entry in previous.certificate_requests)
    return manages or revokes or revoked or bool(previous.revocations)
