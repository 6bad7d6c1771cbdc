"""What would be done, step by step: as the operator has planned it in a status. Pure; names of keys, never values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from keybearer.base.json_reading import mapping_of
from keybearer.cli.kubectl.standing import condition_of, conditions_of

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = ["Action", "Plan", "Step", "planned"]


_HELD_BACK = frozenset({"Guarded", "Planned", "PolicyViolated", "Suspended"})
"""Reasons of objects that are not Ready because a person asked for it or must decide: their plan is complete."""
_CONFLICT = "TargetConflict"
"""Another owner has the target; in `mode: Plan` there is a plan for when it lets go."""


class Action(StrEnum):
    """What would be done."""

    CREATE = "create"
    ADD = "add"
    CHANGE = "change"
    REMOVE = "remove"
    ISSUE = "issue"
    RESTORE = "restore"
    PUSH = "push"
    PLAN = "plan"
    WAIT = "wait"
    KEEP = "keep"
    CONFLICT = "conflict"
    """Fields that another field manager owns."""
    REFUSE = "refuse"
    """Nothing, for something stands against it: the detail says what."""

    @property
    def changes_something(self) -> bool:
        """Whether something would be another afterwards."""
        return self not in (Action.KEEP, Action.WAIT, Action.PLAN, Action.CONFLICT)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that would be done.

    Attributes:
        subject: to what: an object, or a part of one.
        detail: which key, why, or what stands against it.
    """

    subject: str
    action: Action
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the operator would do about an object.

    Attributes:
        told: a sentence on what kind of plan it is.
        next_step: how it is carried out, or had; may be empty.
        has_failed: whether the operator could not look, so that the steps are not all that there is to do.
    """

    steps: list[Step]
    told: str
    next_step: str = ""
    has_failed: bool = False


def planned(body: Mapping[str, JsonValue]) -> Plan:
    """Return what the status of a SecretSync or CertificateProfile says would be done.

    Args:
        body: the object as the API server shows it.
    """
    meta, spec, status = (
        mapping_of(body.get("metadata")),
        mapping_of(body.get("spec")),
        mapping_of(body.get("status")),
    )
    kind, name, namespace = str(body.get("kind")), str(meta.get("name")), str(meta.get("namespace"))
    where = f"-n {namespace} {kind.lower()}/{name}"
    mode = str(spec.get("mode") or "Apply")
    is_profile = kind == "CertificateProfile"
    steps = list(_of_certificates(status) if is_profile else _of_keys(namespace, name, spec, status))
    whose = f"{kind} {namespace}/{name}"
    if status.get("observedGeneration") != meta.get("generation"):
        old = "; what follows is of an earlier one" if steps else ""
        return Plan(
            steps,
            f"{whose}: the operator hasn't looked at the newest spec yet{old}.",
            f"kubectl keybearer sync {where} --wait has it look now.",
        )
    ready = condition_of(status, "Ready")
    if ready.get("status") == "False" and ready.get("reason") not in _HELD_BACK:
        return _not_ready(steps, whose, where, status, ready)
    if not steps and mode != "Plan":
        return Plan(
            [],
            f"{whose}: nothing is held back. Its mode is {mode}: what is to be done is done at once.",
            "To see it first, set spec.mode to Plan; plan -f PATH says what a manifest would change.",
        )
    if mode == "Plan" and not _is_guarded(status):
        approve = "set spec.mode to Apply"
        if not is_profile:
            approve = f"kubectl keybearer sync {where} --request approve-plan --wait, or {approve}"
        if not any(step.action.changes_something for step in steps):
            return Plan(steps, f"{whose}: mode is Plan, and there is nothing to do.")
        refused = {step.subject for step in steps if step.action is Action.REFUSE}
        if refused:
            rest = any(step.action.changes_something and step.subject not in refused for step in steps)
            return _partly_refused(steps, whose, approve if rest else "")
        return Plan(steps, f"{whose}: mode is Plan. This would be done:", f"To carry it out: {approve}.")
    release = f"kubectl keybearer sync {where} --request release-guard --wait"
    return Plan(steps, f"{whose}: the guard holds this back:", f"To let it pass this once: {release}.")


def _not_ready(
    steps: list[Step],
    whose: str,
    where: str,
    status: Mapping[str, JsonValue],
    ready: Mapping[str, JsonValue],
) -> Plan:
    """Return a plan that something stands against, and what to do about that."""
    reason, message = ready.get("reason"), ready.get("message")
    next_step = _next_step(status) or f"kubectl keybearer explain {where} says what to do."
    if reason == _CONFLICT and isinstance(status.get("plan"), dict):
        then = "this would be done:" if steps else "no key would change."
        return Plan(steps, f"{whose}: {message}. Once that is settled, {then}", next_step)
    planned_before = "; what follows was planned before" if steps else ""
    told = f"{whose} is not Ready ({reason}): {message}{planned_before}."
    return Plan(steps, told, next_step, has_failed=True)


def _next_step(status: Mapping[str, JsonValue]) -> str:
    diagnosis = mapping_of(status.get("diagnosis"))
    return " ".join(str(diagnosis[part]) for part in ("step", "command") if diagnosis.get(part))


def _is_guarded(status: Mapping[str, JsonValue]) -> bool:
    return any(one.get("reason") == "Guarded" for one in conditions_of(status))


def _partly_refused(steps: list[Step], whose: str, approve: str) -> Plan:
    """Return a plan that something stands against; `approve` carries out the rest, and is empty where none is."""
    mend = "Correct in the spec what is refused, or have the policy allow it; until then it isn't issued."
    if not approve:
        return Plan(steps, f"{whose}: mode is Plan, and all that there is to do is refused:", mend)
    return Plan(
        steps,
        f"{whose}: mode is Plan. This would be done but for what is refused:",
        f"{mend} The rest: {approve}.",
    )


def _of_keys(
    namespace: str, name: str, spec: Mapping[str, JsonValue], status: Mapping[str, JsonValue]
) -> Iterator[Step]:
    target = mapping_of(spec.get("target"))
    subject = f"{target.get('kind') or 'Secret'} {namespace}/{target.get('name') or name}"
    if "destination" in spec and not target:
        subject = f"destination {spec['destination']}"
    plan = mapping_of(status.get("plan"))
    for action in (Action.REMOVE, Action.CHANGE, Action.ADD):
        keys = plan.get(action.value)
        for key in keys if isinstance(keys, list) else ():
            yield Step(subject, action, str(key))
    omitted = plan.get("omitted")
    if isinstance(omitted, int) and omitted:
        yield Step(subject, Action.CHANGE, f"and {omitted} keys more, which the status has no room for")


def _of_certificates(status: Mapping[str, JsonValue]) -> Iterator[Step]:
    plan = status.get("plan")
    for one in plan if isinstance(plan, list) else ():
        if not isinstance(one, dict):
            continue
        subject = f"certificate {one.get('name')}"
        violations = one.get("violations")
        against = "; ".join(map(str, violations)) if isinstance(violations, list) else ""
        word = str(one.get("action")).lower()
        action = Action(word) if word in set(Action) else Action.WAIT
        yield Step(subject, action, str(one.get("need") or ""))
        if against:
            yield Step(subject, Action.REFUSE, against)
