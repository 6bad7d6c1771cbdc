"""Slugs that projects gave up: kept for a while, since references of others may still name them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import IdentityId, OrganizationId, ProjectId
from keybearer.store.columns import select_record
from keybearer.store.tables.projects import FormerSlugRow

__all__ = ["FormerSlug", "FormerSlugs"]


@dataclass(frozen=True, slots=True)
class FormerSlug:
    """A slug that a project had.

    `owner_id` is who deleted the project; None where it has another slug now.
    """

    organization_id: OrganizationId
    slug: str
    project_id: ProjectId
    owner_id: IdentityId | None
    given_up_at: datetime


_SLUGS = select_record(FormerSlugRow, FormerSlug)


class FormerSlugs:
    """Repository of the slugs that projects gave up."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def put(self, former: FormerSlug, *, keep_since: datetime) -> None:
        """Note a slug that is given up; forget those that the organization's projects gave up before `keep_since`."""
        await self._connection.execute(
            delete(FormerSlugRow).where(
                FormerSlugRow.organization_id == former.organization_id,
                (FormerSlugRow.slug == former.slug) | (FormerSlugRow.given_up_at < keep_since),
            )
        )
        await self._connection.execute(insert(FormerSlugRow).values(asdict(former)))

    async def get(self, organization_id: OrganizationId, slug: str, *, since: datetime) -> FormerSlug | None:
        """Return what is known of a slug that was given up after `since`, or None."""
        statement = _SLUGS.where(
            FormerSlugRow.organization_id == organization_id,
            FormerSlugRow.slug == slug,
            FormerSlugRow.given_up_at > since,
        )
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else FormerSlug(*row)
