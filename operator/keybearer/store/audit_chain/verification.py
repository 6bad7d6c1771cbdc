"""The check of the whole audit log: is every line there, as it was written, and no other line?

Everything is read from one snapshot, so lines, ends and register belong together even while the service writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.audit_chain.macs import AuditKeys
from keybearer.store.audit_chain.register import ChainEntry, Fault, FaultKind, Register, RegisterStore
from keybearer.store.audit_chain.walk import (
    ChainedLine,
    ChainEnd,
    ChainWalk,
    chain_ends,
    chained_lines,
    instant_in,
    is_stray,
    merged,
)
from keybearer.store.columns import as_stored, number_in
from keybearer.store.sealing.envelope import UnsealError
from keybearer.store.tables.audit import AuditLogRow

__all__ = ["AuditVerification", "CheckedChain", "Known", "check_audit_log"]

_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class CheckedChain:
    """A chain as the check found it.

    Attributes:
        lines: how many lines it has.
        cut: the sequence number of the last line that retention removed; 0 for none.
        last: the sequence number of its last line.
        is_taken_in: its lines are of an earlier version, and were chained later.
    """

    number: int
    writer_id: str
    began_at: datetime
    lines: int
    cut: int
    cut_at: datetime | None
    cut_why: str
    last: int
    is_taken_in: bool


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """What the check found.

    Attributes:
        revision: of the register; 0 if it is missing.
        began_at: since when lines are chained; None if the register is missing.
        lines: how many lines there are, with and without a chain.
        waiting: how many lines of an earlier version are still to be chained; they can't be checked yet.
        taken_in: how many lines of an earlier version were chained later.
        cut: how many lines retention removed, with and without a chain.
        faults: those that the service noted before, then those that the check found.
    """

    revision: int
    began_at: datetime | None
    lines: int
    waiting: int
    taken_in: int
    cut: int
    chains: tuple[CheckedChain, ...]
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What an earlier check found: the revision of the register, and where each chain ended, by its number."""

    revision: int
    ends: dict[int, int] = field(default_factory=dict)


async def check_audit_log(
    connection: AsyncConnection, keys: AuditKeys, known: Known | None = None
) -> AuditVerification:
    """Return what the check finds; with `known`, also whether an earlier state was put back as a whole."""
    return await _Check(connection, keys).made(known)


