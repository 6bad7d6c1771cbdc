"""What the sync engine knows of a destination: what it is like, what it holds, how it is changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from keybearer.destinations.protocol import (
    Change,
    ForeignContentError,
    Outgoing,
    Present,
    Refused,
    RuleBrokenError,
    Traits,
    Written,
)
from keybearer.outbound.apps.protocol import AppContext
from keybearer.wire.connections.base import Credentials
from keybearer.wire.destinations.base import DestinationConfig, SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = [
    "Change",
    "Destination",
    "Driver",
    "DriverInput",
    "ForeignContentError",
    "KeepsExtras",
    "Outgoing",
    "Present",
    "Refused",
    "RuleBrokenError",
    "Traits",
    "Written",
]


class Destination(Protocol):
    """A destination of the former form: `extras_of` only where it keeps something beside values."""

    @property
    def traits(self) -> Traits:
        """What kind of place it is."""
        ...

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        """Return all that the remote holds in this place."""
        ...

    def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Make the change."""
        ...


@runtime_checkable
class KeepsExtras(Destination, Protocol):
    """A destination that keeps something beside values; where that differs, the value is put again."""

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:
        """Return what is to stand beside that value, to compare with `Present.extras`; None compares nothing."""
        ...


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
