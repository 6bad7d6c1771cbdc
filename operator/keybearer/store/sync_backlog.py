"""What secret syncs have not pushed yet: since when, and how many names a run knew to be left.

It is kept with each sync, in the transactions that queue a push, note its progress and end it, so that every process
tells the same of it without a look at a source or a remote.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.columns import Instant
from keybearer.store.tables.secret_syncs import SecretSyncRow

__all__ = ["Backlog", "SyncBacklog"]


@dataclass(frozen=True, slots=True)
class Backlog:
    """What syncs with one kind of destination have not pushed yet.

    Attributes:
        destination: in interface.md's words.
        syncs: those with a change that isn't in place.
        keys: names that their last runs had planned to write or remove, and didn't come to.
        oldest: since when the oldest of these changes waits; None where none does.
    """

    destination: str
    syncs: int
    keys: int
    oldest: datetime | None


class SyncBacklog:
    """Repository of what isn't pushed yet."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def begin(self, sync_id: str, now: datetime) -> None:
        """Note that there is something to push; where something waits already, its instant stays."""
        await self._connection.execute(
            update(SecretSyncRow)
            .where(SecretSyncRow.id == sync_id, SecretSyncRow.unpushed_since.is_(None))
            .values(unpushed_since=now)
        )

    async def note_keys(self, sync_id: str, keys: int) -> None:
        """Note how many names a run has still to write or remove."""
        await self._connection.execute(
            update(SecretSyncRow).where(SecretSyncRow.id == sync_id).values(unpushed_keys=keys)
        )

    async def end(self, sync_id: str, since: datetime | None) -> None:
        """Note that a push ended well; `since` is when what waits behind it came, None where nothing does."""
        await self._connection.execute(
            update(SecretSyncRow)
            .where(SecretSyncRow.id == sync_id)
            .values(unpushed_since=since, unpushed_keys=0)
        )

    async def by_destination(self) -> list[Backlog]:
        """Return it for each destination that syncs have, by name; read from one index."""
        row = SecretSyncRow
        statement = (
            select(
                row.destination,
                func.count(row.unpushed_since),
                func.sum(row.unpushed_keys),
                func.min(row.unpushed_since, type_=Instant),
            )
            .group_by(row.destination)
            .order_by(row.destination)
        )
        return [
            Backlog(destination, syncs, int(keys), oldest)
            for destination, syncs, keys, oldest in await self._connection.execute(statement)
        ]
