"""What describes a destination of the former form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue, TypeAdapter

from keybearer.wire.destination_forms import (
    DestinationConfig,
    ImportBehavior,
    InitialSyncBehavior,
    KeySchema,
    SyncOptions,
)

__all__ = [
    "DestinationConfig",
    "DestinationModel",
    "ImportBehavior",
    "InitialSyncBehavior",
    "KeySchema",
    "SyncOptions",
]


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
