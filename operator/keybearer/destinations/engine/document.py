"""Runs a document: reads it, changes what is ours in it, writes it for what was read, and begins anew if it moved."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence

from pydantic import JsonValue

from keybearer.base.runs import in_chunks
from keybearer.destinations.bounds import Bounds
from keybearer.destinations.form import Document, DocumentChange, Found
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
        version = str(found.version) if self._document.is_versioned and found.version is not None else None
        return {name: Present(_text(value), version, found.extras) for name, value in found.data.items()}

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Make the change, a chunk after the other; each is durable when it is told of.

        Raises:
            ForeignContentError: the document has a form that no run of ours wrote.
            RemoteError: something of it wasn't done.
        """
        found = await self._read_to_write(replaces_foreign=change.replaces_foreign)
        put: dict[str, JsonValue] = {one.name: one.value for one in change.put}
        steps = [*put, *change.delete]
        for some in in_chunks(steps, self._document.chunk or len(steps)) if steps else ():
            found = await self._written(
                found, {name: put[name] for name in some if name in put}, some, change
            )
            version = (
                str(found.version) if self._document.is_versioned and found.version is not None else None
            )
            for name in some:
                yield Written(name, version=version) if name in put else Written(name, is_removed=True)

    async def _written(
        self, found: Found | None, put: Mapping[str, JsonValue], names: Sequence[str], change: Change
    ) -> Found:
        """Return what is there once these names are as they should be."""
        gone = [name for name in names if name not in put]
        for _ in range(_TRIES):
            before = {} if found is None else found.data
            whole = {name: value for name, value in before.items() if name not in gone} | dict(put)
            _bound(whole)
            if whole == before:
                return found or Found({})
            changed = {
                name: value for name, value in put.items() if name not in before or before[name] != value
            }
            there = tuple(name for name in gone if name in before)
            written = await self._document.write(DocumentChange(found, whole, changed, there))
            if written is not None:
                return written
            found = await self._read_to_write(replaces_foreign=change.replaces_foreign)
        raise RemoteUnavailableError(
            f"{self._document.place} changed again each time that it was about to be written"
        )

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


def _bound(data: Mapping[str, JsonValue]) -> None:
    bounds = Bounds()
    for name, value in data.items():
        bounds.add(name, _text(value))


def _text(value: JsonValue) -> str:
    # The standard library keeps whole numbers of any size as they are.
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
