"""What to do about a target: observed and desired go in, actions and a verdict come out. Pure.

The checks run in the order of `plan_target`, and the first that objects decides: whose object it is comes before
what it holds, what would be lost before what Kubernetes refuses, and the mode last.
"""

from __future__ import annotations

from dataclasses import replace

from keybearer.controllers.annotations import APPROVE_PLAN, how_to_ask
from keybearer.controllers.mode import Mode
from keybearer.controllers.target.changes import (
    KeyChanges,
    compare_keys,
    has_planned_metadata,
    is_as_planned,
    plan_status,
    replacement_patch,
    some_of,
)
from keybearer.controllers.target.conflicts import (
    owned_by_rival,
    refuse_foreign,
    refuse_identity,
    refuse_merge,
    refused_change,
)
from keybearer.controllers.target.decisions import (
    ApplyTarget,
    CreateTarget,
    MergeTarget,
    PlanContext,
    RecreateTarget,
    ReplaceTarget,
    TargetAction,
    TargetPlan,
    Verdict,
)
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.guard import GuardVerdict, GuardWords, judge_removals
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.size import (
    STORED_MAX_BYTES,
    VALUES_MAX_BYTES,
    content_bytes,
    managed_bytes,
    merged_data,
    values_bytes,
)
from keybearer.controllers.target.spec import CreationPolicy, WriteRules

__all__ = ["plan_target"]


def plan_target(
    desired: DesiredTarget, present: PresentTarget | None, rules: WriteRules, context: PlanContext
) -> TargetPlan:
    """Return what to do about the target.

    Args:
        desired: what it should be.
        present: what is there; None where nothing is.
        rules: what its owner's spec lets be done.
        context: what else counts.
    """
    merge = rules.policy is CreationPolicy.MERGE
    if present is None:
        planned = _plan_absent(desired, rules, context)
    elif merge:
        planned = _plan_merge(desired, present, rules, context)
    else:
        planned = _plan_owned(desired, present, rules, context)
    if rules.mode is Mode.CREATE_ONCE and present is not None and context.written_before:
        return TargetPlan(left_alone=True)
    if planned.verdict is not None or planned.action is None:
        return planned
    planned = _fitted(planned, desired, present, rules)
    if planned.verdict is None and context.leaving:
        planned = _moved(planned, desired, rules, context)
    if planned.verdict is not None:
        return planned
    if rules.mode is Mode.PLAN and plan_status(planned.changes) not in (context.approved, context.released):
        return TargetPlan(changes=planned.changes, verdict=_planned(desired, planned.changes))
    return planned


def _plan_absent(desired: DesiredTarget, rules: WriteRules, context: PlanContext) -> TargetPlan:
    merge = rules.policy is CreationPolicy.MERGE
    own_identity = None if merge else refuse_identity(desired, None, rules, context)
    if own_identity is not None:
        return TargetPlan(verdict=own_identity)
    if not desired.keys:
        return TargetPlan(verdict=Verdict(TargetReason.NO_KEYS, context.no_keys))
    if merge:
        return TargetPlan(
            changes=KeyChanges(add=desired.keys),
            verdict=Verdict(
                TargetReason.MISSING,
                f"{desired.key.kind} {desired.key.name} doesn't exist and creationPolicy is Merge; "
                "create it, or use creationPolicy Owner",
                stalled=False,
            ),
        )
    return TargetPlan(action=CreateTarget(desired), changes=KeyChanges(add=desired.keys))


def _plan_owned(
    desired: DesiredTarget, present: PresentTarget, rules: WriteRules, context: PlanContext
) -> TargetPlan:
    identity = refuse_identity(desired, present, rules, context)
    if identity is not None:
        return TargetPlan(verdict=identity)
    if present.fingerprint == desired.fingerprint:
        return TargetPlan()
    foreign = refuse_foreign(desired, present, rules, context)
    if foreign is not None:
        ahead = foreign.is_planned_ahead
        changes = compare_keys(present.data, desired.data, set(present.data)) if ahead else KeyChanges()
        return TargetPlan(changes=changes, verdict=foreign)
    if is_as_planned(desired, present):
        return TargetPlan()
    changes = compare_keys(present.data, desired.data, set(present.data))
    guard = _guard(changes, desired, len(present.data), rules, context)
    if guard.holds_back:
        return TargetPlan(changes=changes, verdict=Verdict(TargetReason.GUARDED, guard.message))
    frozen = refused_change(desired, present)
    if frozen is not None and not rules.recreate:
        return TargetPlan(changes=changes, verdict=_immutable(desired, frozen))
    action: TargetAction
    if frozen is not None:
        action = RecreateTarget(desired, present.uid)
    elif (patch := replacement_patch(desired, present, always=rules.as_found)) is not None:
        action = ReplaceTarget(desired, present.uid, present.resource_version, patch)
    else:
        action = ApplyTarget(desired, present.uid)
    return TargetPlan(action=action, changes=changes, past=guard.past)


