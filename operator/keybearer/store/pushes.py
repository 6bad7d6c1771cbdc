"""The push ledger: what is known to have arrived at the remotes of syncs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.runs import in_chunks
from keybearer.store.secret_syncs import SyncRecord
from keybearer.store.tables.secret_syncs import PushRow, SecretSyncRow

__all__ = ["Push", "Pushes"]

_CHUNK = 200


@dataclass(frozen=True, slots=True)
class Push:
    """What was written last under a name of the remote.

    Attributes:
        digest: keyed digest of the value and of what was kept beside it.
        remote_version: what the remote showed for it afterwards; None where that isn't known.
    """

    name: str
    digest: bytes = field(repr=False)
    remote_version: str | None


class Pushes:
    """Repository of the ledger."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def of_sync(self, sync_id: str) -> dict[str, Push]:
        """Return what was written for the sync, by name."""
        statement = select(PushRow.name, PushRow.digest, PushRow.remote_version)
        rows = await self._connection.execute(statement.where(PushRow.sync_id == sync_id))
        return {row.name: Push(row.name, row.digest, row.remote_version) for row in rows}

    async def of_others(self, sync: SyncRecord, names: Iterable[str]) -> dict[str, str | None]:
        """Return which of these names other syncs wrote to the same place, each with the name of one that did.

        The same place is the same configuration over the same connection. A sync of another project has no name here:
        who sees this one need not see that.
        """
        statement = (
            select(PushRow.name, SecretSyncRow.name, SecretSyncRow.project_id)
            .join(SecretSyncRow, SecretSyncRow.id == PushRow.sync_id)
            .where(
                SecretSyncRow.destination_digest == sync.destination_digest,
                SecretSyncRow.connection_id == sync.connection_id,
                SecretSyncRow.id != sync.id,
            )
            .order_by(SecretSyncRow.created_at.desc(), SecretSyncRow.id)
        )
        found: dict[str, str | None] = {}
        for some in in_chunks(sorted(names), _CHUNK):
            rows = await self._connection.execute(statement.where(PushRow.name.in_(some)))
            for name, owner, project_id in rows:
                found[name] = owner if project_id == sync.project_id else found.get(name)
        return found

    async def note(self, sync_id: str, pushes: Iterable[Push]) -> None:
        """Remember what was written, in place of what was known under the same names."""
        noted = list(pushes)
        await self.forget(sync_id, [push.name for push in noted])
        if noted:
            await self._connection.execute(
                insert(PushRow),
                [
                    {
                        "sync_id": sync_id,
                        "name": push.name,
                        "digest": push.digest,
                        "remote_version": push.remote_version,
                    }
                    for push in noted
                ],
            )

    async def forget(self, sync_id: str, names: Sequence[str] | None = None) -> None:
        """Forget these names of the sync, or for None all of them."""
        if names is None:
            await self._connection.execute(delete(PushRow).where(PushRow.sync_id == sync_id))
            return
        for some in in_chunks(names, _CHUNK):
            await self._connection.execute(
                delete(PushRow).where(PushRow.sync_id == sync_id, PushRow.name.in_(some))
            )
