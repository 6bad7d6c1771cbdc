"""What the operator would do about a SecretSync, as far as the cluster alone can tell. Pure; shows no value."""

from __future__ import annotations

from collections.abc import Iterator

from keybearer.cli.kubectl.foresight import Foresight
from keybearer.cli.kubectl.steps import Action, Step
from keybearer.controllers.json_reading import mapping_of, text_of
from keybearer.controllers.mode import Mode
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.target.spec import CreationPolicy

__all__ = ["foresee_sync"]


def foresee_sync(known: Foresight, spec: SecretSyncSpec) -> Iterator[Step]:
    """Yield what the operator would do about a SecretSync of that spec."""
    held = known.held_back(spec.mode, "which keys")
    if held is not None:
        yield held
        return
    if spec.writes_target:
        yield from _of_target(known, spec)
    if spec.destination is not None:
        when = "at once" if spec.is_auto_sync_enabled else "on request"
        yield Step(f"destination {spec.destination}", Action.PUSH, f"the service pushes the folder, {when}")


def _of_target(known: Foresight, spec: SecretSyncSpec) -> Iterator[Step]:
    kind, name = spec.target.kind.value, spec.target_name(known.name)
    subject = f"{kind} {known.namespace}/{name}"
    merges = spec.target.creation_policy is CreationPolicy.MERGE
    if (kind, name) in known.around.unknown:
        yield Step(subject, Action.WAIT, "you may not look whether it is there")
    elif (kind, name) not in known.around.owners:
        told = "TargetMissing: creationPolicy Merge needs one that exists"
        yield Step(subject, Action.REFUSE, told) if merges else Step(subject, Action.CREATE)
    else:
        owner = known.around.owners[kind, name]
        is_ours = bool(owner) and owner == known.uid
        if is_ours and spec.mode is Mode.CREATE_ONCE:
            yield Step(subject, Action.KEEP, "mode is CreateOnce, and it is there")
        elif is_ours or merges:
            told = "which keys only the operator can tell: set mode: Plan to see them before"
            yield Step(subject, Action.CHANGE, told)
        elif spec.target.adopt and not owner:
            yield Step(subject, Action.CHANGE, "it is taken over: adopt is set")
        else:
            whose = "another object of ours" if owner else "somebody else"
            yield Step(subject, Action.REFUSE, f"TargetConflict: it exists and belongs to {whose}")
    yield from _of_old_target(known, kind, name)


def _of_old_target(known: Foresight, kind: str, name: str) -> Iterator[Step]:
    written = mapping_of(mapping_of((known.before or {}).get("status")).get("target"))
    old = (text_of(written.get("kind")), text_of(written.get("name")))
    if all(old) and old != (kind, name):
        told = "once the other is written, what is ours of it goes"
        yield Step(f"{old[0]} {known.namespace}/{old[1]}", Action.REMOVE, told)