def _plan_merge(
    desired: DesiredTarget, present: PresentTarget, rules: WriteRules, context: PlanContext
) -> TargetPlan:
    owned = owned_by_rival(desired, present, rules, context)
    if owned is not None:
        return TargetPlan(verdict=owned)
    ours = present.merged_keys | (context.merged_keys & present.data.keys())
    if not desired.keys and not ours:
        return TargetPlan(verdict=Verdict(TargetReason.NO_KEYS, context.no_keys))
    changes = compare_keys(present.data, desired.data, ours)
    refused = refuse_merge(desired, present, rules, context, changes)
    guard = _guard(changes, desired, len(ours), rules, context)
    if refused is None and guard.holds_back:
        refused = Verdict(TargetReason.GUARDED, guard.message)
    if refused is not None:
        return TargetPlan(changes=changes, verdict=refused)
    if (
        not changes
        and present.merged_keys == set(desired.keys)
        and has_planned_metadata(desired, present, present.merged_metadata)
    ):
        return TargetPlan()
    if present.immutable and changes:
        return TargetPlan(
            changes=changes,
            verdict=Verdict(
                TargetReason.IMMUTABLE,
                f"{desired.key.kind} {desired.key.name} is immutable, so no key can be merged into it; "
                "choose another target.name",
            ),
        )
    action = MergeTarget(desired, present.uid, force=bool(changes.change))
    return TargetPlan(action=action, changes=changes, past=guard.past)


def _moved(
    planned: TargetPlan, desired: DesiredTarget, rules: WriteRules, context: PlanContext
) -> TargetPlan:
    """Return the plan, or what keeps it: a former target, which goes then, has keys that this one lacks."""
    lost = context.leaving.difference(desired.keys)
    if not lost:
        return planned
    changes = replace(planned.changes, remove=tuple(sorted(lost.union(planned.changes.remove))))
    guard = _guard(changes, desired, len(context.leaving.union(planned.changes.remove)), rules, context)
    if guard.holds_back:
        return TargetPlan(changes=changes, verdict=Verdict(TargetReason.GUARDED, guard.message))
    return replace(planned, changes=changes, past=guard.past)


def _guard(
    changes: KeyChanges, desired: DesiredTarget, before: int, rules: WriteRules, context: PlanContext
) -> GuardVerdict:
    if rules.guard is None or not changes.remove:
        return GuardVerdict(holds_back=False)
    verdict = judge_removals(
        changes.remove,
        before,
        rules.guard,
        past=context.past,
        there=desired.keys,
        released=plan_status(changes) == context.released,
        now=context.now,
        words=GuardWords(f"keys would be removed ({some_of(changes.remove)})", "nothing was written"),
    )
    return replace(verdict, past=None) if verdict.past and context.is_unchanged else verdict


def _immutable(desired: DesiredTarget, frozen: str) -> Verdict:
    return Verdict(
        TargetReason.IMMUTABLE,
        f"{desired.key.kind} {desired.key.name} {frozen}; set target.recreate to let it be deleted and "
        "created anew",
    )


def _fitted(
    planned: TargetPlan, desired: DesiredTarget, present: PresentTarget | None, rules: WriteRules
) -> TargetPlan:
    """Return the plan, or one that the API server's store has room for, or why there is none."""
    merges = isinstance(planned.action, MergeTarget)
    data = merged_data(desired, present, planned.changes.remove) if merges and present else desired.data
    values = values_bytes(data)
    if values > VALUES_MAX_BYTES:
        what = f"the values of {desired.key.kind} {desired.key.name} would take {values} bytes together"
        return _too_large(planned, f"{what}, of which Kubernetes takes {VALUES_MAX_BYTES}", rules)
    size = content_bytes(desired, data)
    if present is not None and isinstance(planned.action, ApplyTarget | MergeTarget):
        managed = managed_bytes(desired, present)
        if merges:
            size += managed
        elif size <= STORED_MAX_BYTES < size + managed:
            # A patch is stored without its field managers where these have no room, and an apply is refused.
            patch = replacement_patch(desired, present, always=True) or {}
            action = ReplaceTarget(desired, present.uid, present.resource_version, patch)
            return replace(planned, action=action)
    if size <= STORED_MAX_BYTES:
        return planned
    also = ", names of keys counted once more for each field manager" if merges else ""
    what = f"{desired.key.kind} {desired.key.name} would take about {size} bytes{also}"
    return _too_large(planned, f"{what}, of which Kubernetes stores {STORED_MAX_BYTES}", rules)


def _too_large(planned: TargetPlan, what: str, rules: WriteRules) -> TargetPlan:
    verdict = Verdict(TargetReason.TOO_LARGE, f"{what}; {rules.words.smaller}")
    return TargetPlan(changes=planned.changes, verdict=verdict)


def _planned(desired: DesiredTarget, changes: KeyChanges) -> Verdict:
    count = len(changes.add) + len(changes.change) + len(changes.remove)
    return Verdict(
        TargetReason.PLANNED,
        f"mode is Plan: {count} keys of {desired.key.kind} {desired.key.name} would change, see status.plan; "
        f"approve with {how_to_ask(APPROVE_PLAN)}, or set mode to Apply",
        stalled=False,
    )
