"""One run for the target: what the sources hold is gathered, planned and written, and what hangs on it restarted."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from datetime import datetime, timedelta

from keybearer.base.clock import Clock
from keybearer.controllers.conditions import Tone
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.freshness import Freshness
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.run_ends import failure_of
from keybearer.controllers.secretsync.conclusion import conclude
from keybearer.controllers.secretsync.gather import Gatherer, Material
from keybearer.controllers.secretsync.materialize import Materializer, SyncFinalizer
from keybearer.controllers.secretsync.outcome import SyncOutcome
from keybearer.controllers.secretsync.reasons import Reason, no_keys_message
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import KeyState, SecretSyncStatus
from keybearer.controllers.sources.reader import SourceReader
from keybearer.controllers.target.changes import plan_status
from keybearer.controllers.target.decisions import PlanContext, TargetPlan
from keybearer.controllers.target.desired import DesiredTarget, build_target
from keybearer.controllers.target.guard import Removal
from keybearer.controllers.target.restart import Restarts, WantedRestart, WorkloadRestarter
from keybearer.controllers.target.spec import CreationPolicy
from keybearer.controllers.target.status import removals_of
from keybearer.controllers.workers import RunResult

__all__ = ["TargetRun"]

_PASSED_MAX = 10_000
"""Objects of which removals are kept that their status may not have: it failed, or an older one came late."""


class TargetRun:
    """Brings the target of a SecretSync to what its sources hold."""

    def __init__(
        self,
        *,
        clock: Clock,
        sources: SourceReader,
        gatherer: Gatherer,
        materializer: Materializer,
        restarter: WorkloadRestarter,
        finalizer: SyncFinalizer,
        fingerprinter: Fingerprinter,
        freshness: Freshness,
    ) -> None:
        self._clock = clock
        self._sources = sources
        self._gatherer = gatherer
        self._materializer = materializer
        self._restarter = restarter
        self._finalizer = finalizer
        self._fingerprinter = fingerprinter
        self._freshness = freshness
        self._passed: OrderedDict[str, tuple[Removal, ...]] = OrderedDict()

    async def bring_about(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        request: PendingRequest | None,
        *,
        not_before: float,
    ) -> tuple[SyncOutcome, RunResult]:
        """Have the target written, and return how that ended.

        Args:
            seen: the SecretSync.
            spec: its spec.
            previous: its status.
            request: what a person asks for.
            not_before: monotonic seconds; what was read of the sources before is read anew.

        Raises:
            ReconcileError: something stands against it.
            ObjectGoneError: the SecretSync was deleted meanwhile.
            KubeError: the API server refuses or can't be asked.
        """
        material = await self._gatherer.gather(
            seen, spec, not_before=not_before, follow_target=_depends_on_foreign_target(spec, previous)
        )
        payload = material.payload
        desired = build_target(
            seen.key, seen.uid, spec.target, payload.data, payload.text, self._fingerprinter
        )
        await self._finalizer.prepare(seen, spec, approved=request is not None and request.approves_plan)
        context = _context(
            seen, spec, previous, request, desired, found=material.found, now=self._clock.now()
        )
        if (passed := self._passed.get(seen.uid)) is not None:
            context = replace(context, past=passed)
        planned = await self._materializer.bring_about(seen, spec, previous, desired, context)
        removals = self._remembered(seen, planned, context)
        self._note_freshness(seen, previous, desired, planned, material)
        # In Plan mode a plan that was shown and is fulfilled was approved, though perhaps in a run that was cut off.
        fulfilled = planned.verdict is None and (
            spec.mode is not Mode.PLAN or planned.action is not None or previous.plan is not None
        )
        restarts: Restarts | None = None
        if fulfilled and not planned.left_alone:
            await self._materializer.retire_old(seen, spec, previous, desired.key)
            restarts = await self._restart(seen, spec, previous, desired, planned)
            if previous.sync is None:  # else the sync of a former destination is still to be taken back
                await self._finalizer.settle(seen, spec)
        read_ago = timedelta(seconds=self._clock.monotonic() - material.read_at)
        refreshed_at = self._clock.now() - read_ago
        outcome, result = conclude(
            spec,
            previous,
            desired,
            planned,
            material,
            restarts=restarts,
            refreshed_at=refreshed_at,
            removals=removals,
        )
        let_pass = context.released or context.approved
        if let_pass is not None and planned.action is not None:
            outcome = replace(outcome, used_request=plan_status(planned.changes) == let_pass)
        contested = self._materializer.contested(seen, desired.key)
        if contested is not None and (outcome.tone is Tone.READY or outcome.reason == contested.reason):
            # Said as long as it goes on, not after each repair anew.
            failure = failure_of(contested)
            keys = outcome.keys if outcome.tone is Tone.READY else None
            outcome = replace(
                outcome, tone=failure.tone, reason=failure.reason, message=failure.message, keys=keys
            )
            result = failure.result
        return outcome, result

    def _remembered(
        self, seen: ObservedObject, planned: TargetPlan, context: PlanContext
    ) -> tuple[Removal, ...]:
        if planned.past is None or planned.action is None:
            return context.past
        self._passed[seen.uid] = planned.past
        self._passed.move_to_end(seen.uid)
        if len(self._passed) > _PASSED_MAX:
            self._passed.popitem(last=False)
        return planned.past

    def _note_freshness(
        self,
        seen: ObservedObject,
        previous: SecretSyncStatus,
        desired: DesiredTarget,
        planned: TargetPlan,
        material: Material,
    ) -> None:
        if planned.verdict is not None or planned.left_alone:
            return
        before = previous.target
        wrote_change = (
            planned.action is not None
            and before is not None
            and before.holds(desired.data_fingerprint) is not True
            and previous.observed_generation == seen.generation
        )
        self._freshness.reached(
            seen.key,
            material.readings,
            wrote_change=wrote_change,
            refreshed_at=previous.last_refresh_time,
            by_events=wrote_change and self._sources.is_instant(seen.key) is True,
        )

    async def _restart(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        desired: DesiredTarget,
        planned: TargetPlan,
    ) -> Restarts:
        before = previous.target
        changed = False
        if before is not None and before.fingerprint is not None:
            is_same = before.holds(desired.data_fingerprint)
            if is_same is None:
                # Written under a key that was lost: only what this run changed is known to have changed.
                is_same = planned.action is None or not planned.changes
            changed = not is_same
        value = f"{desired.key.name}:{desired.data_fingerprint}"
        wanted = [WantedRestart(one, value, changed) for one in spec.target.rollout_restart]
        look = before is None or previous.observed_generation != seen.generation
        return await self._restarter.settle(seen, wanted, previous.workloads, look=look)


def _context(
    seen: ObservedObject,
    spec: SecretSyncSpec,
    previous: SecretSyncStatus,
    request: PendingRequest | None,
    desired: DesiredTarget,
    *,
    found: int,
    now: datetime,
) -> PlanContext:
    before, key = previous.target, desired.key
    # What was written to an object of another name says nothing about this one.
    written_before = before is not None and (before.kind, before.name) == (key.kind, key.name)
    merged = (one.key for one in previous.keys if one.state is KeyState.SYNCED) if written_before else ()
    past = removals_of(before.removals) if before is not None else ()
    # What was shown of another spec, nobody has agreed to for this one.
    shown = previous.plan if previous.observed_generation == seen.generation else None
    return PlanContext(
        owner_uid=seen.uid,
        now=now,
        past=past,
        merged_keys=frozenset(merged),
        released=shown if request is not None and request.releases_guard else None,
        approved=shown if request is not None and request.approves_plan else None,
        written_before=written_before,
        is_unchanged=written_before and before is not None and before.holds(desired.data_fingerprint) is True,
        no_keys=no_keys_message(spec.source_label, found),
    )


def _depends_on_foreign_target(spec: SecretSyncSpec, previous: SecretSyncStatus) -> bool:
    """Tell whether the run waits for what somebody else does to an object of the target's name."""
    if spec.target.creation_policy is CreationPolicy.MERGE:
        return True
    return any(condition.reason == Reason.TARGET_CONFLICT for condition in previous.conditions)
