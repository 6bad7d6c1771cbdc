"""Whose the target is: what stands against writing what others made, own or merge. Pure."""

from __future__ import annotations

import json
import re
import shlex

from keybearer.controllers.identity import IDENTITY_KEYS, is_whole
from keybearer.controllers.mode import Mode
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.target.changes import KeyChanges, foreign_metadata, some_of
from keybearer.controllers.target.decisions import IdentityUse, PlanContext, Verdict
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.spec import TargetWords, WriteRules
from keybearer.controllers.work import WorkKey

__all__ = ["owned_by_rival", "refuse_foreign", "refuse_identity", "refuse_merge", "refused_change"]

_NAMES_OF_IDENTITIES = "-o custom-columns=KIND:.kind,NAME:.metadata.name,IDENTITY:.spec.identityRef.name"
_KIND_AND_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]* [a-z0-9][-.a-z0-9]*")


def refuse_merge(
    desired: DesiredTarget,
    present: PresentTarget,
    rules: WriteRules,
    context: PlanContext,
    changes: KeyChanges,
) -> Verdict | None:
    """Return what stands against a merge: whose the keys, labels and annotations are that it would change."""
    taken = foreign_metadata(desired, present)
    # A key that we wrote and another merge has taken since is that one's: taking it back would never end.
    not_ours = [name for name in changes.change if name not in present.merged_keys]
    rival = _merged_by_rival(desired, present, rules, context, [*not_ours, *taken])
    if rival is not None:
        return rival
    foreign = [name for name in not_ours if name not in context.merged_keys]
    # A key that is added to whole credentials, such as an address, changes the login, too.
    added = (
        [name for name in changes.add if name not in context.merged_keys] if is_whole(present.data) else []
    )
    credentials = sorted(IDENTITY_KEYS.intersection([*foreign, *added]))
    if credentials and context.identity_use is not None:
        return _takes_identity(desired, rules, context.identity_use, credentials, ways="rename the keys, or ")
    if rules.adopt:
        return None
    if foreign:
        return _conflict(
            f"{desired.key.kind} {desired.key.name} has other values under {some_of(foreign)}, which this "
            "object did not write",
            "rename the keys, or set target.adopt to take them over",
            rules.words,
            _who_wrote(desired),
        )
    if taken:
        return _conflict(
            f"{desired.key.kind} {desired.key.name} has other values of {some_of(taken)}, which this object did "
            "not write",
            "leave them out of target.labels and target.annotations, or set target.adopt",
            rules.words,
            _who_wrote(desired),
        )
    return None


def refuse_identity(
    desired: DesiredTarget, present: PresentTarget | None, rules: WriteRules, context: PlanContext
) -> Verdict | None:
    """Return what stands against writing the whole of a Secret by which a custom resource logs in to the service.

    An object may write the credentials of another one, or take them over where they stay as they are. Its own it may
    not: if that broke them, the operator could not log in to repair them.
    """
    use = context.identity_use
    if use is None:
        return None
    there = {} if present is None else present.data
    judged = there.keys() | desired.data.keys() if is_whole(there) else there.keys()
    changed = [name for name in sorted(IDENTITY_KEYS & judged) if desired.data.get(name) != there.get(name)]
    is_ours = present is None or present.owner_uid == context.owner_uid
    if not use.is_own and (is_ours or not changed):
        return None
    return _takes_identity(desired, rules, use, changed)


def _takes_identity(
    desired: DesiredTarget, rules: WriteRules, use: IdentityUse, keys: list[str], *, ways: str = ""
) -> Verdict:
    key, words, user = desired.key, rules.words, f"{use.user.kind} {use.user.name}"
    what = some_of(keys) or "credentials"
    whose, also = ("this object", "") if use.is_own else (user, f", or another identity Secret for {user}")
    return _conflict(
        f"{key.kind} {key.name} is the identity Secret of {whose} (spec.identityRef); its {what} would change",
        f"{ways}choose another {words.name}{also}",
        words,
        f"kubectl -n {key.namespace} get keybearer {_NAMES_OF_IDENTITIES}",
    )


def refuse_foreign(
    desired: DesiredTarget, present: PresentTarget, rules: WriteRules, context: PlanContext
) -> Verdict | None:
    """Return what stands against writing the whole of an object: whose it is; None where it is this owner's.

    Of what is desired, the key counts, and what can't be changed: type, and data that is immutable.
    """
    controller = present.foreign_controller(context.owner_uid)
    if controller is None and present.owner_uid == context.owner_uid:
        return None
    what, words = f"{desired.key.kind} {desired.key.name}", rules.words
    rival = owned_by_rival(desired, present, rules, context)
    rival = rival or _merged_by_rival(desired, present, rules, context, None)
    if rival is not None:
        return rival
    if controller is not None:
        # It writes the object again and again: adopt can't help.
        return _owned_elsewhere(f"{what} is controlled by {controller}", controller, desired, present, rules)
    owner = None if context.owner_uid in present.owners else present.owner_of_another_kind()
    if owner is not None:
        return _owned_elsewhere(f"{what} belongs to {owner}", owner, desired, present, rules)
    if rules.adopt:
        return _refuse_recreation(desired, present, rules, context)
    ways = f", or {words.take_over}" if words.take_over else ""
    return _conflict(
        f"{what} exists and was not written by this object",
        f"choose another {words.name}{ways}; delete it only if nothing reads it",
        words,
        _who_wrote(desired),
    )


def _conflict(cause: str, step: str, words: TargetWords, command: str) -> Verdict:
    remedy = Remedy(f"{step[0].upper()}{step[1:]}.", command, about=words.field)
    return Verdict(TargetReason.CONFLICT, f"{cause}; {step}", remedy=remedy)


