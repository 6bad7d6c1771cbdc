"""Places that syncs wrote to before they were set up otherwise, and what is still to be removed there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import bindparam, delete, func, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.runs import in_chunks
from keybearer.store.columns import select_record
from keybearer.store.pushes import Push
from keybearer.store.tables.secret_syncs import FormerPlaceRow, FormerPushRow, PushRow

__all__ = ["FormerPlace", "FormerPlaces"]

_CHUNK = 200


@dataclass(frozen=True, slots=True)
class FormerPlace:
    """A place that a sync wrote to, and how that was set up.

    Attributes:
        environment: slug that the key schema was filled with; None where the folder was gone.
        is_apart: whether it is known not to be the present place under another description.
        attempts: how often it was tried to remove what is there.
        next_attempt_at: not tried before, unless people ask.
        message: why the last attempt failed; None before the first.
    """

    id: str
    sync_id: str
    connection_id: str
    destination_config: Mapping[str, JsonValue]
    destination_digest: str
    sync_options: Mapping[str, JsonValue] = field(repr=False)
    environment: str | None
    is_apart: bool
    attempts: int
    next_attempt_at: datetime
    message: str | None
    created_at: datetime


# Built once: each run asks for it.
_OF_SYNC = (
    select_record(FormerPlaceRow, FormerPlace)
    .where(FormerPlaceRow.sync_id == bindparam("sync_id"))
    .order_by(FormerPlaceRow.created_at, FormerPlaceRow.id)
)


class FormerPlaces:
    """Repository of former places. Each has at least one name; one that has none left is forgotten."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def of_sync(self, sync_id: str) -> list[FormerPlace]:
        """Return the sync's former places, the oldest first."""
        rows = await self._connection.execute(_OF_SYNC, {"sync_id": sync_id})
        return [FormerPlace(*row) for row in rows]

    async def pushes(self, place_id: str) -> dict[str, Push]:
        """Return what the sync wrote there, by name."""
        row = FormerPushRow
        rows = await self._connection.execute(
            select(row.name, row.digest, row.remote_version).where(row.place_id == place_id)
        )
        return {name: Push(name, digest, version) for name, digest, version in rows}

    async def leave(self, place: FormerPlace) -> None:
        """Move the ledger of the sync to this place; an empty one is no place to come back to."""
        row = PushRow
        if (await self._connection.execute(select(row.name).where(row.sync_id == place.sync_id))).first():
            await self._connection.execute(insert(FormerPlaceRow).values(_values(place)))
            await self._connection.execute(
                insert(FormerPushRow).from_select(
                    ["place_id", "name", "digest", "remote_version"],
                    select(literal(place.id), row.name, row.digest, row.remote_version).where(
                        row.sync_id == place.sync_id
                    ),
                )
            )
            await self._connection.execute(delete(row).where(row.sync_id == place.sync_id))

    async def take_back(self, place: FormerPlace) -> None:
        """Move what is known of this place to the sync's ledger, which must be empty: it is the present one again."""
        row = FormerPushRow
        await self._connection.execute(
            insert(PushRow).from_select(
                ["sync_id", "name", "digest", "remote_version"],
                select(literal(place.sync_id), row.name, row.digest, row.remote_version).where(
                    row.place_id == place.id
                ),
            )
        )
        await self._drop(place.id)

    async def forget(self, sync_id: str) -> None:
        """Forget all former places of the sync: what is there stays, and is nobody's."""
        await self._connection.execute(delete(FormerPlaceRow).where(FormerPlaceRow.sync_id == sync_id))

    async def forget_names(self, place_id: str, names: Sequence[str]) -> None:
        """Forget these names of the place, and with its last one the place."""
        row = FormerPushRow
        for some in in_chunks(names, _CHUNK):
            await self._connection.execute(delete(row).where(row.place_id == place_id, row.name.in_(some)))
        left = select(row.name).where(row.place_id == place_id).limit(1)
        if (await self._connection.execute(left)).first() is None:
            await self._drop(place_id)

    async def note_apart(self, place_id: str) -> None:
        """Note that the place is not the present one."""
        await self._connection.execute(
            update(FormerPlaceRow).where(FormerPlaceRow.id == place_id).values(is_apart=True)
        )

    async def compare_anew(self, sync_id: str) -> None:
        """Note that the sync has another place: of no former one is it known whether it is that."""
        await self._connection.execute(
            update(FormerPlaceRow).where(FormerPlaceRow.sync_id == sync_id).values(is_apart=False)
        )

    async def begin_attempt(self, place_id: str, next_attempt_at: datetime) -> None:
        """Count an attempt before it is made: whatever becomes of it, the next one waits until then."""
        await self._connection.execute(
            update(FormerPlaceRow)
            .where(FormerPlaceRow.id == place_id)
            .values(attempts=FormerPlaceRow.attempts + 1, next_attempt_at=next_attempt_at)
        )

    async def note_failure(self, place_id: str, message: str) -> None:
        """Note why an attempt failed."""
        await self._connection.execute(
            update(FormerPlaceRow).where(FormerPlaceRow.id == place_id).values(message=message)
        )

    async def next_attempt_of(self, sync_id: str) -> datetime | None:
        """Return when the first of the sync's former places is tried next; None where it has none."""
        statement = select(func.min(FormerPlaceRow.next_attempt_at)).where(FormerPlaceRow.sync_id == sync_id)
        return (await self._connection.execute(statement)).scalar_one()

    async def hasten(self, connection_id: str, now: datetime) -> list[str]:
        """Have all places over the connection tried from now on; return the ids of their syncs."""
        hastened = await self._connection.execute(
            update(FormerPlaceRow)
            .where(FormerPlaceRow.connection_id == connection_id)
            .values(attempts=0, next_attempt_at=now)
            .returning(FormerPlaceRow.sync_id)
        )
        return sorted(set(hastened.scalars()))

    async def _drop(self, place_id: str) -> None:
        # What is known of its names goes with it.
        await self._connection.execute(delete(FormerPlaceRow).where(FormerPlaceRow.id == place_id))


def _values(place: FormerPlace) -> dict[str, Any]:
    values = {one.name: getattr(place, one.name) for one in fields(place)}
    return {
        **values,
        "destination_config": dict(place.destination_config),
        "sync_options": dict(place.sync_options),
    }
