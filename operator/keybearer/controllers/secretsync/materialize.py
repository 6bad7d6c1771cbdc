"""Makes the target of a SecretSync what is desired, unless it is another's, and takes it back."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from keybearer.base.logs import get_logger
from keybearer.controllers.finalizer import FinalizerKeeper
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.outcome import ObjectGoneError, WaitingError
from keybearer.controllers.reading import latest_status
from keybearer.controllers.secretsync.conclusion import describe_changes
from keybearer.controllers.secretsync.gather import Gatherer
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.secretsync.targets import noted_targets
from keybearer.controllers.status_patch import StatusPatch
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.convergence import Convergence, Start
from keybearer.controllers.target.decisions import (
    CreateTarget,
    PlanContext,
    TargetAction,
    TargetPlan,
)
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.spec import CreationPolicy, DeletionPolicy, TargetKind
from keybearer.controllers.target.status import TargetName, told_removals
from keybearer.controllers.telemetry import Telemetry

__all__ = ["Materializer", "SyncFinalizer"]

_log = get_logger(__name__)


class SyncFinalizer(FinalizerKeeper):
    """The finalizer of a SecretSync: only where its end leaves something that garbage collection can't take."""

    async def prepare(self, seen: ObservedObject, spec: SecretSyncSpec, *, approved: bool = False) -> None:
        """Make the finalizer present before this spec merges something that it is to clean up.

        Args:
            seen: the SecretSync.
            spec: its spec.
            approved: a person approved its plan, so that `mode: Plan` may write as well.

        Raises:
            ObjectGoneError: the object was deleted meanwhile.
            KubeError: the API server refuses or can't be asked.
        """
        writes = approved or spec.mode is not Mode.PLAN
        if writes and _needs_finalizer(spec):
            await self.set(seen, present=True)

    async def settle(self, seen: ObservedObject, spec: SecretSyncSpec) -> None:
        """Remove the finalizer where nothing is left to clean: once the target of before has been retired.

        Raises:
            ObjectGoneError: the object was deleted meanwhile.
            KubeError: the API server refuses or can't be asked.
        """
        if not _needs_finalizer(spec) and spec.mode is not Mode.PLAN:
            await self.set(seen, present=False)


def _needs_finalizer(spec: SecretSyncSpec) -> bool:
    if spec.destination is not None:
        return True
    target = spec.target
    return target.creation_policy is CreationPolicy.MERGE and target.on_delete is DeletionPolicy.DELETE


