"""The register of the audit log's chains: one sealed document, which only the service can read or change.

For each chain it says which process writes it, where it begins after retention cut it, and which line it had reached.
It also says whether lines of an earlier version may still be without a chain. It keeps the faults that the service
itself found.

It changes when a chain begins, when lines are cut, and every hour. Writing lines alone never changes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import orjson
from sqlalchemy import delete, func, insert, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.audit_chain.macs import AuditKeys
from keybearer.store.columns import as_stored, instant_of, milliseconds
from keybearer.store.locks import Lock, take_lock
from keybearer.store.sealing.envelope import Ciphertext, Plaintext, UnsealError, associate
from keybearer.store.tables.audit import AuditChainRow, AuditLogRow, AuditRegisterRow

__all__ = ["ChainEntry", "Fault", "FaultKind", "Register", "RegisterStore"]

_IDENTITY = associate("audit register")
_ONLY = 1
_MAX_NOTES = 500
_HIGHEST_COUNTED = 1 << 30
"""Above it, chain numbers in the tables are edits. Half of what the column holds is left for those that follow."""


class FaultKind(StrEnum):
    """What is wrong with the audit log."""

    REGISTER = "register"
    """The register of chains is missing, or was changed."""
    ROLLED_BACK = "rolled-back"
    """An earlier state was put back: the end of a chain, the register, or the whole log."""
    CHAIN_REMOVED = "removed-chain"
    CHAIN_UNKNOWN = "unknown-chain"
    """Lines name a chain that isn't in the register."""
    GAP = "gap"
    CHANGED = "changed"
    INSERTED = "inserted"
    MOVED = "moved"
    TRUNCATED = "truncated"
    """Lines are missing at the end of a chain."""
    END = "changed-end"
    """The end of a chain was changed."""
    UNCHAINED = "unchained"
    """Lines have no chain, although all lines of earlier versions are chained."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What was found to be wrong, and where.

    Attributes:
        chain: its number; None if the fault belongs to no chain.
        writer_id: the process that wrote the chain; None if that is unknown.
        first, last: sequence numbers of the lines, both included; None if the fault isn't about single lines.
        after, before: when the intact lines on both sides were written, or the line itself.
        lines: how many lines, if they have no sequence numbers.
        noted_at: when the service itself found it; None if the check found it now.
    """

    kind: FaultKind
    chain: int | None = None
    writer_id: str | None = None
    first: int | None = None
    last: int | None = None
    after: datetime | None = None
    before: datetime | None = None
    lines: int | None = None
    noted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChainEntry:
    """A chain in the register.

    Attributes:
        cut: the sequence number of the last line that retention removed; 0 for none.
        cut_mac: the MAC of that line; with none, the MAC before the first line.
        cut_at, cut_why: when lines were removed, and for which reason.
        seen: a sequence number that the chain is known to have reached.
        is_taken_in: its lines are of an earlier version. Nobody knows whether they were edited before that.
    """

    number: int
    writer_id: str
    began_at: datetime
    cut_mac: bytes
    cut: int = 0
    cut_at: datetime | None = None
    cut_why: str = ""
    seen: int = 0
    is_taken_in: bool = False


@dataclass(frozen=True, slots=True)
class Register:
    """The content of the register.

    Attributes:
        revision: grows by one with each change.
        began_at: since when lines are chained.
        last_number: the highest number that a chain was given.
        takes_in: lines without a chain are of an earlier version, and are still to be chained. If false, a line
            without a chain is a fault.
        cut_unchained: how many lines of an earlier version retention removed before they were chained.
        ended, ended_lines: chains whose lines were all removed by retention, and how many lines they had.
        notes: faults that the service found; kept for as long as lines are.
    """

    began_at: datetime
    revision: int = 0
    last_number: int = 0
    takes_in: bool = False
    cut_unchained: int = 0
    chains: Mapping[int, ChainEntry] = field(default_factory=dict)
    ended: int = 0
    ended_lines: int = 0
    notes: tuple[Fault, ...] = ()

    def with_entry(self, entry: ChainEntry) -> Register:
        """Return the register with this entry in place of the chain's former one."""
        return replace(
            self,
            chains={**self.chains, entry.number: entry},
            last_number=max(self.last_number, entry.number),
        )

    def without(self, number: int, lines: int) -> Register:
        """Return the register without this chain, which had `lines` lines in all."""
        chains = {other: entry for other, entry in self.chains.items() if other != number}
        return replace(self, chains=chains, ended=self.ended + 1, ended_lines=self.ended_lines + lines)

    def noting(self, faults: Iterable[Fault], now: datetime) -> Register:
        """Return the register with these faults, found at this instant."""
        noted = tuple(replace(fault, noted_at=now) for fault in faults)
        return replace(self, notes=(*self.notes, *noted)[:_MAX_NOTES]) if noted else self


