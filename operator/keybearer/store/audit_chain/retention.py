"""Retention of the audit log: old lines are removed from the beginning of their chain, and the register records that.

Lines are checked before they are removed, so that retention can't hide an edit. The register keeps what was wrong
with them for as long as lines are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile

from sqlalchemy import CursorResult, bindparam, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.audit_chain.register import ChainEntry, Fault, FaultKind, Register, RegisterStore
from keybearer.store.audit_chain.taking_in import unchained_lines
from keybearer.store.audit_chain.walk import ChainWalk, chain_ends, chained_lines, is_stray, merged
from keybearer.store.audit_chain.writing import AuditWriter
from keybearer.store.columns import number_in
from keybearer.store.tables.audit import AuditChainRow, AuditLogRow

__all__ = ["cut_lines", "note_chains"]

_WHY = "retention"


async def cut_lines(connection: AsyncConnection, writer: AuditWriter, before: datetime, limit: int) -> int:
    """Remove up to `limit` lines of one chain that are older than the instant; return how many, 0 if none is left."""
    cut = await _Cut.begun(connection, writer, before, limit)
    if removed := await cut.unchained():
        return removed
    for entry in cut.register.chains.values():
        if entry.began_at < before and (removed := await cut.of_chain(entry)):
            return removed
    return await cut.strays()


@dataclass(slots=True)
class _Cut:
    """One batch of lines that are removed."""

    connection: AsyncConnection
    writer: AuditWriter
    store: RegisterStore
    register: Register
    before: datetime
    limit: int
    now: datetime

    @classmethod
    async def begun(
        cls, connection: AsyncConnection, writer: AuditWriter, before: datetime, limit: int
    ) -> _Cut:
        store, now = RegisterStore(connection, writer.keys), writer.clock.now()
        register = await store.locked(now)
        return cls(connection, writer, store, register, before, limit, now)

    async def unchained(self) -> int:
        """Remove lines of an earlier version that aren't chained yet."""
        if not self.register.takes_in:
            return 0
        found = await unchained_lines(self.connection, limit=self.limit, before=self.before)
        if not found:
            return 0
        await self._delete(line.record.id for line in found)
        cut = self.register.cut_unchained + len(found)
        await self.store.store(replace(self.register, cut_unchained=cut))
        return len(found)

    async def of_chain(self, entry: ChainEntry) -> int:
        lines = await chained_lines(self.connection, entry.number, after=None, limit=self.limit)
        old = list(takewhile(lambda line: line.record.created_at < self.before, lines))
        if not old:
            return 0
        walk = ChainWalk(self.writer.keys, entry)
        faults = merged(list(walk.take(old)))
        await self._delete(line.record.id for line in old)
        now_cut = replace(entry, cut=walk.last, cut_mac=walk.last_mac, cut_at=self.now, cut_why=_WHY)
        await self.store.store(self.register.with_entry(now_cut).noting(faults, self.now))
        return len(old)

    async def strays(self) -> int:
        """Remove lines without a chain, of a chain that isn't in the register, or without a valid sequence number."""
        statement = (
            select(AuditLogRow.id, AuditLogRow.chain)
            .where(
                AuditLogRow.created_at < self.before,
                or_(AuditLogRow.chain.is_(None), is_stray(self.register.chains)),
            )
            .limit(self.limit)
        )
        rows = (await self.connection.execute(statement)).all()
        if not rows:
            return 0
        await self._delete(row.id for row in rows)
        faults = [
            Fault(
                FaultKind.UNCHAINED if chain is None else FaultKind.CHAIN_UNKNOWN,
                number_in(chain),
                lines=lines,
            )
            for chain, lines in Counter(row.chain for row in rows).items()
        ]
        await self.store.store(self.register.noting(faults, self.now))
        return len(rows)

    async def _delete(self, ids: Iterable[str]) -> None:
        # With its type named: SQLAlchemy would take that of the first id, which on SQLite may be edited into another.
        named = bindparam("ids", list(ids), type_=AuditLogRow.id.type, expanding=True)
        await self.connection.execute(delete(AuditLogRow).where(AuditLogRow.id.in_(named)))


async def note_chains(connection: AsyncConnection, writer: AuditWriter, before: datetime) -> None:
    """Note in the register which line each chain reached; drop chains that are over and faults that are too old.

    A chain is over when it began before the instant and retention removed all its lines. If its end is missing or
    wrong, that is noted first: no later check could find it.
    """
    store, now = RegisterStore(connection, writer.keys), writer.clock.now()
    register = found = await store.locked(now)
    kept = tuple(note for note in register.notes if note.noted_at is None or note.noted_at >= before)
    register = replace(register, notes=kept)
    found_ends = await chain_ends(connection, writer.keys)
    ends = {end.number: end.sequence for end in found_ends if end.holds}
    changed = {end.number for end in found_ends if not end.holds}
    for entry in found.chains.values():
        seen = max(entry.seen, ends.get(entry.number, 0))
        if seen != entry.seen:
            register = register.with_entry(replace(entry, seen=seen))
        if entry.began_at < before and await _is_over(connection, entry, ends.get(entry.number)):
            if entry.number not in ends or seen != entry.cut:
                kind = FaultKind.TRUNCATED if entry.number in ends else FaultKind.CHAIN_REMOVED
                kind = FaultKind.END if entry.number in changed else kind
                first = entry.cut + 1 if seen > entry.cut else None
                fault = Fault(kind, entry.number, entry.writer_id, first, max(seen, entry.cut))
                register = register.noting([fault], now)
            register = register.without(entry.number, seen)
    if register != found or register.revision == 0:
        await store.store(register)


async def _is_over(connection: AsyncConnection, entry: ChainEntry, end: int | None) -> bool:
    """Return whether the chain has no lines; then its end is removed too, unless a process is writing the chain."""
    lines = select(func.count()).select_from(AuditLogRow).where(AuditLogRow.chain == entry.number)
    if (await connection.execute(lines)).scalar_one():
        return False
    statement = delete(AuditChainRow).where(AuditChainRow.number == entry.number)
    if end is not None:
        statement = statement.where(AuditChainRow.sequence == end)
    deleted: CursorResult[object] = await connection.execute(statement)
    return end is None or deleted.rowcount == 1
