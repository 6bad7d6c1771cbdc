"""What to do about a target: observed and desired go in, actions and a verdict come out. Pure.

The checks run in the order of `plan_target`, and the first that objects decides: whose object it is comes before
what it holds, what would be lost before what Kubernetes refuses, and the mode last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.controllers.secretsync.changes import (
    KeyChanges,
    compare_keys,
    foreign_metadata,
    has_planned_metadata,
    plan_status,
    replacement_patch,
)
from keybearer.controllers.secretsync.desired import DesiredTarget
from keybearer.controllers.secretsync.observed import PresentTarget
from keybearer.controllers.secretsync.reasons import Reason, no_keys_message
from keybearer.controllers.secretsync.resource import Mode, SecretSyncSpec
from keybearer.controllers.secretsync.spec_target import CreationPolicy
from keybearer.controllers.secretsync.status import PlanStatus

__all__ = [
    "ApplyTarget",
    "CreateTarget",
    "MergeTarget",
    "PlanContext",
    "RecreateTarget",
    "ReplaceTarget",
    "TargetAction",
    "TargetPlan",
    "Verdict",
    "plan_target",
]

_NAMED = 10
"""Key names that a message spells out."""


@dataclass(frozen=True, slots=True)
class CreateTarget:
    """POST it: the only verb that never touches an object that appeared meanwhile."""

    desired: DesiredTarget


@dataclass(frozen=True, slots=True)
class ApplyTarget:
    """Server-side apply to that very object; nothing of it has to go."""

    desired: DesiredTarget
    uid: str


@dataclass(frozen=True, slots=True)
class ReplaceTarget:
    """One patch at a known version that sets what is planned and removes what is not: readers see no mixture."""

    desired: DesiredTarget
    uid: str
    resource_version: str
    patch: dict[str, JsonValue] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RecreateTarget:
    """Delete that very object and POST the new one."""

    desired: DesiredTarget
    uid: str


@dataclass(frozen=True, slots=True)
class MergeTarget:
    """Server-side apply under the object's own field manager: its keys, and no others, are set or let go."""

    desired: DesiredTarget
    uid: str
    force: bool


