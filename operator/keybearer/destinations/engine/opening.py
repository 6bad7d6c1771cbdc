"""Opens a destination: a kind, a configuration and credentials become what the sync engine works with."""

from __future__ import annotations

from dataclasses import dataclass, field

from keybearer.destinations.document import Document
from keybearer.destinations.engine.document import DocumentDestination
from keybearer.destinations.engine.table import TableDestination
from keybearer.destinations.form import DestinationKind, Place
from keybearer.destinations.protocol import Destination
from keybearer.destinations.session import AppContext, Session
from keybearer.destinations.table import Table
from keybearer.wire.credentials import Credentials
from keybearer.wire.destination_forms import DestinationConfig, SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = ["Opening", "open_destination"]


@dataclass(frozen=True, slots=True)
class Opening:
    """What a destination is opened with.

    Attributes:
        config: of the class that the kind's `config` validates.
        options: likewise.
        naming: how keys become names.
        credentials: of the connection, checked.
    """

    config: DestinationConfig
    options: SyncOptions
    naming: KeyNaming
    credentials: Credentials = field(repr=False)
    context: AppContext


def open_destination(kind: DestinationKind, given: Opening) -> Destination:
    """Return the destination, ready for one run. Nothing is asked yet.

    Raises:
        RemoteRefusedError: the configuration names something that can't be a part of an address.
    """
    session = Session(kind.app, given.credentials, given.context)
    store = kind.open(Place(session, given.config, given.options, given.naming))
    traits = kind.traits(given.config)
    match store:
        case Table():
            return TableDestination(session, store, traits, given.naming)
        case Document():
            return DocumentDestination(store, traits)
        case _:
            return store
