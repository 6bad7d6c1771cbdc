"""How one run of a SecretSync ended: the target's part, the destination's part, and both as one outcome. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from keybearer.client import SecretSync
from keybearer.controllers.annotations import APPROVE_PLAN, IMPORT, REMOVE_FOREIGN, SYNC, how_to_ask
from keybearer.controllers.conditions import Tone
from keybearer.controllers.outcome import ReconcileError
from keybearer.controllers.run_ends import Failure, failure_of
from keybearer.controllers.secretsync.destination_names import BUSY, is_parked
from keybearer.controllers.secretsync.destination_plan import DefinitionAction, DesiredSync
from keybearer.controllers.secretsync.gather import Material
from keybearer.controllers.secretsync.outcome import SyncOutcome
from keybearer.controllers.secretsync.reasons import KeyProblemReason, Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import (
    KeyState,
    KeyStatus,
    PushStatus,
    RemoteSyncStatus,
    SecretSyncStatus,
)
from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.decisions import TargetPlan
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.guard import Removal
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.restart import Restarts
from keybearer.controllers.target.spec import TargetKind
from keybearer.controllers.target.status import TargetStatus, told_removals
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import ForbiddenError, InvalidError, KubeError

__all__ = [
    "DestinationOutcome",
    "End",
    "conclude",
    "describe_changes",
    "import_failed_first",
    "joined",
    "joined_with_trouble",
    "planned_message",
    "refused_by_cluster",
    "suspended",
    "told",
]

_NAMED = 5
"""Key names that an Event spells out."""


def conclude(
    spec: SecretSyncSpec,
    previous: SecretSyncStatus,
    desired: DesiredTarget,
    planned: TargetPlan,
    material: Material,
    *,
    restarts: Restarts | None,
    refreshed_at: datetime,
    removals: Sequence[Removal] = (),
) -> tuple[SyncOutcome, RunResult]:
    """Return how a run ended that came as far as a plan.

    Args:
        spec: of the SecretSync.
        previous: its status.
        desired: what the target should be.
        planned: what was done, or stands against it.
        material: what it was made of.
        restarts: what became of the workloads that follow the target; None where it isn't as planned, or what was
            written before under other names isn't gone.
        refreshed_at: when the oldest of its readings began.
        removals: what the guard let pass.
    """
    outcome = SyncOutcome(
        Tone.READY,
        Reason.SYNCED,
        _synced_message(spec, desired, material),
        source=spec.source_label,
        target=_target_status(desired, previous.target, removals),
        settled=restarts is not None,
        workloads=None if restarts is None else restarts.workloads,
        keys=material.keys,
        refreshed_at=refreshed_at.replace(microsecond=0),
    )
    if planned.left_alone:
        # What it holds by now is not looked at, so nothing is said of it.
        message = (
            f"{desired.key.kind} {desired.key.name} was written once, and is left alone: mode is CreateOnce"
        )
        outcome = replace(outcome, message=message, target=previous.target, keys=None)
    verdict = planned.verdict
    if verdict is not None:
        held = verdict.reason in (TargetReason.PLANNED, TargetReason.GUARDED)
        tone = Tone.HELD if held else Tone.STALLED if verdict.stalled else Tone.WAITING
        outcome = replace(
            outcome,
            tone=tone,
            reason=verdict.reason,
            message=verdict.message,
            remedy=verdict.remedy,
            target=previous.target,
            keys=_pending(material.keys, KeyChanges() if verdict.is_planned_ahead else planned.changes),
            changes=planned.changes,
            is_planned_ahead=verdict.is_planned_ahead,
        )
        return outcome, RunResult(failed=not held)
    failure = material.failure
    if failure is not None:
        tone = Tone.WAITING if failure.passing else Tone.STALLED
        message = f"{failure.message}; the last good target stays"
        outcome = replace(outcome, tone=tone, reason=failure.reason, message=message, remedy=failure.remedy)
    return (outcome, RunResult()) if restarts is None else _with_restarts(outcome, restarts)


def _with_restarts(outcome: SyncOutcome, restarts: Restarts) -> tuple[SyncOutcome, RunResult]:
    """Return the end of a run whose target is as planned, with what became of the workloads that follow it."""
    result = RunResult(requeue_after=restarts.after)
    if outcome.tone is not Tone.READY:
        return outcome, result
    if restarts.trouble is not None:
        failure = failure_of(restarts.trouble)
        outcome = replace(outcome, tone=failure.tone, reason=failure.reason, message=failure.message)
        return outcome, replace(result, failed=True)
    if restarts.message:
        outcome = replace(outcome, message=f"{outcome.message}; {restarts.message}")
    return outcome, result


def _target_status(
    desired: DesiredTarget, before: TargetStatus | None, removals: Sequence[Removal]
) -> TargetStatus:
    fingerprint = desired.data_fingerprint
    if before is not None and before.fingerprint is not None and before.holds(fingerprint):
        fingerprint = before.fingerprint  # of a version that named no key: no reason to write a status
    return TargetStatus(
        kind=TargetKind(desired.key.kind),
        name=desired.key.name,
        keys=len(desired.keys),
        fingerprint=fingerprint,
        removals=told_removals(removals),
    )


def _synced_message(spec: SecretSyncSpec, desired: DesiredTarget, material: Material) -> str:
    count = len(desired.keys)
    there = (
        f"{count} {'key' if count == 1 else 'keys'} of {spec.source_label} {'is' if count == 1 else 'are'}"
    )
    clashes = sum(key.reason == KeyProblemReason.CLASH for key in material.keys)
    more = f"; {clashes} more would have the same names, see status.keys" if clashes else ""
    return f"{there} in {desired.key.kind} {desired.key.name}{more}"


def _pending(keys: tuple[KeyStatus, ...], changes: KeyChanges) -> tuple[KeyStatus, ...]:
    """Return the keys with what is held back marked so; all of them where the target was not even compared."""
    held = frozenset((*changes.add, *changes.change))
    return tuple(
        key.model_copy(update={"state": KeyState.PENDING})
        if key.state is KeyState.SYNCED and (key.key in held or not changes)
        else key
        for key in keys
    )


def describe_changes(desired: DesiredTarget, planned: TargetPlan) -> str:
    """Return which keys a write changes, names only and the first few of them, for an Event."""
    changes = planned.changes
    parts = [
        f"{verb} {', '.join(names[:_NAMED])}{' and more' if len(names) > _NAMED else ''}"
        for verb, names in (("added", changes.add), ("changed", changes.change), ("removed", changes.remove))
        if names
    ]
    return f"{desired.key.kind} {desired.key.name}: {'; '.join(parts) or 'metadata restored'}"


def suspended(spec: SecretSyncSpec) -> SyncOutcome:
    """Return the end of a run that `mode: Suspended` asked to do nothing."""
    return SyncOutcome(
        Tone.PAUSED,
        Reason.SUSPENDED,
        "mode is Suspended: nothing is read or written; set mode to Apply to go on",
        source=spec.source_label,
    )


def refused_by_cluster(error: KubeError) -> Failure:
    """Return the end of a run that the API server refused, or could not answer."""
    failure = failure_of(error)
    is_ending = isinstance(error, ForbiddenError) and error.namespace_terminating
    if isinstance(error, (InvalidError, ForbiddenError)) and not is_ending:
        return replace(failure, tone=Tone.STALLED, reason=Reason.TARGET_REFUSED, message=str(error))
    return failure


@dataclass(frozen=True, slots=True)
class DestinationOutcome:
    """How the destination's part of a run ended.

    Attributes:
        sync: the sync as the service tells of it; None where there is none.
        push: what was given to it.
        changes: names that are held back.
        look_again: when its state is to be looked at again.
        import_settled: an import, if a person asks for one, has begun in the service.
    """

    tone: Tone
    reason: Reason
    message: str
    sync: RemoteSyncStatus | None
    push: PushStatus
    look_again: timedelta
    changes: KeyChanges = field(default_factory=KeyChanges)
    import_settled: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """What a condition is to say."""

    tone: Tone
    reason: Reason
    message: str


def told(sync: SecretSync, push: PushStatus, keys: int, now: datetime) -> End:
    """Return how a sync stands.

    Args:
        sync: as the service tells of it.
        push: what is known of its names.
        keys: how many secrets the folder has.
        now: the present instant.
    """
    where = sync.destination
    importing = _end_of_import(sync)
    if importing is not None:
        return importing
    if is_parked(sync, now):
        text = f"the service goes on pushing to {where} by itself: {sync.last_sync_message}"
        return End(Tone.WAITING, Reason.PUSHING, text)
    if sync.sync_status in BUSY:
        return End(Tone.WAITING, Reason.PUSHING, f"the service pushes to {where}")
    if sync.sync_status == "failed":
        text = f"the last push to {where} failed: {sync.last_sync_message or 'the service says no more'}"
        return End(Tone.STALLED, Reason.PUSH_FAILED, f"{text}{_of_failed(push)}")
    text = f"{keys} {'secret is' if keys == 1 else 'secrets are'} pushed to {where}"
    if sync.last_synced_at is None:
        text = f"sync {sync.name} to {where} is ready; nothing was pushed yet"
    elif sync.last_sync_message:
        text = f"{text}; {sync.last_sync_message}"
    text = f"{text}{_of_failed(push)}{_of_foreign(push, keys)}{_of_jobs(sync)}"
    return End(Tone.READY, Reason.SYNCED, text)


def import_failed_first(sync: SecretSync) -> bool:
    """Tell whether an import failed that was to come before the first push."""
    return sync.import_status == "failed" and sync.sync_status is None and sync.last_synced_at is None


def _end_of_import(sync: SecretSync) -> End | None:
    """Return what is to be said of an import that pushes wait for; None where they don't."""
    where = sync.destination
    if sync.import_status in BUSY:
        return End(Tone.WAITING, Reason.IMPORTING, f"the service imports from {where}; pushes wait for that")
    if not import_failed_first(sync):
        return None
    text = (
        f"the import from {where} failed: {sync.last_import_message or 'the service says no more'}; nothing is "
        f"pushed until a person asks: import again with {how_to_ask(IMPORT)}, or push with {how_to_ask(SYNC)}"
    )
    return End(Tone.STALLED, Reason.IMPORT_FAILED, text)


