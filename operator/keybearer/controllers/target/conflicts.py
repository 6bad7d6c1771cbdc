"""Whose the target is: what stands against writing what others made, own or merge. Pure."""

from __future__ import annotations

from keybearer.controllers.target.changes import KeyChanges, foreign_metadata, some_of
from keybearer.controllers.target.decisions import PlanContext, Verdict
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.spec import Target
from keybearer.controllers.work import WorkKey

__all__ = ["owned_by_rival", "refuse_foreign", "refuse_merge"]


def refuse_merge(
    desired: DesiredTarget,
    present: PresentTarget,
    target: Target,
    context: PlanContext,
    changes: KeyChanges,
) -> Verdict | None:
    """Return what stands against a merge: whose the keys, labels and annotations are that it would change."""
    taken = foreign_metadata(desired, present)
    # A key that we wrote and another merge has taken since is that one's: taking it back would never end.
    not_ours = [name for name in changes.change if name not in present.merged_keys]
    rival = _merged_by_rival(desired, present, context, [*not_ours, *taken])
    if rival is not None or target.adopt:
        return rival
    foreign = [name for name in not_ours if name not in context.merged_keys]
    if foreign:
        return Verdict(
            TargetReason.CONFLICT,
            f"{desired.key.kind} {desired.key.name} has other values under {some_of(foreign)}, which this "
            "object did not write; rename the keys, or set target.adopt to take them over",
        )
    if taken:
        return Verdict(
            TargetReason.CONFLICT,
            f"{desired.key.kind} {desired.key.name} has other values of {some_of(taken)}, which this object did "
            "not write; leave them out of target.labels and target.annotations, or set target.adopt",
        )
    return None


def refuse_foreign(
    desired: DesiredTarget, present: PresentTarget, target: Target, context: PlanContext
) -> Verdict | None:
    """Return what stands against writing the whole of an object that this owner doesn't own."""
    what = f"{desired.key.kind} {desired.key.name}"
    controller = present.foreign_controller(context.owner_uid)
    if controller is not None:
        return Verdict(
            TargetReason.CONFLICT,
            f"{what} is controlled by {controller}; choose another target.name, or remove that controller",
        )
    rival = owned_by_rival(desired, present, context) or _merged_by_rival(desired, present, context, None)
    if rival is not None:
        return rival
    if target.adopt:
        return _refuse_another_type(desired, present, context)
    return Verdict(
        TargetReason.CONFLICT,
        f"{what} exists and was not written by this object; choose another target.name, delete it, set "
        "target.adopt to take it over, or use creationPolicy Merge to add keys to it",
    )


def _refuse_another_type(
    desired: DesiredTarget, present: PresentTarget, context: PlanContext
) -> Verdict | None:
    """Return what stands against taking over what serves something else: a token, a release, a certificate, say.

    A type can't be changed, so that it would have to be deleted, which is for whoever made it to do. `recreate` is
    about what is already ours.
    """
    wanted_type = desired.body.get("type")
    is_ours = context.owner_uid in present.owners
    if is_ours or not isinstance(wanted_type, str) or wanted_type == present.type:
        return None
    return Verdict(
        TargetReason.CONFLICT,
        f"{desired.key.kind} {desired.key.name} was not written by this object and is of type {present.type}, where "
        f"{wanted_type} is wanted: only what is of the same type can be taken over, and what others made is never "
        f"deleted, target.recreate or not. Choose another target.name, or target.type {present.type}; or delete it "
        "yourself, if nothing needs it",
    )


def owned_by_rival(desired: DesiredTarget, present: PresentTarget, context: PlanContext) -> Verdict | None:
    """Return what stands against touching a target that belongs to another living custom resource."""
    owners = [rival for uid, rival in context.rivals.items() if uid in present.owners]
    if not owners:
        return None
    owner = min(owners, key=_name_first)
    return Verdict(
        TargetReason.CONFLICT,
        f"{desired.key.kind} {desired.key.name} belongs to {owner.kind} {owner.name}; choose another target.name, "
        f"or delete {owner.name}",
    )


def _merged_by_rival(
    desired: DesiredTarget, present: PresentTarget, context: PlanContext, wanted: list[str] | None
) -> Verdict | None:
    """Return what stands against taking these keys, labels and annotations (None: all) from other merges."""
    for uid, rival in sorted(context.rivals.items(), key=lambda one: _name_first(one[1])):
        merged = present.merges.get(uid, frozenset())
        taken = sorted(merged if wanted is None else merged.intersection(wanted))
        if taken:
            return Verdict(
                TargetReason.CONFLICT,
                f"{rival.kind} {rival.name} merges {some_of(taken)} into {desired.key.kind} {desired.key.name}; "
                f"choose other keys or another target.name, or take them from {rival.name}",
            )
    return None


def _name_first(rival: WorkKey) -> tuple[str, str]:
    return rival.name, rival.kind
