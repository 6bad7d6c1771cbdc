"""One run for one SecretSync: gather, plan, apply, and one write of its status.

Every step may be cut off between any two lines and run again from the top: nothing is remembered but what the API
server holds.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.conditions import Tone
from keybearer.controllers.faults import internal_message, where_raised
from keybearer.controllers.finalizer import FINALIZER, FinalizerKeeper
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.outcome import ObjectGoneError, ReconcileError, StalledError
from keybearer.controllers.queue import WorkItem
from keybearer.controllers.requests import PendingRequest, pending_request
from keybearer.controllers.secretsync.apply import TargetWriter
from keybearer.controllers.secretsync.cleanup import Cleaner
from keybearer.controllers.secretsync.conclusion import (
    conclude,
    refused_by_cluster,
    suspended,
)
from keybearer.controllers.secretsync.desired import DesiredTarget, build_target
from keybearer.controllers.secretsync.destination import Destinations
from keybearer.controllers.secretsync.gather import Gatherer, KeysRefusedError
from keybearer.controllers.secretsync.joining import joined, joined_with_trouble
from keybearer.controllers.secretsync.materialize import Materializer
from keybearer.controllers.secretsync.plan import (
    PlanContext,
)
from keybearer.controllers.secretsync.reading import read_spec, read_status
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.report import Report
from keybearer.controllers.secretsync.resource import Mode, SecretSyncSpec
from keybearer.controllers.secretsync.restart import WorkloadRestarter
from keybearer.controllers.secretsync.rivals import Rivals
from keybearer.controllers.secretsync.spec_target import CreationPolicy
from keybearer.controllers.secretsync.status import KeyState, SecretSyncStatus
from keybearer.controllers.secretsync.status_writer import StatusWriter
from keybearer.controllers.sources import SourceReader
from keybearer.controllers.status_patch import StatusPatch
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import (
    KubeError,
    LeaseLostError,
)
from keybearer.kube.gateway import Gateway

__all__ = ["SecretSyncReconciler"]

_log = get_logger(__name__)

_LOOK_AGAIN = timedelta(milliseconds=300)
"""Between two looks at a sync whose secrets are being removed."""


class SecretSyncReconciler:
    """Brings the target of a SecretSync to what its sources say."""

    def __init__(  # noqa: PLR0913 - collaborators, given once where the process is wired
        self,
        *,
        clock: Clock,
        gateway: Gateway,
        objects: ObjectStore,
        sources: SourceReader,
        gatherer: Gatherer,
        writer: TargetWriter,
        restarter: WorkloadRestarter,
        cleaner: Cleaner,
        destinations: Destinations,
        fingerprinter: Fingerprinter,
        telemetry: Telemetry,
    ) -> None:
        self._clock = clock
        self._objects = objects
        self._sources = sources
        self._gatherer = gatherer
        self._writer = writer
        self._restarter = restarter
        self._cleaner = cleaner
        self._destinations = destinations
        self._fingerprinter = fingerprinter
        self._telemetry = telemetry
        patch = StatusPatch(gateway, objects, FinalizerKeeper(clock, gateway))
        self._statuses = StatusWriter(clock, objects, patch, sources, telemetry)
        rivals = Rivals(objects, gateway)
        self._materializer = Materializer(
            objects, writer, cleaner, gatherer, self._statuses, rivals, telemetry
        )

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once.

        Raises:
            LeaseLostError: another replica leads; nothing more may be written.
        """
        seen = self._objects.get(item.key)
        if seen is None:
            return RunResult()
        try:
            return await self._reconcile_seen(seen, reconcile_id)
        except ObjectGoneError:
            # A deletion that fell into a re-list is reported by no watch: this is how it is noticed.
            current = self._objects.get(item.key)
            if current is not None and current.uid == seen.uid:
                self._drop(current)
            return RunResult()
        except LeaseLostError:
            raise
        except KubeError as error:
            # The status itself could not be written: nothing but the log and the queue can say so.
            _log.warning("status_write_failed", error=str(error), reconcile_id=reconcile_id)
            return RunResult(failed=True)
        finally:
            if self._objects.get(item.key) is None:
                # It went while it was worked on, and may have subscribed anew since it was forgotten.
                self._gatherer.forget(item.key)
                self._destinations.forget(item.key)

    def _drop(self, seen: ObservedObject) -> None:
        self._objects.drop(seen.key)
        if not self._objects.writers_of(seen.target):
            self._writer.expect_nothing(seen.target)

    async def _reconcile_seen(self, seen: ObservedObject, reconcile_id: str) -> RunResult:
        previous = read_status(seen)
        if seen.deletion_timestamp is not None:
            return await self._clean_up(seen, previous)
        request = pending_request(seen, previous.last_handled_requested_at)
        if request is not None and not request.is_known:
            self._telemetry.request_unknown(seen, request.kind)
        report, result = await self._run(seen, previous, request, reconcile_id)
        if request is not None:
            # Answered however it ended: a release that waited on would let through what nobody has seen yet.
            report = replace(report, handled=request.requested_at)
        await self._statuses.write(seen, self._statuses.latest(seen, previous), report)
        return result

    async def _run(
        self,
        seen: ObservedObject,
        previous: SecretSyncStatus,
        request: PendingRequest | None,
        reconcile_id: str,
    ) -> tuple[Report, RunResult]:
        spec: SecretSyncSpec | None = None
        try:
            spec = read_spec(seen)
            return await self._reconcile_spec(seen, spec, previous, request)
        except (ObjectGoneError, LeaseLostError):
            raise
        except ReconcileError as error:
            tone = Tone.STALLED if isinstance(error, StalledError) else Tone.WAITING
            keys = error.keys if isinstance(error, KeysRefusedError) else None
            source = spec.source_label if spec is not None else None
            report = Report(tone, error.reason, error.message, source=source, keys=keys)
            return report, RunResult(failed=error.retry)
        except KubeError as error:
            report = refused_by_cluster(error)
        except Exception as error:  # noqa: BLE001 - a fault in one object must not end the work on the others
            _log.error(
                "reconcile_failed",
                kind=seen.key.kind,
                namespace=seen.key.namespace,
                name=seen.key.name,
                reconcile_id=reconcile_id,
                error=type(error).__name__,
                at=where_raised(error),
            )
            told = (condition.message for condition in previous.conditions)
            report = Report(Tone.WAITING, Reason.INTERNAL_ERROR, internal_message(error, told, reconcile_id))
        return report, RunResult(failed=True)

    async def _reconcile_spec(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        request: PendingRequest | None,
    ) -> tuple[Report, RunResult]:
        if spec.mode is Mode.SUSPENDED:
            await self._destinations.quiet(seen, spec, previous)
            self._sources.retain(seen.key, frozenset())
            return suspended(spec), RunResult()
        asked = request is not None or previous.observed_generation != seen.generation
        approved = request is not None and request.approves_plan
        report, result = None, RunResult()
        if spec.writes_target:
            # A person who asks, a new spec and a first sync get what the source holds now, not what it held.
            not_before = seen.trigger_at if asked or previous.target is None else float("-inf")
            report, result = await self._reconcile_target(seen, spec, previous, request, not_before)
        else:
            await self._cleaner.prepare(seen, spec, approved=approved)
            if spec.mode is not Mode.PLAN or approved:
                await self._materializer.retire_old(seen, previous, None)
        self._destinations.follow(seen, spec)
        if spec.destination is None:
            return await self._without_destination(seen, spec, previous, report, result)
        not_before = seen.trigger_at if asked or previous.push is None else float("-inf")
        try:
            outcome = await self._destinations.bring_about(
                seen, spec, previous, request, not_before=not_before
            )
        except ReconcileError as error:
            return joined_with_trouble(report, result, error, source=spec.source_label)
        return joined(report, result, outcome, source=spec.source_label)

    async def _without_destination(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        report: Report | None,
        result: RunResult,
    ) -> tuple[Report, RunResult]:
        """Take back the sync of a destination that the spec names no more."""
        if report is None:
            raise TypeError(spec)
        if previous.sync is None:
            return report, result
        try:
            left = await self._destinations.clean_up(seen, spec, previous)
        except ReconcileError as error:
            return joined_with_trouble(report, result, error, source=spec.source_label)
        if left is None:
            return replace(report, drops_sync=True), result
        return replace(report, sync=left), replace(result, requeue_after=_LOOK_AGAIN)

    async def _reconcile_target(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        request: PendingRequest | None,
        not_before: float,
    ) -> tuple[Report, RunResult]:
        material = await self._gatherer.gather(
            seen, spec, not_before=not_before, follow_target=_depends_on_foreign_target(spec, previous)
        )
        desired = build_target(seen.key, seen.uid, spec.target, material.payload, self._fingerprinter)
        await self._cleaner.prepare(seen, spec, approved=request is not None and request.approves_plan)
        context = replace(_context(seen, previous, request, desired.key), found=material.found)
        planned = await self._materializer.bring_about(seen, spec, previous, desired, context)
        # In Plan mode a plan that was shown and is fulfilled was approved, though perhaps in a run that was cut off.
        fulfilled = planned.verdict is None and (
            spec.mode is not Mode.PLAN or planned.action is not None or previous.plan is not None
        )
        settled = fulfilled and not planned.left_alone
        if settled:
            await self._materializer.retire_old(seen, previous, desired.key)
            await self._restart(seen, spec, previous, desired)
            if previous.sync is None:  # else the sync of a former destination is still to be taken back
                await self._cleaner.settle(seen, spec)
        read_ago = timedelta(seconds=self._clock.monotonic() - material.read_at)
        refreshed_at = self._clock.now() - read_ago
        return conclude(
            spec, previous, desired, planned, material, settled=settled, refreshed_at=refreshed_at
        )

    async def _restart(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        desired: DesiredTarget,
    ) -> None:
        before = previous.target
        if before is None or before.fingerprint in (None, desired.data_fingerprint):
            return
        if spec.target.rollout_restart:
            await self._restarter.restart(seen, spec.target.rollout_restart, desired)

    async def _clean_up(self, seen: ObservedObject, previous: SecretSyncStatus) -> RunResult:
        try:
            spec = read_spec(seen)
        except StalledError:
            spec = None
        try:
            if spec is not None and FINALIZER in seen.finalizers:
                waits = await self._clean_destination(seen, spec, previous)
                if waits is not None:
                    return waits
            await self._cleaner.clean_up(seen, previous, spec)
        except LeaseLostError:
            raise
        except KubeError as error:
            _log.warning("cleanup_failed", name=seen.key.name, namespace=seen.key.namespace, error=str(error))
            return RunResult(failed=True, requeue_after=self._cleaner.time_left(seen, spec))
        return RunResult()

    async def _clean_destination(
        self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus
    ) -> RunResult | None:
        """Take back the sync to the destination; None where nothing of it is to be waited for any more."""
        if spec.destination is None and previous.sync is None:
            return None
        time_left = self._cleaner.time_left(seen, spec)
        try:
            left = await self._destinations.clean_up(seen, spec, previous)
        except ReconcileError as error:
            report, again = Report(Tone.WAITING, error.reason, error.message), time_left
        except KubeError as error:
            # The identity may not be readable any more: that holds up the end until the deadline, not for ever.
            if isinstance(error, LeaseLostError):
                raise
            report, again = refused_by_cluster(error), time_left
        else:
            if left is None:
                return None
            failed = left.remove_status == "failed"
            message = f"secrets are removed from {left.destination}: {left.last_remove_message or left.remove_status}"
            reason = Reason.PUSH_FAILED if failed else Reason.PUSHING
            report, again = Report(Tone.WAITING, reason, message, sync=left), None if failed else _LOOK_AGAIN
        if time_left is None:
            what = f"sync {previous.sync.id if previous.sync is not None else seen.key.name} in the service"
            self._telemetry.remote_orphaned(seen, what, report.message)
            return None
        await self._statuses.write(seen, previous, report)
        return RunResult(failed=again is not _LOOK_AGAIN, requeue_after=again or time_left)


def _context(
    seen: ObservedObject, previous: SecretSyncStatus, request: PendingRequest | None, now: TargetKey
) -> PlanContext:
    before = previous.target
    # What was written to an object of another name says nothing about this one.
    written_before = before is not None and (before.kind, before.name) == (now.kind, now.name)
    merged = (key.key for key in previous.keys if key.state is KeyState.SYNCED) if written_before else ()
    return PlanContext(
        owner_uid=seen.uid,
        merged_keys=frozenset(merged),
        released=previous.plan if request is not None and request.releases_guard else None,
        approved=previous.plan if request is not None and request.approves_plan else None,
        written_before=written_before,
    )


def _depends_on_foreign_target(spec: SecretSyncSpec, previous: SecretSyncStatus) -> bool:
    """Tell whether the run waits for what somebody else does to an object of the target's name."""
    if spec.target.creation_policy is CreationPolicy.MERGE:
        return True
    return any(condition.reason == Reason.TARGET_CONFLICT for condition in previous.conditions)
