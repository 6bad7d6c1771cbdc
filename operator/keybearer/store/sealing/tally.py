"""Sums of marks: a keyed hash of a set of rows, in 36 bytes, which changes as fast for many rows as for few.

The *mark* of a row is a MAC of 256 bits (`SealingKey.marks`). The *sum* of a set of rows is the exclusive or of their
marks, with their number. A sum is kept in an envelope, the *seal*: nobody without the key learns it, or sees how a
change alters it. So another set with the same sum can only be guessed.

This is MSet-XOR-Hash of Clarke, Devadas, van Dijk, Gassend and Suh, "Incremental Multiset Hash Functions" (ASIACRYPT
2003), with encryption in place of its mask.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from keybearer.store.sealing.envelope import MARK_BYTES

__all__ = ["EMPTY", "FolderTallies", "PlaceTally", "Tally"]

_FOLDER = struct.Struct(f">I{MARK_BYTES}sI{MARK_BYTES}s")
_PLACES = struct.Struct(f">BI{MARK_BYTES}s")


@dataclass(frozen=True, slots=True)
class Tally:
    """The sum of a set of rows: their number, and the exclusive or of their marks."""

    count: int
    total: int = field(repr=False)

    @classmethod
    def of(cls, marks: Iterable[int]) -> Tally:
        """Return the sum of the rows with these marks."""
        return EMPTY.changed((), marks)

    def changed(self, gone: Iterable[int], new: Iterable[int]) -> Tally:
        """Return the sum without the rows of the marks `gone`, and with those of the marks `new`."""
        count, total = self.count, self.total
        for mark in gone:
            count -= 1
            total ^= mark
        for mark in new:
            count += 1
            total ^= mark
        # A count below zero means that rows were added without the service. It wraps to a number no set has.
        return Tally(count % (1 << 32), total)


EMPTY = Tally(0, 0)


@dataclass(frozen=True, slots=True)
class FolderTallies:
    """The sums of the shared and of the personal secrets of a folder."""

    shared: Tally = EMPTY
    personal: Tally = EMPTY

    def packed(self) -> bytes:
        """Return the bytes that are sealed."""
        return _FOLDER.pack(
            self.shared.count,
            self.shared.total.to_bytes(MARK_BYTES),
            self.personal.count,
            self.personal.total.to_bytes(MARK_BYTES),
        )

    @classmethod
    def unpacked(cls, content: bytes) -> FolderTallies:
        """Return what these bytes say."""
        shared, shared_total, personal, personal_total = _FOLDER.unpack(content)
        return cls(
            Tally(shared, int.from_bytes(shared_total)),
            Tally(personal, int.from_bytes(personal_total)),
        )


@dataclass(frozen=True, slots=True)
class PlaceTally:
    """The sum of the places of a project: its environments and folders.

    `is_bound` says that a strict key sealed all secrets of the project: what another key sealed is refused.
    """

    places: Tally = EMPTY
    is_bound: bool = True

    def packed(self) -> bytes:
        """Return the bytes that are sealed."""
        return _PLACES.pack(self.is_bound, self.places.count, self.places.total.to_bytes(MARK_BYTES))

    @classmethod
    def unpacked(cls, content: bytes) -> PlaceTally:
        """Return what these bytes say."""
        is_bound, count, total = _PLACES.unpack(content)
        return cls(Tally(count, int.from_bytes(total)), bool(is_bound))