TargetAction = CreateTarget | ApplyTarget | ReplaceTarget | RecreateTarget | MergeTarget


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why nothing is done although something should be."""

    reason: Reason
    message: str
    stalled: bool = True


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """What to do, what it changes, and what stands against it."""

    action: TargetAction | None = None
    changes: KeyChanges = field(default_factory=KeyChanges)
    verdict: Verdict | None = None
    left_alone: bool = False
    """`mode: CreateOnce` has done its work: the target may be whatever it is by now."""

    @property
    def guarded(self) -> bool:
        """Tell whether the guard holds the change back."""
        return self.verdict is not None and self.verdict.reason is Reason.GUARDED


@dataclass(frozen=True, slots=True)
class PlanContext:
    """The circumstances of one plan.

    Attributes:
        owner_uid: UID of the SecretSync.
        merged_keys: keys that an earlier merge of ours wrote, as far as known.
        released: the change that the guard held and a person let through, this once; another one is held again.
        approved: the plan that a person saw and approved, this once; another one is shown first.
        written_before: the target was written at least once.
        found: how many secrets the sources hold.
        rivals: names, by UID, of other living SecretSyncs that own the target or merged into it.
    """

    owner_uid: str
    merged_keys: frozenset[str] = frozenset()
    released: PlanStatus | None = None
    approved: PlanStatus | None = None
    written_before: bool = False
    found: int = 0
    rivals: Mapping[str, str] = field(default_factory=dict, repr=False)


def plan_target(
    desired: DesiredTarget, present: PresentTarget | None, spec: SecretSyncSpec, context: PlanContext
) -> TargetPlan:
    """Return what to do about the target.

    Args:
        desired: what it should be.
        present: what is there; None where nothing is.
        spec: of the SecretSync.
        context: what else counts.
    """
    merge = spec.target.creation_policy is CreationPolicy.MERGE
    if present is None:
        planned = _plan_absent(desired, spec, context)
    elif merge:
        planned = _plan_merge(desired, present, spec, context)
    else:
        planned = _plan_owned(desired, present, spec, context)
    if spec.mode is Mode.CREATE_ONCE and present is not None and context.written_before:
        return TargetPlan(left_alone=True)
    if planned.verdict is not None or planned.action is None:
        return planned
    if spec.mode is Mode.PLAN and context.approved != plan_status(planned.changes):
        return TargetPlan(changes=planned.changes, verdict=_planned(desired, planned.changes))
    return planned


def _plan_absent(desired: DesiredTarget, spec: SecretSyncSpec, context: PlanContext) -> TargetPlan:
    if not desired.keys:
        return TargetPlan(verdict=Verdict(Reason.NO_KEYS, no_keys_message(spec.source_label, context.found)))
    if spec.target.creation_policy is CreationPolicy.MERGE:
        return TargetPlan(
            changes=KeyChanges(add=desired.keys),
            verdict=Verdict(
                Reason.TARGET_MISSING,
                f"{desired.key.kind} {desired.key.name} doesn't exist and creationPolicy is Merge; "
                "create it, or use creationPolicy Owner",
                stalled=False,
            ),
        )
    return TargetPlan(action=CreateTarget(desired), changes=KeyChanges(add=desired.keys))


def _plan_owned(
    desired: DesiredTarget, present: PresentTarget, spec: SecretSyncSpec, context: PlanContext
) -> TargetPlan:
    if present.fingerprint == desired.fingerprint:
        return TargetPlan()
    if present.owner_uid != context.owner_uid or present.foreign_controller(context.owner_uid):
        refused = _refuse_foreign(desired, present, spec, context)
        if refused is not None:
            return TargetPlan(verdict=refused)
    changes = compare_keys(present.data, desired.data, set(present.data))
    held = _guard(changes, len(present.data), spec, context)
    if held is not None:
        return TargetPlan(changes=changes, verdict=held)
    frozen = _refused_by_kubernetes(desired, present)
    if frozen is not None:
        if spec.target.recreate:
            return TargetPlan(action=RecreateTarget(desired, present.uid), changes=changes)
        return TargetPlan(changes=changes, verdict=frozen)
    patch = replacement_patch(desired, present)
    if patch is None:
        return TargetPlan(action=ApplyTarget(desired, present.uid), changes=changes)
    return TargetPlan(
        action=ReplaceTarget(desired, present.uid, present.resource_version, patch), changes=changes
    )


def _plan_merge(
    desired: DesiredTarget, present: PresentTarget, spec: SecretSyncSpec, context: PlanContext
) -> TargetPlan:
    owned = _owned_by_rival(desired, present, context)
    if owned is not None:
        return TargetPlan(verdict=owned)
    ours = present.merged_keys | (context.merged_keys & present.data.keys())
    if not desired.keys and not ours:
        return TargetPlan(verdict=Verdict(Reason.NO_KEYS, no_keys_message(spec.source_label, context.found)))
    changes = compare_keys(present.data, desired.data, ours)
    refused = _refuse_merge(desired, present, spec, context, changes) or _guard(
        changes, len(ours), spec, context
    )
    if refused is not None:
        return TargetPlan(changes=changes, verdict=refused)
    if not changes and present.merged_keys == set(desired.keys) and has_planned_metadata(desired, present):
        return TargetPlan()
    if present.immutable and changes:
        return TargetPlan(
            changes=changes,
            verdict=Verdict(
                Reason.TARGET_IMMUTABLE,
                f"{desired.key.kind} {desired.key.name} is immutable; merge elsewhere",
            ),
        )
    return TargetPlan(action=MergeTarget(desired, present.uid, force=bool(changes.change)), changes=changes)


def _refuse_merge(
    desired: DesiredTarget,
    present: PresentTarget,
    spec: SecretSyncSpec,
    context: PlanContext,
    changes: KeyChanges,
) -> Verdict | None:
    """Return what stands against a merge: whose the keys, labels and annotations are that it would change."""
    taken = foreign_metadata(desired, present)
    # A key that we wrote and another merge has taken since is that one's: taking it back would never end.
    not_ours = [name for name in changes.change if name not in present.merged_keys]
    rival = _merged_by_rival(desired, present, context, [*not_ours, *taken])
    if rival is not None or spec.target.adopt:
        return rival
    foreign = [name for name in not_ours if name not in context.merged_keys]
    if foreign:
        return Verdict(
            Reason.TARGET_CONFLICT,
            f"{desired.key.kind} {desired.key.name} has other values under {_names(foreign)}, which this "
            "object did not write; rename the keys, or set target.adopt to take them over",
        )
    if taken:
        return Verdict(
            Reason.TARGET_CONFLICT,
            f"{desired.key.kind} {desired.key.name} has other values of {_names(taken)}, which this object did "
            "not write; leave them out of target.labels and target.annotations, or set target.adopt",
        )
    return None


def _refuse_foreign(
    desired: DesiredTarget, present: PresentTarget, spec: SecretSyncSpec, context: PlanContext
) -> Verdict | None:
    what = f"{desired.key.kind} {desired.key.name}"
    controller = present.foreign_controller(context.owner_uid)
    if controller is not None:
        return Verdict(
            Reason.TARGET_CONFLICT,
            f"{what} is controlled by {controller}; choose another target.name, or remove that controller",
        )
    rival = _owned_by_rival(desired, present, context) or _merged_by_rival(desired, present, context, None)
    if rival is not None or spec.target.adopt:
        return rival
    return Verdict(
        Reason.TARGET_CONFLICT,
        f"{what} exists and was not written by this object; choose another target.name, delete it, set "
        "target.adopt to take it over, or use creationPolicy Merge to add keys to it",
    )


def _owned_by_rival(desired: DesiredTarget, present: PresentTarget, context: PlanContext) -> Verdict | None:
    """Return what stands against touching a target that belongs to another living SecretSync."""
    names = sorted(name for uid, name in context.rivals.items() if uid in present.owners)
    if not names:
        return None
    return Verdict(
        Reason.TARGET_CONFLICT,
        f"{desired.key.kind} {desired.key.name} belongs to SecretSync {names[0]}; choose another target.name, or "
        f"delete {names[0]}",
    )


def _merged_by_rival(
    desired: DesiredTarget, present: PresentTarget, context: PlanContext, wanted: list[str] | None
) -> Verdict | None:
    """Return what stands against taking these keys, labels and annotations (None: all) from other merges."""
    for uid, name in sorted(context.rivals.items(), key=lambda rival: rival[1]):
        merged = present.merges.get(uid, frozenset())
        taken = sorted(merged if wanted is None else merged.intersection(wanted))
        if taken:
            return Verdict(
                Reason.TARGET_CONFLICT,
                f"SecretSync {name} merges {_names(taken)} into {desired.key.kind} {desired.key.name}; choose other "
                f"keys or another target.name, or take them from {name}",
            )
    return None


def _guard(changes: KeyChanges, before: int, spec: SecretSyncSpec, context: PlanContext) -> Verdict | None:
    if not changes.remove or before == 0:
        return None
    seen_by_a_person = context.approved if spec.mode is Mode.PLAN else None
    if plan_status(changes) in (context.released, seen_by_a_person):
        return None
    percent = spec.guard.max_deletions
    everything = len(changes.remove) == before
    if not everything and len(changes.remove) * 100 <= percent * before:
        return None
    return Verdict(
        Reason.GUARDED,
        f"{len(changes.remove)} of {before} keys would be removed ({_names(changes.remove)}), more than the guard "
        f"lets at once ({percent} %, and never all); nothing was written. Mend the source, or release it once "
        "with the annotations keybearer.dev/request: release-guard and a fresh keybearer.dev/requestedAt",
    )


def _refused_by_kubernetes(desired: DesiredTarget, present: PresentTarget) -> Verdict | None:
    what = f"{desired.key.kind} {desired.key.name}"
    wanted_type = desired.body.get("type")
    if isinstance(wanted_type, str) and wanted_type != present.type:
        return Verdict(
            Reason.TARGET_IMMUTABLE,
            f"{what} is of type {present.type} and should be {wanted_type}, which Kubernetes can't change; set "
            "target.recreate to let it be deleted and created anew",
        )
    thaws = present.immutable and desired.body.get("immutable") is not True
    if present.immutable and (thaws or present.data != desired.data):
        return Verdict(
            Reason.TARGET_IMMUTABLE,
            f"{what} is immutable and its data should change; set target.recreate to let it be deleted and "
            "created anew",
        )
    return None


def _planned(desired: DesiredTarget, changes: KeyChanges) -> Verdict:
    count = len(changes.add) + len(changes.change) + len(changes.remove)
    return Verdict(
        Reason.PLANNED,
        f"mode is Plan: {count} keys of {desired.key.kind} {desired.key.name} would change, see status.plan; "
        "approve with the annotations keybearer.dev/request: approve-plan and a fresh keybearer.dev/requestedAt, "
        "or set mode to Apply",
        stalled=False,
    )


def _names(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