def _of_foreign(push: PushStatus, keys: int) -> str:
    if not push.foreign_total:
        return ""
    # With an empty source, these may be all that there is: their removal is not offered.
    way = (
        f"remove that once with {how_to_ask(REMOVE_FOREIGN)}"
        if keys
        else f"the source is empty; import that into it with {how_to_ask(IMPORT)}"
    )
    return f"; status.push.foreign names what came from elsewhere; {way}"


def _of_jobs(sync: SecretSync) -> str:
    """Return how the last import and removal ended. People ask for them one by one; they don't make a push bad."""
    text = ""
    if sync.import_status == "succeeded" and sync.last_imported_at is not None:
        text = f"; secrets were imported at {sync.last_imported_at}"
    for what, status in (("import", sync.import_status), ("removal", sync.remove_status)):
        if status == "failed":
            text = f"{text}; the last {what} failed, see status.sync"
    return text


def planned_message(
    desired: DesiredSync, action: DefinitionAction, changes: KeyChanges, *, is_named: bool
) -> str:
    """Return what `mode: Plan` holds back, in a sentence.

    Args:
        desired: the sync.
        action: what has to be done about its definition.
        changes: names that the push would change.
        is_named: the names are known; else the service told none.
    """
    where = f"{desired.destination} through connection {desired.connection_id}"
    parts = [
        f"{verb} {len(names)}"
        for verb, names in (("add", changes.add), ("change", changes.change), ("remove", changes.remove))
        if names
    ]
    pushes = f"push what differs ({', '.join(parts)}; see status.plan)" if parts else "push what differs"
    if not is_named:
        pushes = f"{pushes}, which the service doesn't name"
    told = {
        DefinitionAction.CREATE: f"create sync {desired.name} to {where} and push {len(changes.add)} secrets",
        DefinitionAction.UPDATE: f"change sync {desired.name} to {where} and {pushes}",
        DefinitionAction.NONE: f"{pushes} to {where}",
    }[action]
    return f"would {told}; approve with {how_to_ask(APPROVE_PLAN)}"


