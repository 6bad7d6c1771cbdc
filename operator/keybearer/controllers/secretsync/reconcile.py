"""One run for one SecretSync: gather, plan, apply; and what its end takes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from keybearer.base.clock import Clock
from keybearer.controllers.annotations import APPROVE_PLAN, IMPORT, RELEASE_GUARD, REMOVE_FOREIGN, SYNC
from keybearer.controllers.conditions import Tone
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.freshness import Freshness
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.outcome import ReconcileError, WaitingError
from keybearer.controllers.reconciler import Kind, KindReconciler, Leftover, Unfinished
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.run_ends import failure_of
from keybearer.controllers.secretsync.conclusion import (
    joined,
    joined_with_trouble,
    refused_by_cluster,
    suspended,
)
from keybearer.controllers.secretsync.destination import Destinations
from keybearer.controllers.secretsync.destination_names import BUSY
from keybearer.controllers.secretsync.gather import Gatherer
from keybearer.controllers.secretsync.materialize import Materializer, SyncFinalizer
from keybearer.controllers.secretsync.outcome import (
    SyncOutcome,
    arrival_of,
    build_status,
    says_the_same,
)
from keybearer.controllers.secretsync.reasons import BLOCKED_REMEDIES, REMEDIES, Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.selection import KeysRefusedError
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.secretsync.target_run import TargetRun
from keybearer.controllers.secretsync.targets import noted_targets
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.convergence import Convergence
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.target.rivals import Rivals
from keybearer.controllers.target.spec import DeletionPolicy
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.work import Lane, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import KubeError
from keybearer.kube.gateway import Gateway

__all__ = ["SecretSyncReconciler", "why_refused"]


def why_refused(request: PendingRequest, spec: SecretSyncSpec) -> str | None:
    """Return why what is asked isn't done, for people; None where nothing stands against it."""
    if request.imports and spec.destination is None:
        return "there is no spec.destination to import from; nothing was imported"
    if not request.removes_foreign:
        return None
    if spec.destination is None:
        return "there is no spec.destination that names could be removed from; nothing was removed"
    if spec.mode in (Mode.SUSPENDED, Mode.CREATE_ONCE):
        return f"mode is {spec.mode.value}, which leaves the destination alone; nothing was removed"
    if (spec.sync_options or {}).get("disableSecretDeletion") is True:
        return "syncOptions.disableSecretDeletion is set; nothing was removed"
    return None


_KIND = Kind(
    spec=SecretSyncSpec,
    status=SecretSyncStatus,
    outcome=SyncOutcome,
    requests=frozenset({SYNC, IMPORT, RELEASE_GUARD, APPROVE_PLAN, REMOVE_FOREIGN}),
    remedies={**REMEDIES, **BLOCKED_REMEDIES},
    as_a_matter_of_course=frozenset({Reason.PLANNED}),
)


