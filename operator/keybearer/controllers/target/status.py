"""What a status says of a target: what was written, and what would be. Names of keys only, never values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import ResourceModel
from keybearer.controllers.fingerprint import is_same_content
from keybearer.controllers.resource_fields import Instant
from keybearer.controllers.target.guard import REMOVAL_NAMES_MAX, REMOVALS_MAX, Removal
from keybearer.controllers.target.spec import TargetKind

__all__ = [
    "PLAN_NAMES_MAX",
    "PastRemoval",
    "PlanStatus",
    "TargetName",
    "TargetStatus",
    "removals_of",
    "told_removals",
]

PLAN_NAMES_MAX = 200
"""Names that each list of `status.plan` holds; `omitted` counts the rest."""

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
    """What was written last."""

    kind: Annotated[TargetKind, Field(strict=False, description="Secret or ConfigMap.")]
    name: Annotated[str, Field(max_length=253, description="Its name.")]
    keys: Annotated[int, Field(ge=0, description="How many keys it holds of ours.")] = 0
    fingerprint: Annotated[
        str | None,
        Field(
            max_length=128,
            description="Keyed HMAC of the data: equal while the data is, and no help in guessing it.",
        ),
    ] = None
    removals: Annotated[
        tuple[PastRemoval, ...] | None,
        Field(
            strict=False,
            max_length=REMOVALS_MAX,
            description="Keys that went within guard.window; a release begins anew.",
        ),
    ] = None

    def holds(self, data_fingerprint: str) -> bool | None:
        """Tell whether it tells of the data of this fingerprint; None where that can't be known."""
        return None if self.fingerprint is None else is_same_content(self.fingerprint, data_fingerprint)


class TargetName(ResourceModel):
    """A Secret or ConfigMap in the namespace of the SecretSync."""

    kind: Annotated[TargetKind, Field(strict=False, description="Secret or ConfigMap.")]
    name: Annotated[str, Field(max_length=253, description="Its name.")]


class PlanStatus(ResourceModel):
    """What `mode: Plan` or the guard holds back; key names only."""

    add: Annotated[_PlanNames, Field(description="Keys that would be added.")] = ()
    change: Annotated[_PlanNames, Field(description="Keys whose value would change.")] = ()
    remove: Annotated[_PlanNames, Field(description="Keys that would be removed.")] = ()
    omitted: Annotated[int, Field(ge=0, description="Names that the lists have no room for.")] = 0


def removals_of(told: Sequence[PastRemoval] | None) -> tuple[Removal, ...]:
    """Return the removals that a status tells of."""
    return tuple(Removal(one.at, one.of, one.names, one.omitted) for one in told or ())


def told_removals(past: Sequence[Removal]) -> tuple[PastRemoval, ...] | None:
    """Return these removals as a status tells of them; None: there are none."""
    return (
        tuple(PastRemoval(at=one.at, of=one.of, names=one.names, omitted=one.omitted) for one in past) or None
    )
