"""How certificates of a profile are asked for: of the profile itself, or within one application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.project_seals import ENROLLMENT_SECRET, ProjectSeals
from keybearer.store.tables.certificate_profiles import EnrollmentRow

__all__ = ["Enrollment", "Enrollments"]


@dataclass(frozen=True, slots=True)
class Enrollment:
    """One way to ask for certificates, without what is secret of it.

    Attributes:
        application_id: None for the profile's own.
        kind: a word of `EnrollmentType`.
        settings: what is no secret, in the wire's spelling.
    """

    id: str
    project_id: ProjectId
    profile_id: str
    application_id: str | None
    kind: str
    settings: Mapping[str, JsonValue]
    created_at: datetime
    updated_at: datetime


_ENROLLMENTS = select_record(EnrollmentRow, Enrollment)


class Enrollments:
    """Repository of ways of enrollment."""

    def __init__(self, connection: AsyncConnection, seals: ProjectSeals) -> None:
        self._connection = connection
        self._seals = seals

    async def put(self, enrollment: Enrollment, secret: str | None = None) -> None:
        """Store it in place of what there was of its kind, secret included."""
        await self.delete(enrollment.profile_id, enrollment.application_id, enrollment.kind)
        sealed = (
            None
            if secret is None
            else await self._seals.seal(
                ENROLLMENT_SECRET, enrollment.project_id, enrollment.id, secret.encode()
            )
        )
        values = {one.name: getattr(enrollment, one.name) for one in fields(enrollment)}
        await self._connection.execute(
            insert(EnrollmentRow).values({**values, "settings": dict(enrollment.settings), "secret": sealed})
        )

    async def of_profiles(self, profile_ids: Sequence[str]) -> list[Enrollment]:
        """Return the ways of these profiles themselves, not those within applications."""
        statement = _ENROLLMENTS.where(
            EnrollmentRow.profile_id.in_(profile_ids), EnrollmentRow.application_id.is_(None)
        )
        return [Enrollment(*row) for row in await self._connection.execute(statement)]

    async def of_application(self, application_id: str, profile_id: str | None = None) -> list[Enrollment]:
        """Return the ways within an application; of one profile, or of all that are attached."""
        statement = _ENROLLMENTS.where(EnrollmentRow.application_id == application_id)
        if profile_id is not None:
            statement = statement.where(EnrollmentRow.profile_id == profile_id)
        return [Enrollment(*row) for row in await self._connection.execute(statement)]

    async def secret(self, enrollment: Enrollment) -> str | None:
        """Return what is secret of it, or None.

        Raises:
            UnsealError: it doesn't open; the database is damaged.
        """
        statement = select(EnrollmentRow.secret).where(EnrollmentRow.id == enrollment.id)
        sealed = (await self._connection.execute(statement)).scalar_one_or_none()
        if sealed is None:
            return None
        opened = await self._seals.open(ENROLLMENT_SECRET, enrollment.project_id, enrollment.id, sealed)
        return opened.decode()

    async def delete(self, profile_id: str, application_id: str | None, kind: str | None = None) -> None:
        """Remove a way of the profile itself, or within an application; all of them without a kind."""
        statement = delete(EnrollmentRow).where(
            EnrollmentRow.profile_id == profile_id, _within(application_id)
        )
        if kind is not None:
            statement = statement.where(EnrollmentRow.kind == kind)
        await self._connection.execute(statement)


def _within(application_id: str | None) -> ColumnElement[bool]:
    column = EnrollmentRow.application_id
    return column.is_(None) if application_id is None else column == application_id
