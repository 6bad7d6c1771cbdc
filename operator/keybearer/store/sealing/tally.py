"""Sums of the marks of rows: what a set of rows is, in 36 bytes that are as quickly changed for many rows as for few.

A row's mark is a pseudorandom number of 256 bits (`SealingKey.mark`). The sum of a set is the exclusive or of its
marks, and how many they are. It is kept in an envelope: nobody learns it, or sees what a change did to it. Without
the key, another set of the same sum is found by guessing alone. This is MSet-XOR-Hash of Clarke, Devadas, van Dijk,
Gassend and Suh, "Incremental Multiset Hash Functions" (ASIACRYPT 2003), with encryption in place of its mask.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["EMPTY", "FolderTallies", "PlaceTally", "Tally"]

_MARK_BYTES = 32
_FOLDER = struct.Struct(f">I{_MARK_BYTES}sI{_MARK_BYTES}s")
_PLACES = struct.Struct(f">BI{_MARK_BYTES}s")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows a set has, and the sum of their marks."""

    count: int
    total: int = field(repr=False)

    @classmethod
    def of(cls, marks: Iterable[int]) -> Tally:
        """Return the tally of the rows of these marks."""
        return EMPTY.changed((), marks)

    def changed(self, gone: Iterable[int], new: Iterable[int]) -> Tally:
        """Return the tally without the rows of the first marks and with those of the second."""
        count, total = self.count, self.total
        for mark in gone:
            count -= 1
            total ^= mark
        for mark in new:
            count += 1
            total ^= mark
        # Fewer than none is no set: rows were added behind the service's back. No set has that many either.
        return Tally(count % (1 << 32), total)


EMPTY = Tally(0, 0)


@dataclass(frozen=True, slots=True)
class FolderTallies:
    """The shared and the personal secrets of a folder."""

    shared: Tally = EMPTY
    personal: Tally = EMPTY

    def packed(self) -> bytes:
        """Return the bytes that are sealed."""
        return _FOLDER.pack(
            self.shared.count,
            self.shared.total.to_bytes(_MARK_BYTES),
            self.personal.count,
            self.personal.total.to_bytes(_MARK_BYTES),
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
    """The environments and folders of a project.

    `is_bound` says that all its secrets are sealed by a strict key: what another key sealed is refused.
    """

    places: Tally = EMPTY
    is_bound: bool = True

    def packed(self) -> bytes:
        """Return the bytes that are sealed."""
        return _PLACES.pack(self.is_bound, self.places.count, self.places.total.to_bytes(_MARK_BYTES))

    @classmethod
    def unpacked(cls, content: bytes) -> PlaceTally:
        """Return what these bytes say."""
        is_bound, count, total = _PLACES.unpack(content)
        return cls(Tally(count, int.from_bytes(total)), bool(is_bound))
