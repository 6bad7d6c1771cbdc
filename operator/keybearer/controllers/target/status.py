"""What a status says of a target: what was written, and what would be. Names of keys only, never values."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import ResourceModel
from keybearer.controllers.target.spec import TargetKind

__all__ = ["PLAN_NAMES_MAX", "PlanStatus", "TargetName", "TargetStatus"]

PLAN_NAMES_MAX = 200
"""Names that each list of `status.plan` holds; `omitted` counts the rest."""

_KeyName = Annotated[str, Field(max_length=512)]
_PlanNames = Annotated[tuple[_KeyName, ...], Field(strict=False, max_length=PLAN_NAMES_MAX)]


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