class Materializer:
    """Has the target written, and says in status, Events and watches what follows from that."""

    def __init__(
        self,
        objects: ObjectStore,
        writer: TargetWriter,
        convergence: Convergence,
        finalizer: SyncFinalizer,
        gatherer: Gatherer,
        patch: StatusPatch,
        telemetry: Telemetry,
    ) -> None:
        self._objects = objects
        self._writer = writer
        self._convergence = convergence
        self._finalizer = finalizer
        self._gatherer = gatherer
        self._patch = patch
        self._telemetry = telemetry

    async def bring_about(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        desired: DesiredTarget,
        context: PlanContext,
    ) -> TargetPlan:
        """Write the target where it isn't as desired, and return what was planned.

        Args:
            seen: the SecretSync.
            spec: its spec.
            previous: its status.
            desired: what the target should be.
            context: what the plan needs to know beside them.

        Raises:
            ReconcileError: others write it at the same time, or manage fields of it.
            ObjectGoneError: the SecretSync is gone.
            KubeError: the API server refuses or can't be asked.
        """
        never_written = previous.target is None
        rules = spec.write_rules
        # What was never written, or was seen to end, is created without a look.
        absent = self._writer.take_its_end(desired.key) or (never_written and not _was_refused(previous))
        if leaving := await self._leaving(seen, spec, previous, desired.key):
            context = replace(context, leaving=leaving)
        start = Start(
            blind=absent and self._may_create_blindly(spec, desired.key),
            repairs=_is_written(seen, previous, desired),
        )
        done = await self._convergence.bring_about(
            desired,
            rules,
            context,
            carry_out=lambda action: self._carry_out(seen, action, again=not never_written),
            prepare=lambda plan: self._note_ahead(seen, spec, previous, desired.key, plan),
            start=start,
        )
        planned, present = done.plan, done.present
        if planned.action is not None:
            action = type(planned.action).__name__.removesuffix("Target")
            changes = describe_changes(desired, planned)
            self._telemetry.target_written(seen, action, changes, first=never_written)
            return planned
        is_refused = planned.verdict is not None and planned.verdict.reason is TargetReason.CONFLICT
        if is_refused or rules.policy is CreationPolicy.MERGE:
            version = present.resource_version if present is not None else None
            self._gatherer.await_target(seen, spec, version)
        return planned

    def contested(self, seen: ObservedObject, key: TargetKey) -> WaitingError | None:
        """Return what is to be said while others keep changing the target; None where they don't."""
        return self._writer.contested(seen.uid, (key,))

    async def retire_old(
        self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus, now: TargetKey | None
    ) -> None:
        """Take back what was written, or was to be written, under other names.

        Raises:
            KubeError: the API server refuses or can't be asked.
        """
        for old in noted_targets(previous, seen.key.namespace):
            if old != now and await self._writer.retire(old, seen.uid, retains=_retains(spec)):
                self._telemetry.target_retired(seen, old)

    async def _leaving(
        self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus, now: TargetKey
    ) -> frozenset[str]:
        """Return the keys of targets under other names that are retired once this one is as planned."""
        names: frozenset[str] = frozenset()
        for old in noted_targets(previous, seen.key.namespace):
            if old != now:
                names |= await self._writer.leaving(old, seen.uid, retains=_retains(spec))
        return names

    async def _carry_out(self, seen: ObservedObject, action: TargetAction, *, again: bool) -> None:
        current = self._objects.get(seen.key)
        if current is None or current.uid != seen.uid:
            raise ObjectGoneError
        if isinstance(action, CreateTarget) and again:
            await self._create_again(seen, action)
        else:
            await self._writer.carry_out(action, seen.uid)

    async def _create_again(self, seen: ObservedObject, action: CreateTarget) -> None:
        """Create a target once more, and ask the API server meanwhile whether its owner is still there.

        A target goes with its owner. Where a re-list hid that the owner went first, each new target would be
        collected as garbage, and its end would bring the next. One after the other would be safe as well, but
        somebody's mount waits for the Secret.

        Raises:
            ObjectGoneError: the SecretSync is gone, or another one of the same name; the target was taken back.
            KubeError: the API server refuses or can't be asked.
        """
        written, owner = await asyncio.gather(
            self._writer.carry_out(action, seen.uid), self._finalizer.require(seen), return_exceptions=True
        )
        if isinstance(owner, ObjectGoneError) and isinstance(written, str):
            await self._writer.take_back(action.desired.key, written)
        for error in (owner if isinstance(owner, ObjectGoneError) else None, written, owner):
            if isinstance(error, BaseException):
                raise error

    def _may_create_blindly(self, spec: SecretSyncSpec, key: TargetKey) -> bool:
        owned = spec.target.creation_policy is CreationPolicy.OWNER
        return owned and spec.mode is not Mode.PLAN and not self._writer.knows(key)

    async def _note_ahead(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        now: TargetKey,
        plan: TargetPlan,
    ) -> None:
        """Note in the status what no later run would find, for this one may be cut off before it says so.

        That is another name of the target: a rename that is cut off and followed by another one would leave a target
        that nobody knows. And it is what goes: the guard would forget it. A first sync has no such note, which would
        be a third write: its target goes with the SecretSync.
        """
        previous = latest_status(self._objects, seen, previous)
        known = noted_targets(previous, seen.key.namespace)
        if not known:
            return
        noted = previous
        if now not in known:
            for old in known[1:]:
                await self._writer.retire(old, seen.uid, retains=_retains(spec))
            noted = noted.model_copy(
                update={"moving_to": TargetName(kind=TargetKind(now.kind), name=now.name)}
            )
        # A release empties what is remembered, and only once it was carried out.
        if plan.past and previous.target is not None:
            removals = told_removals(plan.past)
            noted = noted.model_copy(
                update={"target": previous.target.model_copy(update={"removals": removals})}
            )
        if noted is not previous:
            await self._patch.apply(seen, noted.to_wire())


def _retains(spec: SecretSyncSpec) -> bool:
    return spec.target.on_delete is DeletionPolicy.RETAIN


def _is_written(seen: ObservedObject, previous: SecretSyncStatus, desired: DesiredTarget) -> bool:
    """Tell whether just this was written before, so that what has to be written now makes good what others did."""
    before = previous.target
    return (
        before is not None
        and (before.kind, before.name) == (desired.key.kind, desired.key.name)
        and before.holds(desired.data_fingerprint) is True
        and previous.observed_generation == seen.generation
    )


def _was_refused(previous: SecretSyncStatus) -> bool:
    refusals = (Reason.TARGET_CONFLICT, Reason.TARGET_REFUSED)
    return any(condition.reason in refusals for condition in previous.conditions)
