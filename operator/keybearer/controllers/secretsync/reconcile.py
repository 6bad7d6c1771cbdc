"""One run for one SecretSync: gather, plan, apply, and one write of its status.

While a changed value has still to reach other targets, the status that tells of a written one waits for a run of its
own: what workloads read comes first.

Every step may be cut off between any two lines and run again from the top: nothing is remembered but what the API
server holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.conditions import Tone
from keybearer.controllers.faults import report_fault
from keybearer.controllers.finalizer import FINALIZER, FinalizerKeeper
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.freshness import Freshness
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError, ReconcileError
from keybearer.controllers.reading import read_spec, read_spec_in_part, read_status
from keybearer.controllers.requests import PendingRequest, pending_request
from keybearer.controllers.run_ends import end_run, failure_of
from keybearer.controllers.secretsync.conclusion import (
    joined,
    joined_with_trouble,
    refused_by_cluster,
    suspended,
)
from keybearer.controllers.secretsync.destination import Destinations
from keybearer.controllers.secretsync.gather import Gatherer
from keybearer.controllers.secretsync.materialize import Cleaner, Materializer, Rivals
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.report import Report, StatusWriter
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.selection import KeysRefusedError
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.secretsync.target_run import TargetRun
from keybearer.controllers.secretsync.targets import noted_targets
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.status_patch import StatusPatch
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.work import Lane, WorkItem
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import KubeError, LeaseLostError
from keybearer.kube.gateway import Gateway

__all__ = ["LOOK_AGAIN", "Ending", "SecretSyncReconciler", "why_refused"]


def why_refused(request: PendingRequest, spec: SecretSyncSpec) -> str | None:
    """Return why what is asked isn't done, for people; None where nothing stands against it."""
    if not request.removes_foreign:
        return None
    if spec.destination is None:
        return "there is no spec.destination that names could be removed from; nothing was removed"
    if spec.mode in (Mode.SUSPENDED, Mode.CREATE_ONCE):
        return f"mode is {spec.mode.value}, which leaves the destination alone; nothing was removed"
    if (spec.sync_options or {}).get("disableSecretDeletion") is True:
        return "syncOptions.disableSecretDeletion is set; nothing was removed"
    return None


_log = get_logger(__name__)

LOOK_AGAIN = timedelta(milliseconds=300)
"""Between two looks at a sync whose secrets are being removed."""


