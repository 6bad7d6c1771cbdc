"""Destinations that others ship as Python packages: loaded from packages that whoever starts the process names.

A package has entry points of the group `keybearer.destinations`; each leads to a `DestinationKind`. Code of a package
that isn't named is never imported. Whatever is wrong ends the start: no process offers less than it was told to.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution

from keybearer.base.errors import ConfigurationError
from keybearer.base.logs import get_logger
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import CATALOGUE, Catalogue, OfferedDestination
from keybearer.destinations.form import DestinationKind, UnbuiltDestination
from keybearer.wire.base import SLUG_PATTERN
from keybearer.wire.vocabulary import canonical_app, canonical_destination

__all__ = ["ENTRY_POINTS", "Shipped", "catalogue_with", "extended"]

ENTRY_POINTS = "keybearer.destinations"
"""The group of entry points."""
_OPTION = "--destinations-from"
_WORD = re.compile(SLUG_PATTERN[1:-1])
_WORD_MAX = 64
"""As the columns and the CRDs have it."""
_RESERVED = frozenset({"options"})
"""What has a path of its own where the words of apps and destinations are."""
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Shipped:
    """A destination of a package; `source` says for messages which: "acme of the package acme-for-keybearer"."""

    source: str
    kind: DestinationKind


def catalogue_with(packages: Sequence[str]) -> Catalogue:
    """Return what this version offers, and after it what these packages ship, in their order.

    Raises:
        ConfigurationError: a package isn't installed, ships nothing, ships what is no destination, or ships a name
            that something else has; or its code fails.
    """
    if not packages:
        return CATALOGUE
    found = [_installed(package) for package in packages]
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{_OPTION} names the package {name} twice; name each once")
    shipped = {one.name: list(_loaded(one)) for one in found}
    catalogue = extended(CATALOGUE, [one for each in shipped.values() for one in each])
    for one in found:
        kinds = [each.kind.name for each in shipped[one.name]]
        _log.info("destinations_loaded", package=one.name, version=one.version, destinations=kinds)
    return catalogue


def extended(own: Catalogue, shipped: Sequence[Shipped]) -> Catalogue:
    """Return a catalogue with these destinations as well.

    One that is offered, and that nothing here can write to, is replaced where all that is told of it stays.

    Raises:
        ConfigurationError: a name is no word, or something else has it.
    """
    unbuilt = {one.name: one for one in own.destinations if isinstance(one, UnbuiltDestination)}
    taken = {one.kind.name: unbuilt[one.kind.name] for one in shipped if one.kind.name in unbuilt}
    apps = {app.name: app for app in own.apps}
    # An app that a destination is said to take is to be that one's, as long as there is neither.
    waiting = (
        {one.connection for one in unbuilt.values()}
        - {one.connection for one in taken.values()}
        - apps.keys()
    )
    more: dict[str, DestinationKind] = {}
    for one in shipped:
        _require_words(one)
        name = one.kind.name
        if name in more or own.kind(name) is not None:
            raise ConfigurationError(
                f"{one.source}: there is a destination {name} already; leave one of the two out of {_OPTION}"
            )
        if name in taken:
            _require_as_told(one, taken[name])
        app = one.kind.app
        if apps.setdefault(app.name, app) is not app or app.name in waiting:
            raise ConfigurationError(
                f"{one.source}: there is an app {app.name} already; call this one otherwise, or take the other one's "
                "App into the destination"
            )
        more[name] = one.kind
    kept: Iterable[OfferedDestination] = (more.pop(one.name, one) for one in own.destinations)
    return Catalogue((*kept, *more.values()), own.apps_apart)


def _installed(package: str) -> Distribution:
    try:
        return distribution(package)
    except (PackageNotFoundError, ValueError):  # ValueError: it is no name at all
        raise ConfigurationError(
            f"{_OPTION} {package}: no package of this name is installed where Keybearer is; install it there, or "
            "correct the name"
        ) from None


def _loaded(package: Distribution) -> Iterator[Shipped]:
    entries = sorted(package.entry_points.select(group=ENTRY_POINTS), key=lambda one: one.name)
    if not entries:
        raise ConfigurationError(
            f"{_OPTION} {package.name}: the package has no entry point of the group {ENTRY_POINTS}, so it ships no "
            "destination"
        )
    for entry in entries:
        source = f"{_OPTION} {package.name}: its entry point {entry.name}"
        loaded = _load(entry, source)
        if not isinstance(loaded, DestinationKind):
            raise ConfigurationError(
                f"{source} leads to {entry.value} of the type {type(loaded).__name__}; it must be a DestinationKind"
            )
        yield Shipped(source, loaded)


def _load(entry: EntryPoint, source: str) -> object:
    try:
        found: object = entry.load()
    # Whatever a stranger's module raises when it is imported, an end of the process too.
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f"{source}: {entry.value} can't be loaded: {_told(error)}; does this version of the package go with this "
            "version of Keybearer?"
        ) from error
    return found


def _told(error: BaseException) -> str:
    """Return the kind and the place of an error; its text, which could quote values, only where it names a module."""
    match error:
        case ImportError() | AttributeError():
            return f"{type(error).__name__}: {error}"
        case SyntaxError(filename=str(file), lineno=line):
            pass
        case _:
            last = traceback.extract_tb(error.__traceback__)[-1]
            file, line = last.filename, last.lineno
    return f"{type(error).__name__} at {file.rpartition('/')[2]}:{line}"


def _require_words(one: Shipped) -> None:
    kind: DestinationKind = one.kind
    app: object = kind.app
    if not isinstance(app, App):
        raise ConfigurationError(f"{one.source}: the app of the destination {kind.name} is no App")
    words = [("a destination", kind.name), ("an app", app.name)]
    words += [(f"a method of the app {app.name}", method) for method in app.methods]
    for what, word in words:
        if not _WORD.fullmatch(word) or len(word) > _WORD_MAX:
            raise ConfigurationError(
                f"{one.source}: {word!r} can't be the name of {what}: take small letters, digits and single "
                f"hyphens, {_WORD_MAX} at most"
            )
    for what, word, canonical in (
        ("a destination", kind.name, canonical_destination(kind.name)[0]),
        ("an app", app.name, canonical_app(app.name)[0]),
    ):
        if word in _RESERVED or word != canonical:
            raise ConfigurationError(
                f"{one.source}: {word} can't be the name of {what}: it means something else in paths of the service"
            )


def _require_as_told(one: Shipped, told: UnbuiltDestination) -> None:
    """Let pass a destination of a name that is offered already if clients see no difference but that it works."""
    kind = one.kind
    pairs = {
        "title": (kind.title, told.title),
        "app": (kind.connection, told.connection),
        "can_import": (kind.can_import, told.can_import),
        "can_remove": (kind.can_remove, told.can_remove),
    }
    wrong = [f"{name} {theirs!r}, not {ours!r}" for name, (theirs, ours) in pairs.items() if theirs != ours]
    if wrong:
        raise ConfigurationError(
            f"{one.source}: the destination {kind.name} is offered with other terms: this one has "
            f"{', '.join(wrong)}; correct that, or take another name"
        )
