"""What can be decided about a target, and what is known of the circumstances when it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from keybearer.controllers.remedy import Remedy
from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.guard import Removal
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.status import PlanStatus
from keybearer.controllers.work import WorkKey

__all__ = [
    "ApplyTarget",
    "CreateTarget",
    "IdentityUse",
    "MergeTarget",
    "PlanContext",
    "RecreateTarget",
    "ReplaceTarget",
    "TargetAction",
    "TargetPlan",
    "Verdict",
]


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
    """Why nothing is done although something should be.

    Attributes:
        remedy: what is to be done; None for what the kind says of the reason.
        is_planned_ahead: `mode: Plan` shows the changes that are made once another owner lets the target go.
    """

    reason: TargetReason
    message: str
    stalled: bool = True
    remedy: Remedy | None = None
    is_planned_ahead: bool = False


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """What to do, what it changes, and what stands against it."""

    action: TargetAction | None = None
    changes: KeyChanges = field(default_factory=KeyChanges)
    verdict: Verdict | None = None
    left_alone: bool = False
    """`mode: CreateOnce` has done its work: the target may be whatever it is by now."""
    past: tuple[Removal, ...] | None = None
    """Removals to remember, from before it is carried out; None: those that were remembered already."""

    @property
    def guarded(self) -> bool:
        """Tell whether the guard holds the change back."""
        return self.verdict is not None and self.verdict.reason is TargetReason.GUARDED


@dataclass(frozen=True, slots=True)
class IdentityUse:
    """Who logs in to the service by the Secret that the target is.

    Attributes:
        user: a custom resource that names it in `spec.identityRef`.
        is_own: it is the one whose target it is.
    """

    user: WorkKey
    is_own: bool


@dataclass(frozen=True, slots=True)
class PlanContext:
    """The circumstances of one plan.

    Attributes:
        owner_uid: UID of the custom resource whose target it is.
        no_keys: what the condition says where there is no key to write.
        now: the present instant.
        past: removals of keys that the guard let pass before, under whatever name.
        leaving: keys of a former target that goes once this one is written.
        merged_keys: keys that an earlier merge of ours wrote, as far as known.
        released: the change that the guard held and a person let through, this once, in every mode; another one is
            held again.
        approved: the plan that a person saw and approved, this once; another one is shown first.
        written_before: the target was written at least once.
        is_unchanged: what is desired is what was written last, so that only keys of others can go.
        rivals: by UID, other living custom resources that own the target or merged into it.
        identity_use: who logs in to the service by it.
    """

    owner_uid: str
    no_keys: str
    now: datetime
    past: tuple[Removal, ...] = ()
    leaving: frozenset[str] = frozenset()
    merged_keys: frozenset[str] = frozenset()
    released: PlanStatus | None = None
    approved: PlanStatus | None = None
    written_before: bool = False
    is_unchanged: bool = False
    rivals: Mapping[str, WorkKey] = field(default_factory=dict, repr=False)
    identity_use: IdentityUse | None = None
