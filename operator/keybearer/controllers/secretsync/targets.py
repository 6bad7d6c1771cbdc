"""Which targets a SecretSync has: those that its spec names, and those that its status says were written."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from keybearer.controllers.json_reading import mapping_of, text_of
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.work import WorkKey

__all__ = ["noted_targets", "targets_of"]


def targets_of(spec: JsonValue, owner: WorkKey) -> tuple[TargetKey, ...]:
    """Return what a spec says is written, judged or not; nothing where it names a destination and no target."""
    if isinstance(spec, Mapping) and spec.get("destination") and spec.get("target") is None:
        return ()
    target = mapping_of(mapping_of(spec).get("target"))
    kind, name = text_of(target.get("kind")) or "Secret", text_of(target.get("name")) or owner.name
    return (TargetKey(kind, owner.namespace, name),)


def noted_targets(status: SecretSyncStatus, namespace: str) -> tuple[TargetKey, ...]:
    """Return what was written, then what it was to be replaced by; none before the first sync."""
    named = (status.target, status.moving_to)
    return tuple(TargetKey(one.kind.value, namespace, one.name) for one in named if one is not None)