class _Check:
    def __init__(self, connection: AsyncConnection, keys: AuditKeys) -> None:
        self._connection = connection
        self._keys = keys
        self._faults: list[Fault] = []
        self._chains: list[CheckedChain] = []

    async def made(self, known: Known | None) -> AuditVerification:
        register = await self._register()
        unchained = await self._unchained(register)
        ends = await self._ends()
        for entry in register.chains.values():
            await self._chain(entry, ends.get(entry.number))
        await self._strays(register, ends)
        if known is not None:
            self._faults += _rolled_back(register, ends, known)
        cut = register.cut_unchained + register.ended_lines + sum(one.cut for one in register.chains.values())
        return AuditVerification(
            revision=register.revision,
            began_at=register.began_at if register.revision else None,
            lines=unchained + sum(chain.lines for chain in self._chains),
            waiting=unchained if register.takes_in else 0,
            taken_in=sum(chain.lines for chain in self._chains if chain.is_taken_in),
            cut=cut,
            chains=tuple(self._chains),
            faults=(*register.notes, *merged(self._faults)),
        )

    async def _register(self) -> Register:
        try:
            found = await RegisterStore(self._connection, self._keys).found()
        except UnsealError:
            found = None
        if found is None:
            self._faults.append(Fault(FaultKind.REGISTER))
            return Register(began_at=datetime.min)  # noqa: DTZ901 - never shown
        return found

    async def _unchained(self, register: Register) -> int:
        instants = [as_stored(pick(AuditLogRow.created_at)) for pick in (func.min, func.max)]
        counted = select(func.count(), *instants).where(AuditLogRow.chain.is_(None))
        lines, first_at, last_at = (await self._connection.execute(counted)).one()
        if lines and not register.takes_in:
            after, before = instant_in(first_at), instant_in(last_at)
            self._faults.append(Fault(FaultKind.UNCHAINED, lines=lines, after=after, before=before))
        return int(lines)

    async def _ends(self) -> dict[int, ChainEnd]:
        return {end.number: end for end in await chain_ends(self._connection, self._keys)}

    async def _chain(self, entry: ChainEntry, end: ChainEnd | None) -> None:
        walk = ChainWalk(self._keys, entry)
        after: ChainedLine | None = None
        count = 0
        last = entry.seen if end is None or not end.holds else end.sequence
        while found := await chained_lines(self._connection, entry.number, after=after, limit=_AT_ONCE):
            after = found[-1]
            count += len(found)
            self._faults += (_as_inserted(fault, end) for fault in walk.take(found))
        self._faults += self._at_end(entry, end, walk)
        self._chains.append(
            CheckedChain(
                entry.number,
                entry.writer_id,
                entry.began_at,
                count,
                entry.cut,
                entry.cut_at,
                entry.cut_why,
                max(last, walk.last),
                entry.is_taken_in,
            )
        )

    def _at_end(self, entry: ChainEntry, end: ChainEnd | None, walk: ChainWalk) -> Iterator[Fault]:
        def fault(kind: FaultKind, first: int | None = None, last: int | None = None) -> Fault:
            return Fault(kind, entry.number, entry.writer_id, first, last, after=walk.last_at)

        if end is None:
            # At least so many: it may have grown since the register was last updated.
            reached = max(entry.seen, walk.last)
            yield fault(FaultKind.CHAIN_REMOVED, walk.last + 1 if reached > walk.last else None, reached)
        elif not end.holds:
            yield fault(FaultKind.END)
        elif entry.seen > end.sequence:
            yield fault(FaultKind.ROLLED_BACK, end.sequence + 1, entry.seen)
        elif walk.last < end.sequence:
            yield fault(FaultKind.TRUNCATED, walk.last + 1, end.sequence)
        elif walk.last > end.sequence:
            if not any((one.kind, one.chain) == (FaultKind.INSERTED, entry.number) for one in self._faults):
                yield fault(FaultKind.END, end.sequence + 1, walk.last)
        elif walk.last_mac != end.mac:
            yield fault(FaultKind.END)

    async def _strays(self, register: Register, ends: dict[int, ChainEnd]) -> None:
        """Find lines and ends of chains that aren't in the register, and lines without a valid sequence number."""
        counted = (
            select(AuditLogRow.chain, func.count(), as_stored(func.min(AuditLogRow.created_at)))
            .where(AuditLogRow.chain.is_not(None), is_stray(register.chains))
            .group_by(AuditLogRow.chain)
            .order_by(AuditLogRow.chain)
        )
        told: set[int | None] = set()
        for stored, lines, first_at in await self._connection.execute(counted):
            chain = number_in(stored)
            told.add(chain)
            at = instant_in(first_at)
            self._faults.append(Fault(FaultKind.CHAIN_UNKNOWN, chain, lines=lines, after=at, before=at))
        for number in sorted(ends.keys() - register.chains.keys() - told):
            self._faults.append(Fault(FaultKind.CHAIN_UNKNOWN, number, lines=0))


def _as_inserted(fault: Fault, end: ChainEnd | None) -> Fault:
    """Return the fault; a line that doesn't fit and follows the end was never written by the service."""
    is_behind = end is not None and end.holds and fault.first is not None and fault.first > end.sequence
    return replace(fault, kind=FaultKind.INSERTED) if is_behind and fault.kind is FaultKind.CHANGED else fault


def _rolled_back(register: Register, ends: dict[int, ChainEnd], known: Known) -> Iterator[Fault]:
    if register.revision < known.revision:
        yield Fault(FaultKind.ROLLED_BACK)
    for number, sequence in sorted(known.ends.items()):
        entry, end = register.chains.get(number), ends.get(number)
        if entry is None:
            if register.revision <= known.revision:
                yield Fault(FaultKind.ROLLED_BACK, number, last=sequence)
        elif end is not None and end.holds and entry.seen <= end.sequence < sequence:
            yield Fault(FaultKind.ROLLED_BACK, number, entry.writer_id, end.sequence + 1, sequence)
