"""Names at the remotes of syncs that aren't as wanted: what failed, and what is others'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice

from sqlalchemy import bindparam, delete, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.runs import in_chunks
from keybearer.store.columns import select_record
from keybearer.store.tables.secret_syncs import SyncNameRow

__all__ = ["FOREIGN_MAX", "NameState", "SyncName", "SyncNames"]

FOREIGN_MAX = 1000
"""Names of others that are kept of one sync; a place may hold any number."""
_CHUNK = 200


class NameState(StrEnum):
    """What is known of a name."""

    FAILED = "failed"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class SyncName:
    """A name of a sync that failed, with the reason, or that the last look found to be others'."""

    name: str
    state: str
    message: str | None
    noted_at: datetime


# Built once: each run asks for it.
_OF_SYNC = (
    select_record(SyncNameRow, SyncName)
    .where(SyncNameRow.sync_id == bindparam("sync_id"))
    .order_by(SyncNameRow.name, SyncNameRow.state)
)


class SyncNames:
    """Repository of these names."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def of_sync(self, sync_id: str) -> list[SyncName]:
        """Return what is known of the sync, by name."""
        rows = await self._connection.execute(_OF_SYNC, {"sync_id": sync_id})
        return [SyncName(*row) for row in rows]

    async def failing(self, sync_id: str) -> dict[str, SyncName]:
        """Return the names of the sync that failed, by name."""
        known = await self.of_sync(sync_id)
        return {one.name: one for one in known if one.state == NameState.FAILED}

    async def note_failed(self, sync_id: str, messages: Mapping[str, str], now: datetime) -> None:
        """Remember why names failed, in place of what was known of them."""
        await self.forget_failed(sync_id, messages)
        await self._add(sync_id, NameState.FAILED, messages.items(), now)

    async def forget_failed(self, sync_id: str, names: Iterable[str]) -> None:
        """Forget that these names failed."""
        for some in in_chunks(sorted(names), _CHUNK):
            await self._connection.execute(
                delete(SyncNameRow).where(
                    SyncNameRow.sync_id == sync_id,
                    SyncNameRow.state == NameState.FAILED,
                    SyncNameRow.name.in_(some),
                )
            )

    async def note_foreign(self, sync_id: str, names: Iterable[str], now: datetime) -> None:
        """Remember what the last look found to be others', the first of them by name, in place of the look before."""
        await self._connection.execute(
            delete(SyncNameRow).where(SyncNameRow.sync_id == sync_id, SyncNameRow.state == NameState.FOREIGN)
        )
        found = islice(sorted(names), FOREIGN_MAX)
        await self._add(sync_id, NameState.FOREIGN, ((name, None) for name in found), now)

    async def clear(self, sync_id: str) -> None:
        """Forget all of the sync: it has another place."""
        await self._connection.execute(delete(SyncNameRow).where(SyncNameRow.sync_id == sync_id))

    async def _add(
        self, sync_id: str, state: NameState, names: Iterable[tuple[str, str | None]], now: datetime
    ) -> None:
        rows = [
            {"sync_id": sync_id, "state": state.value, "name": name, "message": message, "noted_at": now}
            for name, message in names
        ]
        if rows:
            await self._connection.execute(insert(SyncNameRow), rows)
