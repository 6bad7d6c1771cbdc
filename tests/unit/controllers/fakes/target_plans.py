"""What is planned for one target, and the data that it has now and otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.target.decisions import PlanContext, ReplaceTarget, TargetPlan
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.plan import plan_target
from keybearer.controllers.target.reasons import TargetReason
from unit.controllers.fakes.targets import AT, UID, desired

__all__ = ["LESS", "NOW", "ONE", "OTHER", "patched_metadata", "plan", "verdict_of"]

NOW = {"A": "cnry-a", "B": "cnry-b", "C": "cnry-c", "D": "cnry-d"}
LESS = {"A": "cnry-a", "B": "cnry-b", "C": "cnry-c"}
ONE = {"A": "cnry-a"}
OTHER = {"A": "cnry-changed", "B": "cnry-b", "C": "cnry-c", "D": "cnry-d"}
_WRITTEN = PlanContext(UID, "no keys", AT, written_before=True)


def plan(
    spec: SecretSyncSpec,
    data: Mapping[str, str | bytes],
    now: PresentTarget | None,
    context: PlanContext = _WRITTEN,
) -> TargetPlan:
    return plan_target(desired(spec, data), now, spec.write_rules, context)


def verdict_of(planned: TargetPlan) -> tuple[TargetReason, bool]:
    assert planned.action is None
    assert planned.verdict is not None, planned
    return planned.verdict.reason, planned.verdict.stalled


def patched_metadata(planned: TargetPlan) -> dict[str, Any]:
    assert isinstance(planned.action, ReplaceTarget)
    metadata: Any = planned.action.patch["metadata"]
    assert isinstance(metadata, dict)
    return metadata
