"""The destination `gcp-secret-manager`: a secret per key in a project, for all regions or in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, cast

from pydantic import Field, JsonValue, StringConstraints, TypeAdapter

from keybearer.wire.destinations.base import DestinationConfig, DestinationModel
from keybearer.wire.strict import EmptyIsAbsent

__all__ = ["GCP_SECRET_MANAGER", "GlobalConfig", "RegionConfig"]

_PROJECT_MAX = 128


_Project = Annotated[
    str, StringConstraints(min_length=1, max_length=_PROJECT_MAX, pattern="^[A-Za-z0-9][A-Za-z0-9.:_-]*$")
]
_Location = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9-]{0,62}$")]
"""Part of a host's name."""


class GlobalConfig(DestinationConfig):
    """Secrets that every region has; new ones are kept at one location only, if it is named."""

    scope: Literal["global"]
    project_id: _Project
    location_id: Annotated[_Location | None, EmptyIsAbsent] = None


class RegionConfig(DestinationConfig):
    """Secrets that never leave their region, which has an endpoint of its own."""

    scope: Literal["region"]
    project_id: _Project
    location_id: _Location


def _place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    # Where new secrets of all regions are replicated to says nothing of where they are found.
    where = {"scope", "project_id"}
    if isinstance(config, RegionConfig):
        where.add("location_id")
    return config.model_dump(mode="json", by_alias=True, include=where)


GCP_SECRET_MANAGER = DestinationModel(
    name="gcp-secret-manager",
    app="gcp",
    config=cast(
        "TypeAdapter[DestinationConfig]",
        TypeAdapter(Annotated[GlobalConfig | RegionConfig, Field(discriminator="scope")]),
    ),
    place=_place,
)