class SecretSyncReconciler(KindReconciler[SecretSyncSpec, SecretSyncStatus, SyncOutcome]):
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
        destinations: Destinations,
        fingerprinter: Fingerprinter,
        telemetry: Telemetry,
        freshness: Freshness,
        changes_wait: Callable[[], bool],
    ) -> None:
        super().__init__(_KIND, clock=clock, gateway=gateway, objects=objects, telemetry=telemetry)
        self._changes_wait = changes_wait
        self._freshness = freshness
        self._sources = sources
        self._gatherer = gatherer
        self._writer = writer
        self._destinations = destinations
        self._prepared = SyncFinalizer(clock, gateway)
        convergence = Convergence(writer, Rivals(objects, gateway))
        self._materializer = Materializer(
            objects, writer, convergence, self._prepared, gatherer, self._patch, telemetry
        )
        self._target = TargetRun(
            clock=clock,
            sources=sources,
            gatherer=gatherer,
            materializer=self._materializer,
            restarter=restarter,
            finalizer=self._prepared,
            fingerprinter=fingerprinter,
            freshness=freshness,
        )

    def forget(self, key: WorkKey) -> None:
        """Forget all that is kept of an object that is gone."""
        self._gatherer.forget(key)
        self._destinations.forget(key)
        self._freshness.forget(key)

    async def _bring_about(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        request: PendingRequest | None,
    ) -> tuple[SyncOutcome, RunResult]:
        if spec.mode is Mode.SUSPENDED:
            await self._destinations.quiet(seen, spec, previous)
            self._sources.retain(seen.key, frozenset())
            return suspended(spec), RunResult()
        asked = request is not None or previous.observed_generation != seen.generation
        approved = request is not None and request.approves_plan
        outcome, result = None, RunResult()
        if spec.writes_target:
            # A person who asks, a new spec and a first sync get what the source holds now, not what it held.
            not_before = seen.trigger_at if asked or previous.target is None else float("-inf")
            outcome, result = await self._target.bring_about(
                seen, spec, previous, request, not_before=not_before
            )
        else:
            await self._prepared.prepare(seen, spec, approved=approved)
            if spec.mode is not Mode.PLAN or approved:
                await self._materializer.retire_old(seen, spec, previous, None)
        self._destinations.follow(seen, spec)
        if spec.destination is None:
            return await self._without_destination(seen, spec, previous, outcome, result)
        not_before = seen.trigger_at if asked or previous.push is None else float("-inf")
        if previous.sync is not None and previous.sync.import_status in BUSY:
            # What was read before the import ended lacks what it brought.
            not_before = self._clock.monotonic()
        if outcome is not None and outcome.used_request and request is not None:
            # The status showed what was held of the target: of the destination it shows that from now on.
            request = request.as_sync()
        try:
            pushed = await self._destinations.bring_about(
                seen, spec, previous, request, not_before=not_before
            )
        except ReconcileError as error:
            return joined_with_trouble(outcome, result, error, source=spec.source_label)
        return joined(outcome, result, pushed, source=spec.source_label)

    async def _without_destination(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        outcome: SyncOutcome | None,
        result: RunResult,
    ) -> tuple[SyncOutcome, RunResult]:
        """Take back the sync of a destination that the spec names no more."""
        if outcome is None:
            raise TypeError(
                "a spec without a destination that writes no target was read; its rules forbid that"
            )
        outcome = replace(outcome, import_settled=True)
        if previous.sync is None:
            return outcome, result
        try:
            left = await self._destinations.clean_up(seen, spec, previous)
        except ReconcileError as error:
            return joined_with_trouble(outcome, result, error, source=spec.source_label)
        if left is None:
            return replace(outcome, drops_sync=True), result
        if left.again is None:
            trouble = WaitingError(Reason.PUSH_FAILED, left.message)
            outcome, result = joined_with_trouble(outcome, result, trouble, source=spec.source_label)
        else:
            result = replace(result, requeue_after=left.again)
        return replace(outcome, sync=left.sync), result

    def _why_refused(self, request: PendingRequest, spec: SecretSyncSpec) -> str | None:
        return why_refused(request, spec)

    def _is_answered(self, request: PendingRequest, outcome: SyncOutcome, result: RunResult) -> bool:
        # An import that didn't begin is still owed: answered now, a push would come before it.
        del result
        return not request.imports or outcome.import_settled

    def _may_wait(
        self, lane: Lane, previous: SecretSyncStatus, outcome: SyncOutcome, result: RunResult
    ) -> bool:
        # While a changed value has still to reach other targets, the status that tells of a written one waits for a
        # run of its own: what workloads read comes first.
        is_done = lane is Lane.CHANGE and result == RunResult()
        return is_done and self._changes_wait() and outcome.tells_only_of_target(previous)

    def _broke_off(
        self,
        error: ReconcileError | KubeError,
        seen: ObservedObject,
        spec: SecretSyncSpec | None,
        previous: SecretSyncStatus,
    ) -> tuple[SyncOutcome, RunResult]:
        failure = failure_of(error) if isinstance(error, ReconcileError) else refused_by_cluster(error)
        is_there = any(map(self._writer.knows, noted_targets(previous, seen.key.namespace)))
        kept = "; the last good target stays" if is_there else ""
        outcome = SyncOutcome(
            failure.tone,
            failure.reason,
            f"{failure.message}{kept}",
            source=spec.source_label if spec is not None else None,
            keys=error.keys if isinstance(error, KeysRefusedError) else None,
            remedy=failure.remedy,
        )
        return outcome, failure.result

    def _status_after(
        self, seen: ObservedObject, previous: SecretSyncStatus, outcome: SyncOutcome, now: datetime
    ) -> SecretSyncStatus:
        is_instant, why = self._sources.is_instant(seen.key), self._sources.why_polling(seen.key)
        arrival = arrival_of(previous, is_instant=is_instant, why=why)
        return build_status(previous, outcome, generation=seen.generation, arrival=arrival, now=now)

    def _is_worth_a_write(self, status: SecretSyncStatus, previous: SecretSyncStatus) -> bool:
        return not says_the_same(status, previous)

    # The end of the object

    def _what_it_left(self, seen: ObservedObject, previous: SecretSyncStatus) -> str:
        return f"sync {seen.key.name if previous.sync is None else previous.sync.id} in the service"

    def _leftovers(
        self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus
    ) -> Sequence[Leftover[SyncOutcome]]:
        found: list[Leftover[SyncOutcome]] = []
        if spec.destination is not None or previous.sync is not None:
            take_back = partial(self._take_back_sync, seen, spec, previous)
            found.append(Leftover(self._what_it_left(seen, previous), take_back))
        if spec.target.on_delete is DeletionPolicy.DELETE:
            # A rename may have been cut off: keys can be in the target of before and in that of now.
            targets = dict.fromkeys((*seen.targets, *noted_targets(previous, seen.key.namespace)))
            found += (
                Leftover(f"what was merged into {key.kind} {key.name}", partial(self._retire, key, seen.uid))
                for key in targets
            )
        return found

    async def _take_back_sync(
        self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus
    ) -> Unfinished[SyncOutcome] | None:
        left = await self._destinations.clean_up(seen, spec, previous)
        if left is None:
            return None
        reason = Reason.PUSH_FAILED if left.again is None else Reason.PUSHING
        return Unfinished(SyncOutcome(Tone.WAITING, reason, left.message, sync=left.sync), left.again)

    async def _retire(self, key: TargetKey, owner_uid: str) -> None:
        await self._writer.retire(key, owner_uid)
