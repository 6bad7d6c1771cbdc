"""The push ledger: what is known to have arrived at the remotes of syncs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from sqlalchemy import Insert, bindparam, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.runs import in_chunks
from keybearer.store.secret_syncs import SyncRecord
from keybearer.store.tables.secret_syncs import PushRow, SecretSyncRow
from keybearer.store.upserts import upserted

__all__ = ["Push", "Pushes"]

_CHUNK = 200
# Each run asks for these: they are built once.
_OF_SYNC = select(PushRow.name, PushRow.digest, PushRow.remote_version).where(
    PushRow.sync_id == bindparam("sync_id")
)
_OF_OTHERS = (
    select(PushRow.name, SecretSyncRow.name, SecretSyncRow.project_id)
    .join(SecretSyncRow, SecretSyncRow.id == PushRow.sync_id)
    .where(
        SecretSyncRow.destination_digest == bindparam("digest"),
        SecretSyncRow.connection_id == bindparam("connection_id"),
        SecretSyncRow.id != bindparam("sync_id"),
        PushRow.name.in_(bindparam("names", expanding=True)),
    )
    .order_by(SecretSyncRow.created_at.desc(), SecretSyncRow.id)
)
_FORGET = delete(PushRow).where(
    PushRow.sync_id == bindparam("sync_id"), PushRow.name.in_(bindparam("names", expanding=True))
)


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
        rows = await self._connection.execute(_OF_SYNC, {"sync_id": sync_id})
        return {row.name: Push(row.name, row.digest, row.remote_version) for row in rows}

    async def of_others(self, sync: SyncRecord, names: Iterable[str]) -> dict[str, str | None]:
        """Return which of these names other syncs wrote to the same place, each with the name of one that did.

        The same place is the same configuration over the same connection. A sync of another project has no name here:
        who sees this one need not see that.
        """
        place = {
            "digest": sync.destination_digest,
            "connection_id": sync.connection_id,
            "sync_id": sync.id,
        }
        found: dict[str, str | None] = {}
        for some in in_chunks(sorted(names), _CHUNK):
            rows = await self._connection.execute(_OF_OTHERS, {**place, "names": some})
            for name, owner, project_id in rows:
                found[name] = owner if project_id == sync.project_id else found.get(name)
        return found

    async def note(self, sync_id: str, pushes: Iterable[Push]) -> None:
        """Remember what was written, in place of what was known under the same names."""
        rows = [
            {
                "sync_id": sync_id,
                "name": push.name,
                "digest": push.digest,
                "remote_version": push.remote_version,
            }
            for push in pushes
        ]
        if rows:
            await self._connection.execute(_noting(self._connection.dialect.name), rows)

    async def forget(self, sync_id: str, names: Sequence[str] | None = None) -> None:
        """Forget these names of the sync, or for None all of them."""
        if names is None:
            await self._connection.execute(delete(PushRow).where(PushRow.sync_id == sync_id))
            return
        for some in in_chunks(names, _CHUNK):
            await self._connection.execute(_FORGET, {"sync_id": sync_id, "names": some})


@cache
def _noting(dialect: str) -> Insert:
    new = upserted(dialect, PushRow)
    known = {"digest": new.excluded.digest, "remote_version": new.excluded.remote_version}
    return new.on_conflict_do_update(index_elements=[PushRow.sync_id, PushRow.name], set_=known)
