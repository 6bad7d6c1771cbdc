"""Applications, and the profiles attached to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.tables.certificate_profiles import (
    ApplicationProfileRow,
    CertificateApplicationRow,
    CertificateProfileRow,
)

__all__ = ["AttachedProfile", "CertificateApplication", "CertificateApplications"]


@dataclass(frozen=True, slots=True)
class CertificateApplication:
    """An application."""

    id: str
    project_id: ProjectId
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class AttachedProfile:
    """A profile that is attached to an application."""

    application_id: str
    profile_id: str
    profile_slug: str
    profile_description: str | None
    created_at: datetime
    updated_at: datetime


_APPLICATIONS = select_record(CertificateApplicationRow, CertificateApplication)
_ATTACHED = select(
    ApplicationProfileRow.application_id,
    ApplicationProfileRow.profile_id,
    CertificateProfileRow.slug,
    CertificateProfileRow.description,
    ApplicationProfileRow.created_at,
    ApplicationProfileRow.updated_at,
).join(CertificateProfileRow, CertificateProfileRow.id == ApplicationProfileRow.profile_id)


class CertificateApplications:
    """Repository of applications."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, new: CertificateApplication) -> None:
        """Store a new application."""
        await self._connection.execute(insert(CertificateApplicationRow).values(asdict(new)))

    async def update(self, changed: CertificateApplication) -> None:
        """Store the present fields."""
        await self._connection.execute(
            update(CertificateApplicationRow)
            .where(CertificateApplicationRow.id == changed.id)
            .values(asdict(changed))
        )

    async def get(self, application_id: str, *, for_change: bool = False) -> CertificateApplication | None:
        """Return the application of that id, or None; for a change it is kept from other writers."""
        statement = _APPLICATIONS.where(CertificateApplicationRow.id == application_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificateApplication(*row)

    async def named(self, project_id: ProjectId, name: str) -> CertificateApplication | None:
        """Return the project's application of that name, or None."""
        statement = _APPLICATIONS.where(
            CertificateApplicationRow.project_id == project_id, CertificateApplicationRow.name == name
        )
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else CertificateApplication(*row)

    async def of_project(
        self, project_id: ProjectId, *, search: str | None, offset: int, limit: int
    ) -> tuple[list[CertificateApplication], int]:
        """Return a page of the project's applications by name, and how many there are in all."""
        row = CertificateApplicationRow
        wanted = [row.project_id == project_id]
        if search is not None:
            wanted.append(row.name.icontains(search, autoescape=True))
        count = select(func.count()).select_from(row).where(*wanted)
        page = _APPLICATIONS.where(*wanted).order_by(row.name).offset(offset).limit(limit)
        found = [CertificateApplication(*one) for one in await self._connection.execute(page)]
        return found, (await self._connection.execute(count)).scalar_one()

    async def count_of(self, project_id: ProjectId) -> int:
        """Return how many applications the project has."""
        row = CertificateApplicationRow
        statement = select(func.count()).select_from(row).where(row.project_id == project_id)
        return (await self._connection.execute(statement)).scalar_one()

    async def delete(self, application_id: str) -> None:
        """Remove the application with what is set for it; certificates and requests live on without one."""
        await self._connection.execute(
            delete(CertificateApplicationRow).where(CertificateApplicationRow.id == application_id)
        )

    async def attach(self, application_id: str, profile_ids: Sequence[str], now: datetime) -> None:
        """Attach profiles; one that is attached already stays as it is."""
        have = {one.profile_id for one in await self.profiles_of(application_id)}
        for profile_id in dict.fromkeys(profile_ids):
            if profile_id not in have:
                await self._connection.execute(
                    insert(ApplicationProfileRow).values(
                        application_id=application_id, profile_id=profile_id, created_at=now, updated_at=now
                    )
                )

    async def profiles_of(self, application_id: str) -> list[AttachedProfile]:
        """Return the profiles attached to an application, by slug."""
        statement = _ATTACHED.where(ApplicationProfileRow.application_id == application_id)
        statement = statement.order_by(CertificateProfileRow.slug)
        return [AttachedProfile(*row) for row in await self._connection.execute(statement)]

    async def is_attached(self, application_id: str, profile_id: str) -> bool:
        """Return whether the profile is attached to the application."""
        row = ApplicationProfileRow
        statement = select(row.profile_id).where(
            row.application_id == application_id, row.profile_id == profile_id
        )
        return (await self._connection.execute(statement)).first() is not None

    async def detach(self, application_id: str, profile_id: str) -> None:
        """Let go of a profile; what is set for the two together is removed by itself, see `Enrollments`."""
        row = ApplicationProfileRow
        await self._connection.execute(
            delete(row).where(row.application_id == application_id, row.profile_id == profile_id)
        )