def _who_wrote(desired: DesiredTarget) -> str:
    """Return the command that shows who wrote the object, and nothing of what it holds."""
    key = desired.key
    managers = "-o jsonpath='{.metadata.managedFields[*].manager}'"
    return f"kubectl -n {key.namespace} get {key.kind.lower()} {key.name} --show-managed-fields {managers}"


def _freeing(owner: str, desired: DesiredTarget, present: PresentTarget) -> str:
    """Return the command that removes an ownerReference, given kind and name of the owner.

    The API server takes any text for these in an ownerReference, and people paste commands. For a text that is no
    kind and name, it is the command that shows who wrote the object.
    """
    if _KIND_AND_NAME.fullmatch(owner) is None:
        return _who_wrote(desired)
    key = desired.key
    patch = json.dumps(present.release_patch(owner), separators=(",", ":"))
    return (
        f"kubectl -n {key.namespace} patch {key.kind.lower()} {key.name} --type=json -p {shlex.quote(patch)}"
    )


def _owned_elsewhere(
    cause: str, owner: str, desired: DesiredTarget, present: PresentTarget, rules: WriteRules
) -> Verdict:
    """Return the conflict with an owner that no custom resource of ours is, and how the object is freed from it.

    Not by the owner's deletion: Kubernetes would delete what it owns.
    """
    key, words = desired.key, rules.words
    step = (
        f"choose another {words.name}; or stop whatever works for {owner}, then free the {key.kind} from it"
    )
    if words.take_over and not rules.adopt:
        step += f", and {words.take_over}"
    # Names of keys that others made are told where a person wants to take them over, and could.
    ahead = rules.mode is Mode.PLAN and rules.adopt and refused_change(desired, present) is None
    shown = "status.plan shows what changes once it is free; " if ahead else ""
    warning = f"don't delete {owner} before that, because Kubernetes then deletes the {key.kind} too"
    command = _freeing(owner, desired, present)
    remedy = Remedy(
        f"{step[0].upper()}{step[1:]}. {warning[0].upper()}{warning[1:]}.", command, about=words.field
    )
    message = f"{cause}; {shown}{step}; {warning}"
    return Verdict(TargetReason.CONFLICT, message, remedy=remedy, is_planned_ahead=ahead)


def refused_change(desired: DesiredTarget, present: PresentTarget) -> str | None:
    """Return what of the change Kubernetes refuses, as the end of a sentence about the target; None: nothing."""
    wanted_type = desired.body.get("type")
    if isinstance(wanted_type, str) and wanted_type != present.type:
        return f"is of type {present.type}, where {wanted_type} is wanted"
    thaws = present.immutable and desired.body.get("immutable") is not True
    if present.immutable and (thaws or present.data != desired.data):
        return "is immutable, and its data should change"
    return None


def _refuse_recreation(
    desired: DesiredTarget, present: PresentTarget, rules: WriteRules, context: PlanContext
) -> Verdict | None:
    """Return what stands against taking over what serves something else: a token, a release, a certificate, say.

    What Kubernetes can't change would have to be deleted, which is for whoever made it to do. `recreate` is about
    what is already ours.
    """
    frozen = None if context.owner_uid in present.owners else refused_change(desired, present)
    if frozen is None:
        return None
    wanted_type = desired.body.get("type")
    is_typed = isinstance(wanted_type, str) and wanted_type != present.type
    another_type = rules.words.another_type.format(present.type) if is_typed else ""
    return Verdict(
        TargetReason.CONFLICT,
        f"{desired.key.kind} {desired.key.name} was not written by this object and {frozen}: it can't be taken "
        "over, for what others made is never deleted, whatever the spec says. Choose another "
        f"{rules.words.name}{another_type}; or delete it yourself, if nothing needs it",
        remedy=Remedy(
            f"Choose another {rules.words.name}{another_type}, or delete the {desired.key.kind} if nothing needs it.",
            _who_wrote(desired),
            about=rules.words.field,
        ),
    )


def owned_by_rival(
    desired: DesiredTarget, present: PresentTarget, rules: WriteRules, context: PlanContext
) -> Verdict | None:
    """Return what stands against touching a target that belongs to another living custom resource."""
    owners = [rival for uid, rival in context.rivals.items() if uid in present.owners]
    if not owners:
        return None
    owner = min(owners, key=_name_first)
    return _conflict(
        f"{desired.key.kind} {desired.key.name} belongs to {owner.kind} {owner.name}",
        f"choose another {rules.words.name}, or delete {owner.kind} {owner.name}",
        rules.words,
        f"kubectl -n {owner.namespace} get {owner.kind.lower()} {owner.name}",
    )


def _merged_by_rival(
    desired: DesiredTarget,
    present: PresentTarget,
    rules: WriteRules,
    context: PlanContext,
    wanted: list[str] | None,
) -> Verdict | None:
    """Return what stands against taking these keys, labels and annotations (None: all) from other merges."""
    for uid, rival in sorted(context.rivals.items(), key=lambda one: _name_first(one[1])):
        merged = present.merges.get(uid, frozenset())
        taken = sorted(merged if wanted is None else merged.intersection(wanted))
        if taken:
            return _conflict(
                f"{rival.kind} {rival.name} merges {some_of(taken)} into {desired.key.kind} {desired.key.name}",
                f"choose other keys or another {rules.words.name}, or take them from {rival.name}",
                rules.words,
                f"kubectl -n {rival.namespace} get {rival.kind.lower()} {rival.name}",
            )
    return None


def _name_first(rival: WorkKey) -> tuple[str, str]:
    return rival.name, rival.kind
