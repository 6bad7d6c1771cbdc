"""How one run of a SecretSync ended, as a report for its status and a word for the queue. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from keybearer.controllers.conditions import Tone
from keybearer.controllers.run_ends import failure_of
from keybearer.controllers.secretsync.gather import Material
from keybearer.controllers.secretsync.key_problems import KeyProblemReason
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.report import Report
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import KeyState, KeyStatus, SecretSyncStatus
from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.decisions import TargetPlan
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.guard import Removal
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.spec import TargetKind
from keybearer.controllers.target.status import TargetStatus, told_removals
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import ForbiddenError, InvalidError, KubeError

__all__ = ["conclude", "describe_changes", "refused_by_cluster", "suspended"]

_NAMED = 5
"""Key names that an Event spells out."""


def conclude(
    spec: SecretSyncSpec,
    previous: SecretSyncStatus,
    desired: DesiredTarget,
    planned: TargetPlan,
    material: Material,
    *,
    settled: bool,
    refreshed_at: datetime,
    removals: Sequence[Removal] = (),
) -> tuple[Report, RunResult]:
    """Return how a run ended that came as far as a plan.

    Args:
        spec: of the SecretSync.
        previous: its status.
        desired: what the target should be.
        planned: what was done, or stands against it.
        material: what it was made of.
        settled: the target is as planned, and what was written before under other names is gone.
        refreshed_at: when the oldest of its readings began.
        removals: what the guard let pass.
    """
    report = Report(
        Tone.READY,
        Reason.SYNCED,
        _synced_message(spec, desired, material),
        source=spec.source_label,
        target=_target_status(desired, previous.target, removals),
        settled=settled,
        keys=material.keys,
        refreshed_at=refreshed_at.replace(microsecond=0),
    )
    if planned.left_alone:
        # What it holds by now is not looked at, so nothing is said of it.
        message = (
            f"{desired.key.kind} {desired.key.name} was written once, and is left alone: mode is CreateOnce"
        )
        report = replace(report, message=message, target=previous.target, keys=None)
    verdict = planned.verdict
    if verdict is not None:
        held = verdict.reason in (TargetReason.PLANNED, TargetReason.GUARDED)
        tone = Tone.HELD if held else Tone.STALLED if verdict.stalled else Tone.WAITING
        report = replace(
            report,
            tone=tone,
            reason=verdict.reason,
            message=verdict.message,
            target=previous.target,
            keys=_pending(material.keys, planned.changes),
            changes=planned.changes,
        )
        return report, RunResult(failed=not held)
    failure = material.failure
    if failure is not None:
        tone = Tone.WAITING if failure.passing else Tone.STALLED
        message = f"{failure.message}; the last good target stays"
        report = replace(report, tone=tone, reason=failure.reason, message=message)
    return report, RunResult()


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


def suspended(spec: SecretSyncSpec) -> Report:
    """Return the end of a run that `mode: Suspended` asked to do nothing."""
    return Report(
        Tone.PAUSED,
        Reason.SUSPENDED,
        "mode is Suspended: nothing is read or written; set mode to Apply to go on",
        source=spec.source_label,
    )


def refused_by_cluster(error: KubeError) -> Report:
    """Return the end of a run that the API server refused, or could not answer."""
    is_ending = isinstance(error, ForbiddenError) and error.namespace_terminating
    if isinstance(error, (InvalidError, ForbiddenError)) and not is_ending:
        return Report(Tone.STALLED, Reason.TARGET_REFUSED, str(error))
    failure = failure_of(error)
    return Report(failure.tone, failure.reason, failure.message)