def _of_failed(push: PushStatus) -> str:
    if not push.failed_total:
        return ""
    names = "1 name" if push.failed_total == 1 else f"{push.failed_total} names"
    return f"; {names} failed, see status.push.failed"


def joined(
    outcome: SyncOutcome | None, result: RunResult, pushed: DestinationOutcome, *, source: str
) -> tuple[SyncOutcome, RunResult]:
    """Return the end of a run with a destination; `outcome` is the target's, None where there is no target.

    What stands against the target is told first: a person mends one thing after the other.
    """
    if outcome is None:
        whole = SyncOutcome(
            pushed.tone,
            pushed.reason,
            pushed.message,
            source=source,
            changes=pushed.changes,
            settled=True,
        )
    elif outcome.tone is not Tone.READY:
        whole = outcome
    elif pushed.tone is Tone.READY:
        whole = replace(outcome, message=f"{outcome.message}; {pushed.message}")
    else:
        whole = replace(
            outcome,
            tone=pushed.tone,
            reason=pushed.reason,
            message=pushed.message,
            changes=pushed.changes,
        )
    whole = replace(whole, sync=pushed.sync, push=pushed.push, import_settled=pushed.import_settled)
    return whole, _again(result, pushed.look_again)


def joined_with_trouble(
    outcome: SyncOutcome | None, result: RunResult, error: ReconcileError, *, source: str
) -> tuple[SyncOutcome, RunResult]:
    """Return the end of a run whose destination ran into this."""
    failure = failure_of(error)
    if outcome is None:
        whole = SyncOutcome(
            failure.tone, failure.reason, failure.message, source=source, remedy=failure.remedy
        )
    elif outcome.tone is not Tone.READY:
        whole = outcome
    else:
        whole = replace(
            outcome,
            tone=failure.tone,
            reason=failure.reason,
            message=failure.message,
            remedy=failure.remedy,
        )
    again = replace(result, failed=result.failed or failure.result.failed)
    return whole, _again(again, failure.result.requeue_after)


def _again(result: RunResult, after: timedelta | None) -> RunResult:
    if after is None:
        return result
    before = result.requeue_after
    return replace(result, requeue_after=after if before is None else min(before, after))