class RegisterStore:
    """Repository of the register."""

    def __init__(self, connection: AsyncConnection, keys: AuditKeys) -> None:
        self._connection = connection
        self._keys = keys

    async def found(self) -> Register | None:
        """Return the register, or None if there is none.

        Raises:
            UnsealError: it was changed, or sealed with another key.
        """
        statement = select(as_stored(AuditRegisterRow.content.expression).label("content")).where(
            AuditRegisterRow.id == _ONLY
        )
        row = (await self._connection.execute(statement)).one_or_none()
        if row is None:
            return None
        if not isinstance(row.content, bytes):
            raise UnsealError(
                "the register of the audit log's chains holds a value of another type; somebody edited the database"
            )
        return _read(self._keys.register.open(Ciphertext(row.content), _IDENTITY))

    async def locked(self, now: datetime) -> Register:
        """Return the register, to change it: other processes that change it wait until the unit ends.

        If it is missing or doesn't open, this is a new one that notes that.
        """
        await take_lock(self._connection, Lock.AUDIT_REGISTER)
        try:
            found = await self.found()
        except UnsealError:
            found = None
        if found is not None:
            return found
        return Register(began_at=now, last_number=await self.highest_number()).noting(
            [Fault(FaultKind.REGISTER)], now
        )

    async def is_there(self) -> bool:
        """Return whether the database has a register, even one that doesn't open."""
        return (await self._connection.execute(select(AuditRegisterRow.id))).first() is not None

    async def store(self, register: Register) -> Register:
        """Store the register as its next revision, and return that revision."""
        stored = replace(register, revision=register.revision + 1)
        sealed = self._keys.register.seal(Plaintext(_written(stored)), _IDENTITY)
        await self._connection.execute(delete(AuditRegisterRow))
        await self._connection.execute(insert(AuditRegisterRow).values(id=_ONLY, content=sealed))
        return stored

    async def free_number(self, register: Register) -> int:
        """Return a number for a new chain: no other chain has it, and no line or end in the tables."""
        number = max(register.last_number, await self.highest_number()) + 1
        while number > _HIGHEST_COUNTED and await self._is_taken(number):
            number += 1
        return number

    async def highest_number(self) -> int:
        """Return the highest chain number that any line or end has; 0 if there is none.

        Numbers that no chain can have are skipped, and so are values of other types, which SQLite sorts above all
        numbers.
        """
        highest = 0
        for column in (AuditChainRow.number, AuditLogRow.chain):
            statement = select(func.max(column)).where(column.between(1, _HIGHEST_COUNTED))
            found = (await self._connection.execute(statement)).scalar_one()
            # Of a fraction, which SQLite keeps, the whole part: it is not below any number that was found.
            highest = max(highest, int(found or 0))
        return highest

    async def _is_taken(self, number: int) -> bool:
        ends = select(AuditChainRow.number).where(AuditChainRow.number == number)
        lines = select(AuditLogRow.chain).where(AuditLogRow.chain == number)
        return (await self._connection.execute(union_all(ends, lines).limit(1))).first() is not None


def _written(register: Register) -> bytes:
    return orjson.dumps(
        {
            "revision": register.revision,
            "beganAt": milliseconds(register.began_at),
            "lastNumber": register.last_number,
            "takesIn": register.takes_in,
            "cutUnchained": register.cut_unchained,
            "chains": [_entry_written(entry) for entry in register.chains.values()],
            "ended": [register.ended, register.ended_lines],
            "notes": [_fault_written(fault) for fault in register.notes],
        }
    )


def _entry_written(entry: ChainEntry) -> list[object]:
    return [
        entry.number,
        entry.writer_id,
        milliseconds(entry.began_at),
        entry.cut_mac.hex(),
        entry.cut,
        _written_instant(entry.cut_at),
        entry.cut_why,
        entry.seen,
        entry.is_taken_in,
    ]


def _fault_written(fault: Fault) -> list[object]:
    return [
        fault.kind.value,
        fault.chain,
        fault.writer_id,
        fault.first,
        fault.last,
        _written_instant(fault.after),
        _written_instant(fault.before),
        fault.lines,
        _written_instant(fault.noted_at),
    ]


def _read(content: bytes) -> Register:
    # What opens was written by this program: nothing else has the key.
    found: dict[str, Any] = orjson.loads(content)
    entries = [
        ChainEntry(
            number,
            writer,
            instant_of(began),
            bytes.fromhex(mac),
            up_to,
            _read_instant(cut_at),
            why,
            seen,
            taken_in,
        )
        for number, writer, began, mac, up_to, cut_at, why, seen, taken_in in found["chains"]
    ]
    notes = [
        Fault(
            FaultKind(kind),
            chain,
            writer,
            first,
            last,
            _read_instant(after),
            _read_instant(before),
            count,
            _read_instant(noted),
        )
        for kind, chain, writer, first, last, after, before, count, noted in found["notes"]
    ]
    return Register(
        began_at=instant_of(found["beganAt"]),
        revision=found["revision"],
        last_number=found["lastNumber"],
        takes_in=found["takesIn"],
        cut_unchained=found["cutUnchained"],
        chains={entry.number: entry for entry in entries},
        ended=found["ended"][0],
        ended_lines=found["ended"][1],
        notes=tuple(notes),
    )


def _written_instant(instant: datetime | None) -> int | None:
    return None if instant is None else milliseconds(instant)


def _read_instant(written: int | None) -> datetime | None:
    return None if written is None else instant_of(written)
