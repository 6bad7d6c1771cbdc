"""What a status says of a target: what was written, and what would be. Names of keys only, never values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import ResourceModel
from keybearer.controllers.fingerprint import is_same_content
from keybearer.controllers.resource_fields import Instant
from keybearer.controllers.target.guard import REMOVAL_NAMES_MAX, REMOVALS_MAX, Removal
from keybearer.controllers.target.spec import TargetKind, WorkloadKind

__all__ = [
    "PLAN_NAMES_MAX",
    "WORKLOADS_MAX",
    "PastRemoval",
    "PlanStatus",
    "TargetName",
    "TargetStatus",
    "WorkloadStatus",
    "WorkloadStatuses",
    "removals_of",
    "told_removals",
]

PLAN_NAMES_MAX = 200
"""Names that each list of `status.plan` holds; `omitted` counts the rest."""
WORKLOADS_MAX = 64
"""Workloads that `status.workloads` lists, and that are looked for: the first that the spec names."""

_KeyName = Annotated[str, Field(max_length=512)]
_PlanNames = Annotated[tuple[_KeyName, ...], Field(strict=False, max_length=PLAN_NAMES_MAX)]


class PastRemoval(ResourceModel):
    """A change that removed keys of a target or names at a destination, and that the guard let pass."""

    at: Annotated[Instant, Field(description="When it was made.")]
    of: Annotated[int, Field(ge=0, description="How many names there were before it.")]
    names: Annotated[
        tuple[_KeyName, ...],
        Field(strict=False, max_length=REMOVAL_NAMES_MAX, description="Those that went."),
    ]
    omitted: Annotated[int, Field(ge=0, description="How many more went.")] = 0


class TargetStatus(ResourceModel):
    """The last write."""

    kind: Annotated[TargetKind, Field(strict=False, description="Secret or ConfigMap.")]
    name: Annotated[str, Field(max_length=253, description="Its name.")]
    keys: Annotated[int, Field(ge=0, description="Number of its keys that this object writes.")] = 0
    fingerprint: Annotated[
        str | None,
        Field(
            max_length=128,
            description="Keyed HMAC of the data: equal for equal data, and useless for guessing it.",
        ),
    ] = None
    removals: Annotated[
        tuple[PastRemoval, ...] | None,
        Field(
            strict=False,
            max_length=REMOVALS_MAX,
            description="Keys removed within guard.window. A release sets it back.",
        ),
    ] = None

    def holds(self, data_fingerprint: str) -> bool | None:
        """Tell whether it tells of the data of this fingerprint; None where that can't be known."""
        return None if self.fingerprint is None else is_same_content(self.fingerprint, data_fingerprint)


class WorkloadStatus(ResourceModel):
    """A workload of rolloutRestart."""

    kind: Annotated[WorkloadKind, Field(strict=False, description="Deployment, StatefulSet or DaemonSet.")]
    name: Annotated[str, Field(max_length=253, description="Its name.")]
    missing_since: Annotated[
        Instant | None,
        Field(description="Time since which it doesn't exist; absent if it exists."),
    ] = None
    due_since: Annotated[
        Instant | None,
        Field(
            description=(
                "Time of the change for which it must still be restarted. If it doesn't exist, the workload "
                "that the spec names in its place is restarted for that change, unless it is newer."
            )
        ),
    ] = None
    last_restart_time: Annotated[Instant | None, Field(description="Time of its last restart.")] = None


WorkloadStatuses = Annotated[
    tuple[WorkloadStatus, ...],
    Field(
        strict=False,
        max_length=WORKLOADS_MAX,
        description="Workloads of rolloutRestart: which don't exist, and when each was restarted.",
        json_schema_extra={
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["kind", "name"],
        },
    ),
]


class TargetName(ResourceModel):
    """A Secret or ConfigMap in the namespace of the SecretSync."""

    kind: Annotated[TargetKind, Field(strict=False, description="Secret or ConfigMap.")]
    name: Annotated[str, Field(max_length=253, description="Its name.")]


class PlanStatus(ResourceModel):
    """What `mode: Plan` or the guard holds back; key names only."""

    add: Annotated[_PlanNames, Field(description="Keys that would be added.")] = ()
    change: Annotated[_PlanNames, Field(description="Keys whose value would change.")] = ()
    remove: Annotated[_PlanNames, Field(description="Keys that would be removed.")] = ()
    omitted: Annotated[int, Field(ge=0, description="Number of names that don't fit into the lists.")] = 0


def removals_of(told: Sequence[PastRemoval] | None) -> tuple[Removal, ...]:
    """Return the removals that a status tells of."""
    return tuple(Removal(one.at, one.of, one.names, one.omitted) for one in told or ())


def told_removals(past: Sequence[Removal]) -> tuple[PastRemoval, ...] | None:
    """Return these removals as a status tells of them; None: there are none."""
    return (
        tuple(PastRemoval(at=one.at, of=one.of, names=one.names, omitted=one.omitted) for one in past) or None
    )
