"""What all destinations share: how the first sync is resolved, names of keys, and what describes a destination."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter

from keybearer.wire.base import Flag
from keybearer.wire.key_schema import check_key_schema
from keybearer.wire.strict import StrictModel

__all__ = [
    "DestinationConfig",
    "DestinationModel",
    "ImportBehavior",
    "InitialSyncBehavior",
    "KeySchema",
    "SyncOptions",
]

KEY_SCHEMA_MAX = 255


class InitialSyncBehavior(StrEnum):
    """How the first sync deals with what the destination holds already."""

    OVERWRITE_DESTINATION = "overwrite-destination"
    IMPORT_PRIORITIZE_SOURCE = "import-prioritize-source"
    IMPORT_PRIORITIZE_DESTINATION = "import-prioritize-destination"


class ImportBehavior(StrEnum):
    """Which value stays where both sides have a key (wire.md section 3.1)."""

    PRIORITIZE_SOURCE = "prioritize-source"
    PRIORITIZE_DESTINATION = "prioritize-destination"


KeySchema = Annotated[str, Field(max_length=KEY_SCHEMA_MAX), AfterValidator(check_key_schema)]
"""`{{secretKey}}` once, perhaps `{{environment}}`, and letters, digits, `_`, `-`, `/` around them."""


class SyncOptions(StrictModel):
    """Options that every destination takes; those that can import narrow nothing, others only overwrite."""

    initial_sync_behavior: InitialSyncBehavior
    key_schema: KeySchema | None = None
    disable_secret_deletion: Flag | None = None


class DestinationConfig(StrictModel):
    """Where within the remote the secrets go; each destination has its own fields."""


@dataclass(frozen=True, slots=True)
class DestinationModel:
    """A destination and the forms of its objects.

    Attributes:
        name: interface.md's word.
        app: the app of the connections it takes.
        config: validates `destinationConfig`; a union of models where a field selects the shape.
        options: validates `syncOptions`.
    """

    name: str
    app: str
    config: TypeAdapter[DestinationConfig]
    options: type[SyncOptions] = SyncOptions
