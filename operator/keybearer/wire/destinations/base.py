"""What all destinations share: how the first sync is resolved, names of keys, and what describes a destination."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue, TypeAdapter

from keybearer.wire.base import Flag
from keybearer.wire.key_schema import KEY_SCHEMA_PATTERN, check_key_schema
from keybearer.wire.limits import KEY_SCHEMA_MAX
from keybearer.wire.strict import StrictModel

__all__ = [
    "DestinationConfig",
    "DestinationModel",
    "ImportBehavior",
    "InitialSyncBehavior",
    "KeySchema",
    "SyncOptions",
]


class InitialSyncBehavior(StrEnum):
    """How the first sync deals with what the destination holds already."""

    OVERWRITE_DESTINATION = "overwrite-destination"
    IMPORT_PRIORITIZE_SOURCE = "import-prioritize-source"
    IMPORT_PRIORITIZE_DESTINATION = "import-prioritize-destination"


class ImportBehavior(StrEnum):
    """Which value stays where both sides have a key (wire.md section 3.1)."""

    PRIORITIZE_SOURCE = "prioritize-source"
    PRIORITIZE_DESTINATION = "prioritize-destination"


KeySchema = Annotated[
    str,
    Field(max_length=KEY_SCHEMA_MAX, json_schema_extra={"pattern": KEY_SCHEMA_PATTERN}),
    AfterValidator(check_key_schema),
]
"""`{{secretKey}}` once, perhaps `{{environment}}`, and letters, digits, `_`, `-`, `/` around them."""


class SyncOptions(StrictModel):
    """Options that every destination takes; those that can import narrow nothing, others only overwrite."""

    initial_sync_behavior: InitialSyncBehavior
    key_schema: KeySchema | None = None
    disable_secret_deletion: Flag | None = None


class DestinationConfig(StrictModel):
    """Where within the remote the secrets go; each destination has its own fields."""


def _whole(config: DestinationConfig) -> Mapping[str, JsonValue]:
    return config.written()


def _agree(_config: DestinationConfig, _options: SyncOptions) -> None:
    """Any two of them go together."""


def _is_never(_config: DestinationConfig) -> bool:
    """Each key has a name of its own there."""
    return False


@dataclass(frozen=True, slots=True)
class DestinationModel:
    """A destination and the forms of its objects.

    Attributes:
        name: interface.md's word.
        app: the app of the connections it takes.
        config: validates `destinationConfig`; a union of models where a field selects the shape.
        options: validates `syncOptions`. Where secrets can't be read back, the one `initialSyncBehavior` that is
            left is seen to by `keybearer.wire.secret_syncs`.
        place: what of a configuration tells one place from another; two syncs with equal places get in each
            other's way. All of it, unless a field says how something is written and not where.
        agree: raises ValueError where a configuration and options that are each right don't go together.
        is_one_object: whether a configuration has all keys in one remote object, which the key schema names; then
            another schema is another place.
    """

    name: str
    app: str
    config: TypeAdapter[DestinationConfig]
    options: type[SyncOptions] = SyncOptions
    place: Callable[[DestinationConfig], Mapping[str, JsonValue]] = _whole
    agree: Callable[[DestinationConfig, SyncOptions], None] = _agree
    is_one_object: Callable[[DestinationConfig], bool] = _is_never
