"""The repository of the audit log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import OrganizationId
from keybearer.store.audit import AuditFilter, AuditRecord
from keybearer.store.audit_chain.retention import cut_lines, note_chains
from keybearer.store.audit_chain.taking_in import TakenIn, take_in
from keybearer.store.audit_chain.writing import AuditWriter, Chain, ChainLostError, append, begin_chain
from keybearer.store.columns import select_record
from keybearer.store.failures import RaceError
from keybearer.store.revisions import Changes
from keybearer.store.tables.audit import AuditLogRow
from keybearer.store.tables.identities import OrganizationRow

__all__ = ["AuditLog"]

_RECORDS = select_record(AuditLogRow, AuditRecord)


class AuditLog:
    """Repository of the audit log.

    Lines that are added are stored when the unit is about to commit, so that it holds a chain no longer than needed.
    """

    def __init__(self, connection: AsyncConnection, changes: Changes, writer: AuditWriter) -> None:
        self._connection = connection
        self._changes = changes
        self._writer = writer
        self._added: list[AuditRecord] = []
        self._chain: Chain | None = None
        self._longer: Chain | None = None

    async def add(self, records: Iterable[AuditRecord]) -> None:
        """Have these lines stored at the commit. Lines without an organization go to the oldest one."""
        rows = list(records)
        if any(row.organization_id is None for row in rows):
            oldest = await self._oldest_organization()
            rows = [replace(row, organization_id=row.organization_id or oldest) for row in rows]
        self._added += rows
        self._changes.audit_lines += len(rows)

    async def store(self) -> None:
        """Store the added lines. The unit commits or rolls back next; tell `settle` which of the two."""
        added, self._added = self._added, []
        if not added:
            return
        self._chain = self._writer.take()
        if self._chain is not None:
            try:
                self._longer = await append(self._connection, self._writer, self._chain, added)
            except ChainLostError:
                pass
            except (DBAPIError, RaceError):
                # Somebody may have inserted a line with the number of the next one: use another chain from now on.
                self._chain = None
                raise
            else:
                return
        begun = await begin_chain(self._connection, self._writer, lost=self._chain)
        self._longer = await append(self._connection, self._writer, begun, added)

    async def begin_chain(self, lost: Chain | None = None) -> None:
        """Register a new chain, which this process can use once the unit is committed."""
        self._chain = lost
        self._longer = await begin_chain(self._connection, self._writer, lost)

    def settle(self, *, committed: bool | None) -> None:
        """Give the chain back with its present end. If `committed` is None, nobody knows that: give the chain up."""
        chain = {True: self._longer, False: self._chain, None: None}[committed]
        self._chain = self._longer = None
        if chain is not None:
            self._writer.give_back(chain)

    async def stored(self, record_ids: Iterable[str]) -> set[str]:
        """Return which of these lines are there."""
        statement = select(AuditLogRow.id).where(AuditLogRow.id.in_(list(record_ids)))
        return set((await self._connection.execute(statement)).scalars())

    async def listed(self, wanted: AuditFilter, *, offset: int, limit: int) -> list[AuditRecord]:
        """Return the lines that are wanted, the latest first."""
        statement = (
            _RECORDS.where(*_conditions(wanted))
            .order_by(AuditLogRow.created_at.desc(), AuditLogRow.id)
            .offset(offset)
            .limit(limit)
        )
        return [AuditRecord(*row) for row in await self._connection.execute(statement)]

    async def prune(self, before: datetime, *, limit: int) -> int:
        """Remove up to `limit` lines older than the instant, and return how many; 0 when none is left.

        Lines are removed from the beginning of a chain, up to the first one that is younger; the register notes that.
        """
        return await cut_lines(self._connection, self._writer, before, limit)

    async def take_in(self, place: TakenIn | None, *, limit: int) -> TakenIn | None:
        """Chain up to `limit` lines of an earlier version that follow the place; None if there are none."""
        return await take_in(self._connection, self._writer, place, limit)

    async def note_chains(self, before: datetime) -> None:
        """Note in the register which line each chain reached, and drop chains whose lines are all removed."""
        await note_chains(self._connection, self._writer, before)

    async def _oldest_organization(self) -> OrganizationId | None:
        statement = select(OrganizationRow.id).order_by(OrganizationRow.created_at, OrganizationRow.id)
        found = (await self._connection.execute(statement.limit(1))).scalar_one_or_none()
        return None if found is None else OrganizationId(found)


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    conditions = [AuditLogRow.organization_id == wanted.organization_id]
    if wanted.project_id is not None:
        conditions.append(AuditLogRow.project_id == wanted.project_id)
    if wanted.event_types:
        conditions.append(AuditLogRow.event_type.in_(wanted.event_types))
    if wanted.actor_id is not None:
        conditions.append(AuditLogRow.actor_id == wanted.actor_id)
    if wanted.actor_kind is not None:
        conditions.append(AuditLogRow.actor_kind == wanted.actor_kind)
    if wanted.start is not None:
        conditions.append(AuditLogRow.created_at >= wanted.start)
    if wanted.end is not None:
        conditions.append(AuditLogRow.created_at <= wanted.end)
    return conditions
