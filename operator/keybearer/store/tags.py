"""Tags of a project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.columns import Instant, Uuid
from keybearer.store.record_tables import PRIMARY, Records, table_of

__all__ = ["TAGS", "Tag", "Tags"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that secrets of the project may carry."""

    id: Annotated[str, Uuid, PRIMARY]
    project_id: Annotated[ProjectId, Uuid, ForeignKey("projects.id", ondelete="CASCADE")]
    slug: Annotated[str, String(64)]
    name: Annotated[str, String(64)]
    color: Annotated[str | None, String(32)]
    created_at: Annotated[datetime, Instant]
    updated_at: Annotated[datetime, Instant]


TAGS = table_of(Tag, "tags", UniqueConstraint("project_id", "slug"))


class Tags(Records[Tag]):
    """Repository of tags. A deleted tag leaves all secrets as well."""

    def __init__(self, connection: AsyncConnection) -> None:
        super().__init__(connection, Tag, TAGS)

    async def of_project(self, project_id: ProjectId) -> list[Tag]:
        """Return the project's tags by slug."""
        return await self.found(TAGS.c.project_id == project_id, by=[TAGS.c.slug])

    async def by_ids(self, project_id: ProjectId, tag_ids: Iterable[str]) -> list[Tag]:
        """Return those of the ids that are tags of the project."""
        return await self.found(TAGS.c.project_id == project_id, TAGS.c.id.in_(list(tag_ids)))
