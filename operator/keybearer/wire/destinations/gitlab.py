"""Where at GitLab secrets go: the CI/CD variables of a project or a group (the published service's words)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, cast

from pydantic import BeforeValidator, Field, JsonValue, StringConstraints, TypeAdapter

from keybearer.wire.base import Flag
from keybearer.wire.destinations.base import (
    DestinationConfig,
    DestinationModel,
)
from keybearer.wire.strict import NonEmpty

__all__ = ["GITLAB", "GitLabConfig", "GroupConfig", "ProjectConfig"]

_ALL_ENVIRONMENTS = "*"
_SCOPE_MAX = 255


def _all_if_absent(given: object) -> object:
    return _ALL_ENVIRONMENTS if given is None or given == "" else given


def _off_if_absent(given: object) -> object:
    return False if given is None else given


_Mark = Annotated[Flag, BeforeValidator(_off_if_absent)]


class _VariablesConfig(DestinationConfig):
    """What is the same for both; answers tell these fields always, as the published service's do."""

    target_environment: Annotated[
        str, BeforeValidator(_all_if_absent), StringConstraints(max_length=_SCOPE_MAX)
    ] = _ALL_ENVIRONMENTS
    should_protect_secrets: _Mark = False
    should_mask_secrets: _Mark = False
    should_hide_secrets: _Mark = False


class ProjectConfig(_VariablesConfig):
    """Variables of a project, named by its number or by its path."""

    scope: Literal["project"]
    project_id: NonEmpty
    project_name: NonEmpty | None = None


class GroupConfig(_VariablesConfig):
    """Variables of a group, named by its number or by its path."""

    scope: Literal["group"]
    group_id: NonEmpty
    group_name: NonEmpty | None = None


GitLabConfig = ProjectConfig | GroupConfig


def _place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    # How variables are marked says nothing of where they are, and names are there for people.
    return config.model_dump(
        mode="json",
        by_alias=True,
        include={"scope", "project_id", "group_id", "target_environment"},
    )


GITLAB = DestinationModel(
    name="gitlab",
    app="gitlab",
    config=cast(
        "TypeAdapter[DestinationConfig]",
        TypeAdapter(Annotated[GitLabConfig, Field(discriminator="scope")]),
    ),
    place=_place,
)