class Ending:
    """Takes back what an object that is being deleted left in the cluster and in a destination."""

    def __init__(
        self, cleaner: Cleaner, destinations: Destinations, statuses: StatusWriter, telemetry: Telemetry
    ) -> None:
        self._cleaner = cleaner
        self._destinations = destinations
        self._statuses = statuses
        self._telemetry = telemetry

    async def clean_up(self, seen: ObservedObject, previous: SecretSyncStatus) -> RunResult:
        """Take back what was written and pushed, where that is asked for, and let the object go.

        Raises:
            LeaseLostError: another replica leads; nothing more may be written.
            ObjectGoneError: the SecretSync is gone already.
        """
        spec = read_spec_in_part(seen, SecretSyncSpec)
        try:
            if FINALIZER in seen.finalizers:
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
            report, again = Report(Tone.WAITING, reason, message, sync=left), None if failed else LOOK_AGAIN
        if time_left is None:
            what = f"sync {previous.sync.id if previous.sync is not None else seen.key.name} in the service"
            self._telemetry.remote_orphaned(seen, what, report.message)
            return None
        await self._statuses.write(seen, previous, report)
        return RunResult(failed=again is not LOOK_AGAIN, requeue_after=again or time_left)


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
        freshness: Freshness,
        changes_wait: Callable[[], bool],
    ) -> None:
        self._changes_wait = changes_wait
        self._freshness = freshness
        self._objects = objects
        self._sources = sources
        self._gatherer = gatherer
        self._writer = writer
        self._cleaner = cleaner
        self._destinations = destinations
        self._telemetry = telemetry
        patch = StatusPatch(gateway, objects, FinalizerKeeper(clock, gateway))
        self._statuses = StatusWriter(clock, objects, patch, sources, telemetry)
        rivals = Rivals(objects, gateway)
        self._materializer = Materializer(
            objects, writer, cleaner, gatherer, self._statuses, rivals, telemetry
        )
        self._target = TargetRun(
            clock=clock,
            sources=sources,
            gatherer=gatherer,
            materializer=self._materializer,
            restarter=restarter,
            cleaner=cleaner,
            fingerprinter=fingerprinter,
            freshness=freshness,
        )
        self._ending = Ending(cleaner, destinations, self._statuses, telemetry)

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once.

        Raises:
            LeaseLostError: another replica leads; nothing more may be written.
        """
        seen = self._objects.get(item.key)
        if seen is None:
            return RunResult()
        try:
            run = self._reconcile_seen(seen, item.lane, reconcile_id)
            return await end_run(run, seen, reconcile_id, self._objects)
        finally:
            if self._objects.get(item.key) is None:
                # It went while it was worked on, and may have subscribed anew since it was forgotten.
                self._gatherer.forget(item.key)
                self._destinations.forget(item.key)
                self._freshness.forget(item.key)

    async def _reconcile_seen(self, seen: ObservedObject, lane: Lane, reconcile_id: str) -> RunResult:
        previous = read_status(seen, SecretSyncStatus)
        if seen.deletion_timestamp is not None:
            return await self._ending.clean_up(seen, previous)
        request = pending_request(seen, previous.last_handled_requested_at)
        if request is not None and not request.is_known:
            self._telemetry.request_unknown(seen, request)
        report, result = await self._run(seen, previous, request, reconcile_id)
        if request is not None:
            # Answered however it ended: a release that waited on would let through what nobody has seen yet.
            report = replace(report, handled=request.requested_at)
        elif lane is Lane.CHANGE and result == RunResult() and self._may_wait(report, previous):
            return RunResult(requeue_after=timedelta())
        await self._statuses.write(seen, self._statuses.latest(seen, previous), report)
        return result

    def _may_wait(self, report: Report, previous: SecretSyncStatus) -> bool:
        return self._changes_wait() and report.tells_only_of_target(previous)

    async def _run(
        self,
        seen: ObservedObject,
        previous: SecretSyncStatus,
        request: PendingRequest | None,
        reconcile_id: str,
    ) -> tuple[Report, RunResult]:
        spec: SecretSyncSpec | None = None
        try:
            spec = read_spec(seen, SecretSyncSpec)
            if request is not None and (why := why_refused(request, spec)) is not None:
                self._telemetry.request_refused(seen, request, why)
                request = request.as_sync()
            return await self._reconcile_spec(seen, spec, previous, request)
        except (ObjectGoneError, LeaseLostError):
            raise
        except ReconcileError as error:
            end = failure_of(error)
            keys = error.keys if isinstance(error, KeysRefusedError) else None
            source = spec.source_label if spec is not None else None
            message = f"{end.message}{self._kept(seen, previous)}"
            report = Report(end.tone, end.reason, message, source=source, keys=keys)
            return report, end.result
        except KubeError as error:
            report = refused_by_cluster(error)
            report = replace(report, message=f"{report.message}{self._kept(seen, previous)}")
        except Exception as error:  # noqa: BLE001 - a fault in one object must not end the work on the others
            message = report_fault(error, seen.key, previous.conditions, reconcile_id)
            report = Report(Tone.WAITING, Reason.INTERNAL_ERROR, message)
        return report, RunResult(failed=True)

    def _kept(self, seen: ObservedObject, previous: SecretSyncStatus) -> str:
        """Return what is said of the target where a run fails: that it stays, if the watch showed it."""
        is_there = any(map(self._writer.knows, noted_targets(previous, seen.key.namespace)))
        return "; the last good target stays" if is_there else ""

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
            report, result = await self._target.bring_about(
                seen, spec, previous, request, not_before=not_before
            )
        else:
            await self._cleaner.prepare(seen, spec, approved=approved)
            if spec.mode is not Mode.PLAN or approved:
                await self._materializer.retire_old(seen, spec, previous, None)
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
        return replace(report, sync=left), replace(result, requeue_after=LOOK_AGAIN)
