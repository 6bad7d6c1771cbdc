"""A remote in memory that does what a test says, behind the protocol of drivers, and counts what it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keybearer.destinations.catalogue import Catalogue
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT
from keybearer.destinations.protocol import Change, Outgoing, Present, Refused, Traits, Written
from keybearer.destinations.remote import RemoteError
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.key_schema import KeyNaming

__all__ = ["SCRIPTED", "ScriptedConfig", "ScriptedRemote", "ScriptedRemotes"]

SCRIPTED = "scripted"


def _name_of(config: DestinationConfig, _: KeyNaming) -> str:
    assert isinstance(config, ScriptedConfig)
    return config.place


class ScriptedConfig(DestinationConfig):
    """Which remote; of one object that holds all keys, the key schema is a part of its place."""

    place: str
    is_document: bool = False


def _is_document(config: DestinationConfig) -> bool:
    return isinstance(config, ScriptedConfig) and config.is_document


@dataclass
class ScriptedRemote:
    """What is there, and how it behaves.

    Attributes:
        content: values by name.
        on_put: raised when this name is written, as often as the list holds errors.
        refuses: why it refuses these names, each time.
        room: how many names it takes; it refuses further ones.
        on_read: raised when it is listed, likewise.
        hold: cleared, every write waits until it is set.
        hold_reads: likewise of listings.
        catalogue: the one destination that there is.
        busy: how many runs are in it now, and the most there ever were.
    """

    traits: Traits = field(default_factory=Traits)
    content: dict[str, str] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    listings: int = 0
    puts: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    on_put: dict[str, list[RemoteError]] = field(default_factory=dict)
    refuses: dict[str, str] = field(default_factory=dict)
    room: int = 10_000
    on_read: list[RemoteError] = field(default_factory=list)
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    hold_reads: asyncio.Event = field(default_factory=asyncio.Event)
    busy: int = 0
    most_busy: int = 0

    def __post_init__(self) -> None:
        self.hold.set()
        self.hold_reads.set()

    @property
    def writes(self) -> int:
        """How many calls changed it."""
        return len(self.puts) + len(self.deletes)

    def why_refused(self, name: str) -> str | None:
        """Return why it doesn't take a name; None if it does."""
        if name not in self.content and len(self.content) >= self.room:
            return "the place is full"
        return self.refuses.get(name)

    def edit(self, name: str, value: str) -> None:
        """Write as somebody else would."""
        self.content[name] = value
        self.versions[name] = self.versions.get(name, 0) + 1

    def forget_calls(self) -> None:
        """Count from here."""
        self.listings, self.puts, self.deletes = 0, [], []


@dataclass
class _ScriptedDestination:
    remotes: ScriptedRemotes
    remote: ScriptedRemote

    @property
    def traits(self) -> Traits:
        return self.remote.traits

    def extras_of(self, _outgoing: Outgoing) -> Mapping[str, str] | None:
        return None

    async def read(self, _names: Sequence[str]) -> Mapping[str, Present]:
        remote = self.remote
        remote.listings += 1
        await asyncio.sleep(0)
        await remote.hold_reads.wait()
        if remote.on_read:
            raise remote.on_read.pop(0)
        return {
            name: Present(
                value if remote.traits.has_readable_values else None, str(remote.versions.get(name, 0))
            )
            for name, value in remote.content.items()
        }

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        remote = self.remote
        all_of_them = self.remotes
        for one in (remote, all_of_them):
            one.busy += 1
            one.most_busy = max(one.busy, one.most_busy)
        try:
            refused = set[str]()
            for outgoing in change.put:
                await remote.hold.wait()
                await asyncio.sleep(0)
                if remote.on_put.get(outgoing.name):
                    raise remote.on_put[outgoing.name].pop(0)
                why = remote.why_refused(outgoing.name)
                if why is not None:
                    refused.add(outgoing.name)
                    yield Refused(outgoing.name, why)
                    continue
                remote.edit(outgoing.name, outgoing.value)
                remote.puts.append(outgoing.name)
                yield Written(outgoing.name)
            for name in change.removable(refused):
                await remote.hold.wait()
                remote.content.pop(name, None)
                remote.deletes.append(name)
                yield Written(name, is_removed=True)
        finally:
            remote.busy -= 1
            all_of_them.busy -= 1


class ScriptedRemotes:
    """All remotes of a test, by their place.

    Attributes:
        catalogue: the one destination that there is.
        busy: how many runs are in all of them now, and the most there ever were.
    """

    def __init__(self) -> None:
        self._by_place: dict[str, ScriptedRemote] = {}
        self.busy = self.most_busy = 0
        kind = DestinationKind(
            name=SCRIPTED,
            title="Scripted",
            app=HASHICORP_VAULT.app,
            can_import=True,
            config=config_of(ScriptedConfig),
            places=NamedPlaces(form="PLACE", name=_name_of),
            traits=lambda config: Traits(is_one_object=_is_document(config)),
            open=self._open,
        )
        self.catalogue = Catalogue((kind,))

    def __getitem__(self, place: str) -> ScriptedRemote:
        return self._by_place.setdefault(place, ScriptedRemote())

    def alias(self, place: str, other: str) -> None:
        """Have two places be one remote."""
        self._by_place[place] = self[other]

    def _open(self, given: Place) -> _ScriptedDestination:
        assert isinstance(given.config, ScriptedConfig)
        if given.config.is_document:
            document = self[f"{given.config.place}/{given.naming.name_of('doc')}"]
            document.traits = replace(document.traits, is_one_object=True)
            return _ScriptedDestination(self, document)
        return _ScriptedDestination(self, self[given.config.place])
