"""Which process goes on with which certificate requests: claims, and the leases under which they hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, func, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.columns import select_record
from keybearer.store.tables.certificates import CertificateRequestRow

__all__ = ["CertificateRequestClaims"]

_REQUESTS = select_record(CertificateRequestRow, CertificateRequest)


class CertificateRequestClaims:
    """Repository of who goes on with what."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def claim(
        self,
        process_id: str,
        now: datetime,
        lease_ends_at: datetime,
        limit: int,
        *,
        busy_authorities: Sequence[str] = (),
    ) -> list[CertificateRequest]:
        """Take requests that the service is to go on with, those due first; other processes leave them alone.

        Whoever has one is done with its step before the lease ends, and gives it up by `CertificateRequests.update`.
        None is taken of an authority that is busy.
        """
        row = CertificateRequestRow
        due = (
            _REQUESTS.where(*_due(now, busy_authorities))
            .order_by(row.due_at, row.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        found = [CertificateRequest(*one) for one in await self._connection.execute(due)]
        await self._connection.execute(
            update(row)
            .where(row.id.in_([one.id for one in found]))
            .values(claimed_by=process_id, lease_ends_at=lease_ends_at)
        )
        return found

    async def is_any_due(self, now: datetime, busy_authorities: Sequence[str] = ()) -> bool:
        """Return whether `claim` would find one."""
        statement = select(literal(1)).where(*_due(now, busy_authorities)).limit(1)
        return (await self._connection.execute(statement)).first() is not None

    async def next_due(self, after: datetime) -> datetime | None:
        """Return when the service is to go on with a request next, of those that nobody has; None: with none."""
        row = CertificateRequestRow
        # One that is due already but of a busy authority is looked at when that has room.
        statement = select(func.min(func.coalesce(row.lease_ends_at, row.due_at))).where(
            row.due_at.is_not(None), func.coalesce(row.lease_ends_at, row.due_at) > after
        )
        return (await self._connection.execute(statement)).scalar_one_or_none()

    async def give_up(self) -> None:
        """Have nobody work on any request: the processes that did are gone."""
        await self._connection.execute(
            update(CertificateRequestRow)
            .where(CertificateRequestRow.claimed_by.is_not(None))
            .values(claimed_by=None, lease_ends_at=None)
        )


def _due(now: datetime, busy_authorities: Sequence[str]) -> tuple[ColumnElement[bool], ...]:
    row = CertificateRequestRow
    return (
        row.due_at <= now,
        or_(row.claimed_by.is_(None), row.lease_ends_at <= now),
        or_(row.authority_id.is_(None), row.authority_id.not_in(busy_authorities)),
    )
