"""What the sync engine knows of an opened destination: what it holds, how it is changed, what became of each name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from keybearer.destinations.name_rules import ANYTHING, NameRules
from keybearer.destinations.remote import RemoteRefusedError
from keybearer.wire.key_schema import may_be_of

__all__ = [
    "Change",
    "Destination",
    "ForeignContentError",
    "Outgoing",
    "Present",
    "Refused",
    "RuleBrokenError",
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
        rules: what names and values it takes.
    """

    has_readable_values: bool = True
    is_one_object: bool = False
    skips_empty: bool = False
    names_max: int | None = None
    folds_case: bool = False
    rules: NameRules = ANYTHING


@dataclass(frozen=True, slots=True)
class Present:
    """What the remote holds under one name.

    Attributes:
        value: None where it doesn't come back.
        version: changes whenever the remote's value does, a time stamp or number; None if it has no version.
        extras: what is kept beside the value and managed by us (tags, say), as `Destination.extras_of` has it.
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
        held: names that the remote is to hold of ours afterwards, put now or before, or that a rule kept back.
        keys: the key of each name of `put`.
        former: names of `delete` that a former key schema made.
        replaces_foreign: whether content of a form that no run of ours wrote is written over, as was asked for once.
        is_resumed: whether an attempt before this one was cut off, so that what it wrote may still wait for the call
            that ends a run.
    """

    put: tuple[Outgoing, ...]
    delete: tuple[str, ...]
    held: frozenset[str] = frozenset()
    keys: Mapping[str, str] = field(default_factory=dict)
    former: frozenset[str] = frozenset()
    replaces_foreign: bool = False
    is_resumed: bool = False

    def removable(self, refused: Collection[str]) -> tuple[str, ...]:
        """Return the names to be removed after `put`: all of `delete` but former names of secrets that were refused.

        Such a secret may be nowhere else.

        Args:
            refused: names of `put`.
        """
        keys = [self.keys.get(name, name) for name in refused]
        return tuple(name for name in self.delete if name not in self.former or not may_be_of(name, keys))


@dataclass(frozen=True, slots=True)
class Written:
    """One name whose change is durable at the remote; `version` as `Present` would show it, None if unknown."""

    name: str
    is_removed: bool = False
    version: str | None = None


class RuleBrokenError(RemoteRefusedError):
    """A rule that is known here refuses a name: the remote wasn't asked, so it says nothing of other names."""


@dataclass(frozen=True, slots=True)
class Refused:
    """One name that the remote, or a rule of it, refuses: what was there stays, and all others are written.

    Attributes:
        name: as in `Change.put`.
        message: why, and what to do; never a value.
        is_local: whether the remote wasn't asked: many of these in a row say nothing of the remote.
    """

    name: str
    message: str
    is_local: bool = False

    @classmethod
    def by(cls, error: RemoteRefusedError, name: str) -> Self:
        """Return the refusal of a name that an error tells."""
        return cls(name, str(error), isinstance(error, RuleBrokenError))


class Destination(Protocol):
    """A configured place at a remote, with the credentials of one connection. Used by one run at a time.

    Every method raises a `RemoteError` where the remote doesn't do what is asked. What an error says never holds a
    value.
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

    def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Make the change; what became of a name is told at once, so that nothing is forgotten if the rest fails.

        What is removed is `change.removable` of the names that were refused, and not all of `change.delete`.
        """
        ...

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:
        """Return what is to be kept beside that value, to compare with `Present.extras`; None compares nothing."""
        ...
