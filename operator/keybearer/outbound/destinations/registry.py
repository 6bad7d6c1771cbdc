"""The drivers behind the models of `keybearer.wire.destinations.registry`, by the same names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from keybearer.outbound.apps.protocol import AppContext
from keybearer.outbound.destinations.protocol import Destination
from keybearer.wire.connections.base import Credentials
from keybearer.wire.destinations.base import DestinationConfig, SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = ["DRIVERS", "Driver", "DriverInput"]


@dataclass(frozen=True, slots=True)
class DriverInput:
    """What a driver is made from.

    Attributes:
        config: of the class that the destination's model has.
        options: likewise.
        naming: how keys become names; drivers of one object apply it to that object's name.
        credentials: of the connection, checked.
    """

    config: DestinationConfig
    options: SyncOptions
    naming: KeyNaming
    credentials: Credentials = field(repr=False)
    context: AppContext


Driver = Callable[[DriverInput], Destination]

DRIVERS: Mapping[str, Driver] = {}
