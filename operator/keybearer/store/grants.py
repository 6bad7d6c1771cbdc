"""Path-scoped grants."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import IdentityId, ProjectId
from keybearer.store.record_tables import Records
from keybearer.store.records import Environment
from keybearer.store.tables.grants import GRANTS, Grant

__all__ = ["Grants"]

_OLDEST_FIRST = (GRANTS.c.created_at, GRANTS.c.id)


class Grants(Records[Grant]):
    """Repository of grants."""

    def __init__(self, connection: AsyncConnection) -> None:
        super().__init__(connection, Grant, GRANTS)

    async def get(self, project_id: ProjectId, grant_id: str) -> Grant | None:
        """Return the project's grant of that id, or None."""
        return await self.one(GRANTS.c.id == grant_id, GRANTS.c.project_id == project_id)

    async def of_project(self, project_id: ProjectId) -> list[Grant]:
        """Return the grants of a project, oldest first."""
        return await self.found(GRANTS.c.project_id == project_id, by=_OLDEST_FIRST)

    async def of_member(
        self, identity_id: IdentityId, project_ids: Iterable[ProjectId]
    ) -> dict[ProjectId, list[Grant]]:
        """Return the identity's grants by project, of those of these projects where it has any."""
        found: dict[ProjectId, list[Grant]] = {}
        for grant in await self.found(
            GRANTS.c.identity_id == identity_id,
            GRANTS.c.project_id.in_(list(project_ids)),
            by=_OLDEST_FIRST,
        ):
            found.setdefault(grant.project_id, []).append(grant)
        return found

    async def of_environment(self, environment_id: str) -> list[Grant]:
        """Return the grants that name the environment, ordered by whom they are for."""
        order = (GRANTS.c.identity_id, *_OLDEST_FIRST)
        return await self.found(GRANTS.c.environment_id == environment_id, by=order)

    async def count(self, project_id: ProjectId) -> int:
        """Return how many grants the project has."""
        statement = select(func.count()).where(GRANTS.c.project_id == project_id)
        return (await self._connection.execute(statement)).scalar_one()

    async def follow_slug(self, environment: Environment) -> None:
        """Have grants that name the environment call it by its present slug."""
        await self._connection.execute(
            update(GRANTS)
            .where(GRANTS.c.environment_id == environment.id)
            .values(environment=environment.slug)
        )

    async def bind(self, environment: Environment) -> None:
        """Have grants that named the slug before there was such an environment be about this one from now on."""
        await self._connection.execute(
            update(GRANTS)
            .where(
                GRANTS.c.project_id == environment.project_id,
                GRANTS.c.environment == environment.slug,
                GRANTS.c.environment_id.is_(None),
            )
            .values(environment_id=environment.id)
        )
