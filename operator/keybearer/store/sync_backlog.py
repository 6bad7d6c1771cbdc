"""What secret syncs have not pushed yet: since when, and how many names a run knew to be left.

It is kept with each sync, in the transactions that queue a push, note its progress and end it, so that every process
tells the same of it without a look at a source or a remote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.store.columns import Instant
from keybearer.store.tables.secret_syncs import SecretSyncRow

__all__ = ["Backlog", "SyncBacklog", "pushed"]

_NOTE_KEYS = (
    update(SecretSyncRow)
    .where(SecretSyncRow.id == bindparam("sync_id"))
    .values(unpushed_keys=bindparam("keys"))
)


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


def pushed(since: datetime | None, *, all_arrived: bool) -> Mapping[str, object]:
    """Return what is known after a push that ended, for `SecretSyncs.end`.

    Args:
        since: when what waits behind it came; None where nothing does.
        all_arrived: whether all of it is in place; of refused names it stays known since when they wait.
    """
    return {"unpushed_keys": 0, **({"unpushed_since": since} if all_arrived else {})}


class SyncBacklog:
    """Repository of what isn't pushed yet."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def note_keys(self, sync_id: str, keys: int) -> None:
        """Note how many names a run has still to write or remove."""
        await self._connection.execute(_NOTE_KEYS, {"sync_id": sync_id, "keys": keys})

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
