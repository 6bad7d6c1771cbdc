"""What the sync engine knows of a destination: what it is like, what it holds, how it is changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from keybearer.outbound.apps.protocol import AppContext
from keybearer.outbound.remote import RemoteRefusedError
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
    "Traits",
    "Written",
]


class ForeignContentError(RemoteRefusedError):
    """What is there has a form that no run of ours wrote: nothing is imported from it, and it is not overwritten."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What kind of place a destination is.

    Attributes:
        has_readable_values: whether values come back; where not, what was written is known from the ledger alone.
        is_one_object: whether all keys live in one remote object, which the key schema names; keys are as they are.
        skips_empty: whether the remote can't hold an empty value: such a key is left out, and removed.
        names_max: how many names it takes; None for no limit of its own.
        folds_case: whether names are upper-cased, so that two keys may become one name.
    """

    has_readable_values: bool = True
    is_one_object: bool = False
    skips_empty: bool = False
    names_max: int | None = None
    folds_case: bool = False


@dataclass(frozen=True, slots=True)
class Present:
    """What the remote holds under one name.

    Attributes:
        value: None where it doesn't come back.
        version: changes whenever the remote's value does, a time stamp or number; None where there is none.
        extras: what is kept beside the value and managed by us (tags, say), as `KeepsExtras.extras_of` has it.
    """

    value: str | None = field(repr=False)
    version: str | None = None
    extras: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What the remote is to hold under one name; `metadata` are the secret's own pairs."""

    name: str
    value: str = field(repr=False)
    metadata: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Change:
    """What one run changes.

    Attributes:
        put: to be created or overwritten.
        delete: names to be removed, and no other; a name that is gone already counts as removed.
        held: names that the remote is to hold of ours afterwards, put now or before.
        replaces_foreign: whether content of a form that no run of ours wrote is written over, as was asked for once.
    """

    put: tuple[Outgoing, ...]
    delete: tuple[str, ...]
    held: frozenset[str] = frozenset()
    replaces_foreign: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """One name whose change is durable at the remote; `version` as `Present` would show it, None if unknown."""

    name: str
    is_removed: bool = False
    version: str | None = None


class Destination(Protocol):
    """A configured place at a remote, with the credentials of one connection. Used by one run at a time.

    Every method raises a `RemoteError` of `keybearer.outbound.remote` where the remote doesn't do what is asked. What
    an error says never holds a value.
    """

    @property
    def traits(self) -> Traits:
        """What kind of place it is."""
        ...

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        """Return all that the remote holds in this place, foreign names as well, bounded in number and size.

        Args:
            names: those that a run is about to write; for a remote that can't list, they are what is looked up.
        """
        ...

    def apply(self, change: Change) -> AsyncIterator[Written]:
        """Make the change; what was written is told at once, so that nothing of it is forgotten if the rest fails."""
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
