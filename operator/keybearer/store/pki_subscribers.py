"""PKI subscribers; their certificates are among all others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.tables.certificates import PkiSubscriberRow

__all__ = ["PkiSubscriber", "PkiSubscribers"]


@dataclass(frozen=True, slots=True)
class PkiSubscriber:
    """A subscriber; usages in the canonical spelling, `status` is active or disabled."""

    id: str
    project_id: ProjectId
    authority_id: str | None
    name: str
    common_name: str
    status: str
    ttl: str
    subject_alternative_names: tuple[str, ...]
    key_usages: tuple[str, ...]
    extended_key_usages: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


_SUBSCRIBERS = select_record(PkiSubscriberRow, PkiSubscriber)


class PkiSubscribers:
    """Repository of subscribers."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, new: PkiSubscriber) -> None:
        """Store a new subscriber."""
        await self._connection.execute(insert(PkiSubscriberRow).values(asdict(new)))

    async def update(self, changed: PkiSubscriber) -> None:
        """Store the present fields."""
        await self._connection.execute(
            update(PkiSubscriberRow).where(PkiSubscriberRow.id == changed.id).values(asdict(changed))
        )

    async def named(
        self, project_id: ProjectId, name: str, *, for_change: bool = False
    ) -> PkiSubscriber | None:
        """Return the project's subscriber of that name, or None; for a change it is kept from other writers."""
        statement = _SUBSCRIBERS.where(
            PkiSubscriberRow.project_id == project_id, PkiSubscriberRow.name == name
        )
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else PkiSubscriber(*row)

    async def of_project(self, project_id: ProjectId) -> list[PkiSubscriber]:
        """Return the project's subscribers by name."""
        statement = _SUBSCRIBERS.where(PkiSubscriberRow.project_id == project_id)
        statement = statement.order_by(PkiSubscriberRow.name)
        return [PkiSubscriber(*row) for row in await self._connection.execute(statement)]

    async def count_of(self, project_id: ProjectId) -> int:
        """Return how many subscribers the project has."""
        row = PkiSubscriberRow
        statement = select(func.count()).select_from(row).where(row.project_id == project_id)
        return (await self._connection.execute(statement)).scalar_one()

    async def delete(self, subscriber_id: str) -> None:
        """Remove the subscriber; its certificates live on without one."""
        await self._connection.execute(delete(PkiSubscriberRow).where(PkiSubscriberRow.id == subscriber_id))
