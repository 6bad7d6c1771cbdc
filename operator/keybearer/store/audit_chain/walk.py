"""The check of one chain, line by line: what is wrong with it, and where."""

from __future__ import annotations

import hmac
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.audit import AuditDetail, AuditRecord
from keybearer.store.audit_chain.macs import AuditKeys, content_of
from keybearer.store.audit_chain.register import ChainEntry, Fault, FaultKind
from keybearer.store.columns import as_stored, instant_of, record_columns
from keybearer.store.tables.audit import AuditChainRow, AuditLogRow

__all__ = [
    "ChainEnd",
    "ChainWalk",
    "ChainedLine",
    "StoredLine",
    "chain_ends",
    "chained_lines",
    "instant_in",
    "is_stray",
    "merged",
    "stored_line",
]

_NEIGHBOURS = 8
"""How many sequence numbers before and after its own are tried for a line that doesn't fit."""
_LOOKED_FOR = 200
"""For how many lines of a chain that is tried; later ones are only reported as changed."""
_HIGHEST = 1 << 62
"""No chain has so many lines. SQLite sorts texts and blobs, which somebody may put there, above all numbers."""
_NO_INSTANT = 1 << 47
"""Milliseconds: after the year 6000."""


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line as the database holds it.

    Attributes:
        record: with the beginning of 1970 for what is no instant, and no details for what is no JSON object.
        content: what its MAC covers; None if a column holds a value of another type.
    """

    record: AuditRecord
    content: bytes | None


@dataclass(frozen=True, slots=True)
class ChainedLine(StoredLine):
    """A line with its place in a chain."""

    sequence: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """Where the database says that a chain ends; `holds` says whether its MAC is right."""

    number: int
    sequence: int
    mac: bytes
    holds: bool


async def chain_ends(connection: AsyncConnection, keys: AuditKeys) -> list[ChainEnd]:
    """Return the ends of all chains that the database has."""
    statement = select(
        AuditChainRow.number,
        AuditChainRow.sequence,
        as_stored(AuditChainRow.mac.expression),
        as_stored(AuditChainRow.end_mac.expression),
    )
    return [
        ChainEnd(number, sequence, mac, keys.is_end(number, sequence, mac, end_mac))
        for number, sequence, mac, end_mac in await connection.execute(statement)
    ]


def instant_in(stored: object) -> datetime | None:
    """Return the instant of a stored number of milliseconds; None if the column holds something else."""
    return instant_of(stored) if isinstance(stored, int) and 0 <= stored < _NO_INSTANT else None


def is_stray(chains: Iterable[int]) -> ColumnElement[bool]:
    """Return the condition for lines of other chains than these, or without a valid sequence number."""
    return or_(
        AuditLogRow.chain.not_in(list(chains)),
        AuditLogRow.sequence.is_(None),
        AuditLogRow.sequence > _HIGHEST,
    )


async def chained_lines(
    connection: AsyncConnection, chain: int, *, after: ChainedLine | None, limit: int
) -> list[ChainedLine]:
    """Return the lines of the chain that follow `after`, or its first ones."""
    columns = (AuditLogRow.mac, *record_columns(AuditLogRow, AuditRecord))
    statement = select(AuditLogRow.sequence, *(as_stored(column.expression) for column in columns)).where(
        AuditLogRow.chain == chain, AuditLogRow.sequence <= _HIGHEST
    )
    if after is not None:
        # Sequence numbers are unique, unless somebody dropped the index and inserted a line.
        statement = statement.where(
            AuditLogRow.sequence >= after.sequence,
            (AuditLogRow.sequence > after.sequence) | (AuditLogRow.id > after.record.id),
        )
    statement = statement.order_by(AuditLogRow.sequence, AuditLogRow.id).limit(limit)
    rows = await connection.execute(statement)
    found = [(sequence, mac, stored_line(AuditRecord(*values))) for sequence, mac, *values in rows]
    return [
        ChainedLine(line.record, line.content, sequence, mac if isinstance(mac, bytes) else b"")
        for sequence, mac, line in found
    ]


def stored_line(stored: AuditRecord) -> StoredLine:
    """Return the line of columns as the database holds them (`as_stored`)."""
    at, details = instant_in(stored.created_at), _details_in(stored.details)
    record = replace(stored, created_at=at or instant_of(0), details=details or {})
    if at is None or details is None:
        return StoredLine(record, None)
    try:
        return StoredLine(record, content_of(record))
    except TypeError:  # a column of text holds a value of another type
        return StoredLine(record, None)


def _details_in(stored: object) -> Mapping[str, AuditDetail] | None:
    try:
        found = json.loads(stored) if isinstance(stored, str | bytes) else stored
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


class ChainWalk:
    """Checks the lines of a chain in the order of their sequence numbers, in batches."""

    def __init__(self, keys: AuditKeys, entry: ChainEntry) -> None:
        self._keys = keys
        self._entry = entry
        self.last = entry.cut
        """The sequence number of the last line."""
        self.last_mac = entry.cut_mac
        self.last_at: datetime | None = None
        self._after_gap = False
        self._former: deque[bytes] = deque([entry.cut_mac], maxlen=_NEIGHBOURS)
        self._looked_for = 0

    def take(self, lines: Sequence[ChainedLine]) -> Iterator[Fault]:
        """Yield what is wrong with these lines."""
        for place, line in enumerate(lines):
            yield from self._step(line, lines[place + 1 : place + 1 + _NEIGHBOURS])

    def _step(self, line: ChainedLine, following: Sequence[ChainedLine]) -> Iterator[Fault]:
        at = line.record.created_at
        if line.sequence <= self.last:
            # Retention removed it, or the number is there twice: the service wrote neither.
            yield self._fault(FaultKind.INSERTED, line.sequence, line.sequence, at)
            return
        if line.sequence != self.last + 1:
            fault = self._fault(FaultKind.GAP, self.last + 1, line.sequence - 1, self.last_at)
            yield replace(fault, before=at)
            self._after_gap = True
        if not self._fits(line, line.sequence, self.last_mac) and not self._after_gap:
            found = self._place_of(line, following)
            if found is None:
                yield self._fault(FaultKind.CHANGED, line.sequence, line.sequence, at)
            elif found != line.sequence:
                yield self._fault(FaultKind.MOVED, line.sequence, line.sequence, at)
        # The MAC of the line after a gap covers the MAC of a line that is missing, so it can't be checked.
        self._after_gap = False
        self.last, self.last_mac, self.last_at = line.sequence, line.mac, at
        self._former.append(line.mac)

    def _place_of(self, line: ChainedLine, following: Sequence[ChainedLine]) -> int | None:
        """Return the sequence number that the line was written with, if it is near; else None."""
        self._looked_for += 1
        if self._looked_for > _LOOKED_FOR:
            return None
        before = [*self._former, *(one.mac for one in following)]
        near = range(max(1, line.sequence - _NEIGHBOURS), line.sequence + _NEIGHBOURS + 1)
        for sequence in sorted(near, key=lambda one: abs(one - line.sequence)):
            if any(self._fits(line, sequence, mac) for mac in before):
                return sequence
        return None

    def _fits(self, line: ChainedLine, sequence: int, before: bytes) -> bool:
        if line.content is None:
            return False
        mac = self._keys.line(self._entry.number, sequence, before, line.content)
        return hmac.compare_digest(mac, line.mac)

    def _fault(self, kind: FaultKind, first: int, last: int, at: datetime | None) -> Fault:
        return Fault(kind, self._entry.number, self._entry.writer_id, first, last, at, at)


def merged(faults: Sequence[Fault]) -> list[Fault]:
    """Return the faults; those of one kind in consecutive lines of a chain become one."""
    found: list[Fault] = []
    for fault in faults:
        former = found[-1] if found else None
        if (
            former is not None
            and former.last is not None
            and (former.kind, former.chain, former.noted_at) == (fault.kind, fault.chain, fault.noted_at)
            and fault.first == former.last + 1
        ):
            found[-1] = replace(former, last=fault.last, before=fault.before)
        else:
            found.append(fault)
    return found
