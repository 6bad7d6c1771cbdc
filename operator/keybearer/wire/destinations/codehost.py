"""Where at the code host secrets go: an organization, a repository, an environment of one (interface.md 2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, cast

from pydantic import Field, JsonValue, TypeAdapter, ValidationInfo, field_validator, model_validator

from keybearer.wire.base import WHOLE
from keybearer.wire.destinations.base import (
    DestinationConfig,
    DestinationModel,
)
from keybearer.wire.strict import NonEmpty

__all__ = [
    "CODEHOST",
    "CodehostConfig",
    "OrganizationConfig",
    "RepositoryConfig",
    "RepositoryEnvironmentConfig",
    "Visibility",
]

_ID_MAX = 2**53 - 1
_SELECTED = "selectedRepositoryIds"


class Visibility(StrEnum):
    """Which repositories of an organization may use a secret of it."""

    ALL = "all"
    PRIVATE = "private"
    SELECTED = "selected"


class OrganizationConfig(DestinationConfig):
    """Secrets of an organization."""

    scope: Literal["organization"]
    org: NonEmpty
    visibility: Visibility
    selected_repository_ids: tuple[Annotated[int, Field(ge=0, le=_ID_MAX), WHOLE], ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _absent_is_null(cls, given: object) -> object:
        # So that the check below tells of the field by its name on the wire.
        return {_SELECTED: None, **given} if isinstance(given, dict) else given

    @field_validator("selected_repository_ids")
    @classmethod
    def _fit_the_visibility(
        cls, given: tuple[int, ...] | None, info: ValidationInfo
    ) -> tuple[int, ...] | None:
        # wire.md section 3.5; without a visibility there is an error about that one already.
        visibility = info.data.get("visibility")
        if visibility is Visibility.SELECTED and not given:
            raise ValueError("Select at least 1 repository")
        if visibility is not None and visibility is not Visibility.SELECTED and given:
            raise ValueError("must be empty or absent unless the visibility is selected")
        return given


class RepositoryConfig(DestinationConfig):
    """Secrets of a repository."""

    scope: Literal["repository"]
    owner: NonEmpty
    repo: NonEmpty


class RepositoryEnvironmentConfig(DestinationConfig):
    """Secrets of an environment of a repository."""

    scope: Literal["repository-environment"]
    owner: NonEmpty
    repo: NonEmpty
    env: NonEmpty


CodehostConfig = OrganizationConfig | RepositoryConfig | RepositoryEnvironmentConfig


def _place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    # Who may use the secrets of an organization says nothing of where they are; names know no case there.
    fields: dict[str, JsonValue] = config.model_dump(
        mode="json", by_alias=True, exclude={"visibility", "selected_repository_ids"}
    )
    return {name: value.lower() if isinstance(value, str) else value for name, value in fields.items()}


CODEHOST = DestinationModel(
    name="codehost",
    app="codehost",
    config=cast(
        "TypeAdapter[DestinationConfig]",
        TypeAdapter(Annotated[CodehostConfig, Field(discriminator="scope")]),
    ),
    place=_place,
)
