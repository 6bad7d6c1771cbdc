"""What of a SecretSync is known before it is judged: its targets, and the identity that cleans up after it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.objects import TargetKey, named_identity
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.work import WorkKey

__all__ = ["identity_of", "noted_targets", "targets_of"]


def targets_of(spec: JsonValue, owner: WorkKey) -> tuple[TargetKey, ...]:
    """Return what a spec says is written, judged or not; nothing where it names a destination and no target."""
    if isinstance(spec, Mapping) and spec.get("destination") and spec.get("target") is None:
        return ()
    target = mapping_of(mapping_of(spec).get("target"))
    kind, name = text_of(target.get("kind")) or "Secret", text_of(target.get("name")) or owner.name
    return (TargetKey(kind, owner.namespace, name),)


def identity_of(body: Mapping[str, JsonValue]) -> str:
    """Return the identity Secret that cleans up in the service; nothing where the SecretSync only reads there."""
    is_there = "sync" in mapping_of(body.get("status"))
    if is_there or "destination" in mapping_of(body.get("spec")):
        return named_identity(body)
    return ""


def noted_targets(status: SecretSyncStatus, namespace: str) -> tuple[TargetKey, ...]:
    """Return what was written, then what it was to be replaced by; none before the first sync."""
    named = (status.target, status.moving_to)
    return tuple(TargetKey(one.kind.value, namespace, one.name) for one in named if one is not None)
