"""The destination `cloud-secrets-manager`: a secret per key, or one for all (interface.md 2.1, wire.md 3.5)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints, TypeAdapter

from keybearer.wire.destinations.base import DestinationConfig, DestinationModel, SyncOptions
from keybearer.wire.destinations.cloud import CloudOptions, Region

__all__ = ["CLOUD_SECRETS_MANAGER", "ManyToOneConfig", "OneToOneConfig"]

SECRET_NAME_MAX = 256


def _refuse(given: object) -> object:
    if given is not None:
        raise ValueError("secretName is for the mapping behavior many-to-one only")
    return given


class OneToOneConfig(DestinationConfig):
    """Each key is a secret."""

    region: Region
    mapping_behavior: Literal["one-to-one"]
    secret_name: Annotated[None, BeforeValidator(_refuse)] = None


class ManyToOneConfig(DestinationConfig):
    """All keys are one secret, a JSON object."""

    region: Region
    mapping_behavior: Literal["many-to-one"]
    secret_name: Annotated[
        str, StringConstraints(min_length=1, max_length=SECRET_NAME_MAX, pattern=r"^[a-zA-Z0-9/_+=.@-]+$")
    ]


def _agree(config: DestinationConfig, options: SyncOptions) -> None:
    if (
        isinstance(config, ManyToOneConfig)
        and isinstance(options, CloudOptions)
        and options.sync_secret_metadata_as_tags
    ):
        raise ValueError('Syncing secret metadata is not supported with "Many-to-One" mapping behavior.')


CLOUD_SECRETS_MANAGER = DestinationModel(
    "cloud-secrets-manager",
    "cloud",
    TypeAdapter(Annotated[OneToOneConfig | ManyToOneConfig, Field(discriminator="mapping_behavior")]),
    CloudOptions,
    agree=_agree,
    is_one_object=lambda config: isinstance(config, ManyToOneConfig),
)
