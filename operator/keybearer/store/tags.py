"""Tags of a project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from sqlalchemy import delete, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.records import Tag
from keybearer.store.tables.projects import TagRow

__all__ = ["Tags"]

_TAGS = select_record(TagRow, Tag)


class Tags:
    """Repository of tags."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, tag: Tag) -> None:
        """Store a new tag."""
        await self._connection.execute(insert(TagRow).values(asdict(tag)))

    async def of_project(self, project_id: ProjectId) -> list[Tag]:
        """Return the project's tags by slug."""
        statement = _TAGS.where(TagRow.project_id == project_id).order_by(TagRow.slug)
        return [Tag(*row) for row in await self._connection.execute(statement)]

    async def by_ids(self, project_id: ProjectId, tag_ids: Iterable[str]) -> list[Tag]:
        """Return those of the ids that are tags of the project."""
        statement = _TAGS.where(TagRow.project_id == project_id, TagRow.id.in_(list(tag_ids)))
        return [Tag(*row) for row in await self._connection.execute(statement)]

    async def update(self, tag: Tag) -> None:
        """Store the tag's present slug, name and color."""
        await self._connection.execute(
            update(TagRow)
            .where(TagRow.id == tag.id)
            .values(slug=tag.slug, name=tag.name, color=tag.color, updated_at=tag.updated_at)
        )

    async def delete(self, tag_id: str) -> None:
        """Remove the tag, from all secrets too."""
        await self._connection.execute(delete(TagRow).where(TagRow.id == tag_id))
