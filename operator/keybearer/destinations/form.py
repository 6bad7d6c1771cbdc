"""What a destination is: one value that says where secrets go, how they are read and written, and what it takes.

A vendor's module makes one `DestinationKind`. Its `open` returns a `Table` or a `Document`: a description with calls
and small functions, which `keybearer.destinations.engine` runs. The engine owns paging, batches, the order of writes,
refusals of single names, bounds, and what is told of each name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Annotated, TypeVar, cast

from pydantic import Field, JsonValue, TypeAdapter

from keybearer.destinations.app import App
from keybearer.destinations.document import Document
from keybearer.destinations.protocol import Destination, Traits
from keybearer.destinations.session import Session
from keybearer.destinations.table import Table
from keybearer.wire.destination_forms import DestinationConfig, SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = ["DestinationKind", "NamedPlaces", "Place", "UnbuiltDestination", "config_of"]

_C = TypeVar("_C", bound=DestinationConfig)
_O = TypeVar("_O", bound=SyncOptions)


@dataclass(frozen=True, slots=True)
class Place:
    """A configured destination over one connection, as a vendor's module gets it.

    Attributes:
        naming: how keys become names; a document's own name is made by it.
    """

    session: Session
    config: DestinationConfig
    options: SyncOptions
    naming: KeyNaming

    def config_as(self, kind: type[_C]) -> _C:
        """Return the configuration as one of that class.

        Raises:
            TypeError: it is another's.
        """
        if not isinstance(self.config, kind):
            raise TypeError(type(self.config).__name__)
        return self.config

    def options_as(self, kind: type[_O]) -> _O:
        """Return the options as those of that class.

        Raises:
            TypeError: they are another's.
        """
        if not isinstance(self.options, kind):
            raise TypeError(type(self.options).__name__)
        return self.options


def config_of(*kinds: type[DestinationConfig], by: str | None = None) -> TypeAdapter[DestinationConfig]:
    """Return what validates a configuration of one of these classes; the field `by` says which of several it is."""
    if by is None:
        return TypeAdapter(kinds[0])
    union = reduce(or_, kinds)
    return TypeAdapter(cast("type[DestinationConfig]", Annotated[union, Field(discriminator=by)]))


def _agree(_config: DestinationConfig, _options: SyncOptions) -> None:
    """Accept every pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPlaces:
    """Places of a destination by one text each, so that a connection can be limited to some of them.

    Attributes:
        form: of such a text, for people: "MOUNT/PATH".
        name: the text for a configuration. Where keys are names of their own, `*` stands for each key in it. No key
            holds a slash, so a pattern that matches the text matches every name that is written.
        knows_case: whether texts that differ in case alone are different places.
    """

    form: str
    name: Callable[[DestinationConfig, KeyNaming], str]
    knows_case: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationKind:
    """A destination.

    Attributes:
        name: interface.md's word.
        title: as people write it.
        app: of the connections that it takes.
        can_import: whether its secrets can be read back.
        can_remove: whether they can be removed when the sync is deleted.
        config: validates `destinationConfig`; a union of models where a field selects the shape.
        options: validates `syncOptions`.
        place: what of a configuration tells one place from another; two syncs with equal places share it.
        places: how connections are limited to some of its places; None where they can't be.
        agree: raises ValueError where a configuration and options that are each right don't go together.
        traits: what kind of place a configuration names.
        open: what the engine runs, or where neither form fits, a destination of its own.
    """

    name: str
    title: str
    app: App
    can_import: bool
    can_remove: bool = True
    config: TypeAdapter[DestinationConfig]
    options: type[SyncOptions] = SyncOptions
    place: Callable[[DestinationConfig], Mapping[str, JsonValue]] = DestinationConfig.where
    places: NamedPlaces | None = None
    agree: Callable[[DestinationConfig, SyncOptions], None] = _agree
    traits: Callable[[DestinationConfig], Traits] = lambda _: Traits()
    open: Callable[[Place], Table | Document | Destination]

    @property
    def connection(self) -> str:
        """The word of its app."""
        return self.app.name


@dataclass(frozen=True, slots=True)
class UnbuiltDestination:
    """A destination that is offered (wire.md section 3.7), and that nothing here can write to yet."""

    name: str
    title: str
    connection: str
    can_import: bool = field(kw_only=True)
    can_remove: bool = field(kw_only=True, default=True)
