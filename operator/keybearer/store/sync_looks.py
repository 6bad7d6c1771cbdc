"""Which secret syncs' remotes are to be looked at, for what others changed there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.tables.secret_syncs import SecretSyncRow, SyncJobRow

__all__ = ["SyncLooks"]


class SyncLooks:
    """Repository of looks at remotes.

    Looked at are syncs that changes set off, whose last push wrote all that can be written, and for which no job
    waits or runs.
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def due(
        self,
        listed_before: datetime,
        limit: int,
        *,
        listed_after: datetime,
        among: Sequence[str] | None = None,
    ) -> list[str]:
        """Return the ids of syncs whose remote nobody has looked at since then, the longest ago first.

        A look that is noted for after `listed_after` was dated by a clock that was ahead: it counts as none.
        With `among` only those of these that still are; whoever has them locked may act upon it.
        """
        row = SecretSyncRow
        statement = select(row.id).where(
            *_is_at_rest(),
            or_(row.listed_at.is_(None), row.listed_at <= listed_before, row.listed_at > listed_after),
        )
        if among is not None:
            statement = statement.where(row.id.in_(among))
        statement = statement.order_by(row.listed_at.asc().nulls_first(), row.id).limit(limit)
        return list((await self._connection.execute(statement)).scalars())

    async def first_listed(self) -> datetime | None:
        """Return when the look was that is the longest ago; None if nothing is looked at."""
        statement = select(func.min(SecretSyncRow.listed_at)).where(*_is_at_rest())
        return (await self._connection.execute(statement)).scalar_one()

    async def note(self, sync_id: str, listed_at: datetime | None, message: str | None) -> None:
        """Note when the remote was found as it was left, and what people are to know of it all the same."""
        await self._connection.execute(
            update(SecretSyncRow)
            .where(SecretSyncRow.id == sync_id)
            .values(listed_at=listed_at, last_sync_message=message)
        )


def _is_at_rest() -> tuple[ColumnElement[bool], ...]:
    row = SecretSyncRow
    return (
        row.is_auto_sync_enabled.is_(True),
        row.folder_id.is_not(None),
        row.is_settled.is_(True),
        ~select(SyncJobRow.id).where(SyncJobRow.sync_id == row.id).exists(),
    )
