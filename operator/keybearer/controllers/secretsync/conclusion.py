"""How one run of a SecretSync ended, as a report for its status and a word for the queue. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from keybearer.controllers.secretsync.changes import KeyChanges
from keybearer.controllers.secretsync.desired import DesiredTarget
from keybearer.controllers.secretsync.gather import Material
from keybearer.controllers.secretsync.plan import TargetPlan
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.report import Report, Tone
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec_target import TargetKind
from keybearer.controllers.secretsync.status import KeyState, SecretSyncStatus, TargetStatus
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
    refreshed_at: datetime,
) -> tuple[Report, RunResult]:
    """Return how a run ended that came as far as a plan.

    Args:
        spec: of the SecretSync.
        previous: its status.
        desired: what the target should be.
        planned: what was done, or stands against it.
        material: what it was made of.
        refreshed_at: when the oldest of its readings began.
    """
    report = Report(
        Tone.READY,
        Reason.SYNCED,
        f"{len(desired.keys)} keys of {spec.source_label} are in {desired.key.kind} {desired.key.name}",
        source=spec.source_label,
        target=_target_status(desired),
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
        held = verdict.reason in (Reason.PLANNED, Reason.GUARDED)
        tone = Tone.HELD if held else Tone.STALLED if verdict.stalled else Tone.WAITING
        report = replace(
            report,
            tone=tone,
            reason=verdict.reason,
            message=verdict.message,
            target=previous.target,
            keys=tuple(
                key.model_copy(update={"state": KeyState.PENDING})
                if key.key in _names(planned.changes)
                else key
                for key in material.keys
            ),
            changes=planned.changes,
        )
        return report, RunResult(failed=not held)
    failure = material.failure
    if failure is not None:
        tone = Tone.WAITING if failure.passing else Tone.STALLED
        message = f"{failure.message}; the last good target stays"
        report = replace(report, tone=tone, reason=failure.reason, message=message)
    return report, RunResult()


def _target_status(desired: DesiredTarget) -> TargetStatus:
    return TargetStatus(
        kind=TargetKind(desired.key.kind),
        name=desired.key.name,
        keys=len(desired.keys),
        fingerprint=desired.data_fingerprint,
    )


def _names(changes: KeyChanges) -> frozenset[str]:
    return frozenset((*changes.add, *changes.change))


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
    if isinstance(error, ForbiddenError) and error.namespace_terminating:
        return Report(Tone.WAITING, Reason.NAMESPACE_TERMINATING, "the namespace is being deleted")
    if isinstance(error, (InvalidError, ForbiddenError)):
        return Report(Tone.STALLED, Reason.TARGET_REFUSED, f"{error}; the last good target stays")
    return Report(Tone.WAITING, Reason.CLUSTER_UNAVAILABLE, f"{error}; it is tried again")
