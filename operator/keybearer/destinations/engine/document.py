"""Runs a document: reads it, changes our entries, writes it, and starts again if others changed it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence

from pydantic import JsonValue

from keybearer.base.runs import in_chunks
from keybearer.destinations.bounds import Bounds
from keybearer.destinations.document import Document, DocumentChange, Found
from keybearer.destinations.protocol import (
    Change,
    ForeignContentError,
    Outgoing,
    Present,
    Refused,
    Traits,
    Written,
)
from keybearer.destinations.remote import RemoteUnavailableError

__all__ = ["DocumentDestination"]

_TRIES = 5


class DocumentDestination:
    """One remote object that holds all keys.

    Args:
        document: what the vendor's module says.
        traits: what kind of place it is.
    """

    def __init__(self, document: Document, traits: Traits) -> None:
        self.traits = traits
        self._document = document

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:
        """Return what is to be kept beside the document."""
        return self._document.extras(outgoing)

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - one object holds them all
        """Return all entries; a value that is no text is shown as JSON.

        Raises:
            ForeignContentError: the document has a form that no run of ours wrote.
            RemoteError: it can't be read.
        """
        found = await self._read()
        if found is None:
            return {}
        version = self._version_of(found)
        return {name: Present(_text(value), version, found.extras) for name, value in found.data.items()}

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Make the change, in one write if the remote takes that much; each name that is yielded is durable.

        Raises:
            ForeignContentError: the document has a form that no run of ours wrote.
            RemoteError: it failed; names without an outcome weren't changed.
        """
        wanted: dict[str, JsonValue] = {one.name: one.value for one in change.put}
        wanted |= dict.fromkeys(change.delete)
        left = dict(wanted)
        tries = 0
        while left:
            if tries == _TRIES:
                raise RemoteUnavailableError(
                    f"{self._document.place} changed again each time that it was about to be written"
                )
            tries += 1
            found = await self._read_to_write(replaces_foreign=change.replaces_foreign)
            # What was told already is looked at as well: somebody may have undone it since.
            is_bare = any(self._lacks_extras(found, one) for one in change.put)
            entries = {
                name: value
                for name, value in wanted.items()
                if _is_other(found, name, value) or (is_bare and value is not None)
            }
            for name in [one for one in left if one not in entries]:
                yield self._told(name, left.pop(name), found)
            async for after, names in self._write(found, entries):
                tries = 0
                for name in names:
                    if name in left:
                        yield self._told(name, left.pop(name), after)

    async def _write(
        self, found: Found | None, entries: Mapping[str, JsonValue]
    ) -> AsyncIterator[tuple[Found, list[str]]]:
        """Yield what is there after each write, and what it changed; end where the document has to be read anew."""
        whole = DocumentChange(found, _after(found, entries), entries)
        _bound(whole.whole)
        size = self._document.chunk(whole) if entries else None
        for names in in_chunks(entries, size or len(entries)) if entries else ():
            some = {name: entries[name] for name in names}
            piece = DocumentChange(found, _after(found, some), some, is_piece=size is not None)
            found = await self._document.write(piece)
            if found is None:
                return
            yield found, names

    def _lacks_extras(self, found: Found | None, one: Outgoing) -> bool:
        """Return whether something else is kept beside the document than is to be, also where its keys are right."""
        extras = self._document.extras(one)
        return found is not None and extras is not None and found.extras != extras

    def _told(self, name: str, value: JsonValue, found: Found | None) -> Written:
        if value is None:
            return Written(name, is_removed=True)
        return Written(name, version=self._version_of(found))

    def _version_of(self, found: Found | None) -> str | None:
        if not self._document.is_versioned or found is None or found.version is None:
            return None
        return str(found.version)

    async def _read_to_write(self, *, replaces_foreign: bool) -> Found | None:
        try:
            return await self._read()
        except ForeignContentError:
            if not replaces_foreign:
                raise
            return None

    async def _read(self) -> Found | None:
        found = await self._document.read()
        if found is not None:
            _bound(found.data)
        return found


def _is_other(found: Found | None, name: str, value: JsonValue) -> bool:
    present = None if found is None else found.data.get(name)
    # A null there is somebody's value; a None here says that the name is to go.
    return (value is not None and present != value) or (
        value is None and found is not None and name in found.data
    )


def _after(found: Found | None, entries: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    before = {} if found is None else found.data
    kept = {name: value for name, value in before.items() if name not in entries}
    return kept | {name: value for name, value in entries.items() if value is not None}


def _bound(data: Mapping[str, JsonValue]) -> None:
    bounds = Bounds()
    for name, value in data.items():
        bounds.add(name, _text(value))


def _text(value: JsonValue) -> str:
    # The standard library keeps whole numbers of any size as they are.
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
