"""What a destination's module in `support.remotes` says so that the suite can run it: one value, `UNDER_TEST`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import pytest

from keybearer.destinations.form import DestinationKind
from keybearer.destinations.protocol import Traits
from keybearer.destinations.remote import RemoteRequest
from keybearer.wire.credentials import Credentials
from support import remotes
from support.conformance.interposed import CallKind, of_method
from support.conformance.jumping_clock import JumpingClock
from support.remotes.limits import Form

__all__ = [
    "PlaceUnderTest",
    "RemoteUnderTest",
    "RunningRemote",
    "Start",
    "Surroundings",
    "all_under_test",
    "lacking",
]


@dataclass(frozen=True)
class PlaceUnderTest:
    """One place at a remote, and what a person sees there.

    Attributes:
        config: `destinationConfig`, as on the wire.
        values: what it holds, by the remote's names.
        put: writes as somebody else.
    """

    config: Mapping[str, object]
    values: Callable[[], Mapping[str, str]]
    put: Callable[[str, str], None]


@dataclass(frozen=True, kw_only=True)
class RunningRemote:
    """A remote that runs.

    Attributes:
        method: of the connection.
        right: credentials that it takes, and that may do everything.
        wrong: credentials of the same method that it doesn't take.
        here: an empty place.
        elsewhere: another one, which the same credentials reach.
        endpoints: where it is, by the app's name, if credentials and configuration don't say it.
        own_credentials: what the service itself has there, likewise.
    """

    method: str
    right: Credentials = field(repr=False)
    wrong: Credentials = field(repr=False)
    here: PlaceUnderTest
    elsewhere: PlaceUnderTest
    endpoints: Mapping[str, str] = field(default_factory=dict)
    own_credentials: Mapping[str, Credentials] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Surroundings:
    """What a remote is run with.

    Attributes:
        request: gives fixtures, those of real servers, by their names.
        clock: of a copy.
        organization_id: of the connection.
    """

    request: pytest.FixtureRequest
    clock: JumpingClock
    organization_id: str


Start = Callable[[Surroundings], AbstractAsyncContextManager[RunningRemote]]
"""Runs a remote that holds nothing yet."""


def _same(name: str) -> str:
    return name


@dataclass(frozen=True, kw_only=True)
class RemoteUnderTest:
    """How the suite runs one destination.

    Attributes:
        kind: of the catalogue.
        start: runs it.
        forms: how it says that there were too many requests.
        label: tells apart several of one kind.
        kind_of: what a call is.
        page: names in the shortest page of its lists; 0 where all come at once.
        batch: names that one call writes; 0 for any number.
        bad_keys: ten keys of secrets that make no name there; empty where it takes every name.
        spelt: the remote's spelling of a name.
        largest: bytes of a value that are sure to arrive, where no rule says what the most is.
        finishes: calls that end a run which changed something.
        most_keys: that the place takes, where one write holds all and the vendor bounds requests; 0 for any number.
        remedy: what people are told where there are more.
        steps: 1 to kill the process at each call of a push, 2 at each second one, and so on.
    """

    kind: DestinationKind
    start: Start
    forms: Sequence[Form]
    label: str = ""
    kind_of: Callable[[RemoteRequest], CallKind] = of_method
    page: int = 0
    batch: int = 1
    bad_keys: tuple[str, ...] = ()
    spelt: Callable[[str], str] = _same
    largest: int = 32 * 1024
    finishes: int = 0
    most_keys: int = 0
    remedy: str = ""
    steps: int = 1

    def __str__(self) -> str:
        return f"{self.kind.name} {self.label}".strip()

    def traits(self, place: PlaceUnderTest) -> Traits:
        """Return what kind of place it is."""
        return self.kind.traits(self.kind.config.validate_python(dict(place.config)))


def all_under_test() -> list[RemoteUnderTest]:
    """Return what the modules of `support.remotes` name, by kind."""
    found: list[RemoteUnderTest] = []
    for module in pkgutil.iter_modules(remotes.__path__):
        named = getattr(importlib.import_module(f"support.remotes.{module.name}"), "UNDER_TEST", ())
        found += [named] if isinstance(named, RemoteUnderTest) else named
    return sorted(found, key=str)


def lacking(kinds: Iterable[DestinationKind], known: Iterable[RemoteUnderTest]) -> list[str]:
    """Return what is to be done so that each of these kinds is run by the suite."""
    names = {one.kind.name for one in known}
    return [
        f"The destination '{kind.name}' is in the catalogue, and no module says how its remote is run: write "
        f"tests/support/remotes/{kind.name.replace('-', '_')}.py with a RemoteUnderTest called UNDER_TEST"
        for kind in kinds
        if kind.name not in names
    ]
