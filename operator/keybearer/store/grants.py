"""Path-scoped grants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import IdentityId, ProjectId
from keybearer.store.columns import select_record
from keybearer.store.records import Environment
from keybearer.store.tables.grants import GrantRow

__all__ = ["Grant", "Grants"]


@dataclass(frozen=True, slots=True)
class Grant:
    """What an identity may (`effect` is `allow`) or may not (`deny`) do in a part of a project.

    `environment` is the slug of the environment with `environment_id`, or `*` for all of them, which have no id.
    A denial of an earlier version may name an environment that doesn't exist; it has no id until there is one.
    `secret_path` is a pattern of paths.
    """

    id: str
    project_id: ProjectId
    identity_id: IdentityId
    effect: str
    subjects: tuple[str, ...]
    actions: tuple[str, ...]
    environment: str
    environment_id: str | None
    secret_path: str
    created_at: datetime
    updated_at: datetime


_GRANTS = select_record(GrantRow, Grant)
_OLDEST_FIRST = (GrantRow.created_at, GrantRow.id)


class Grants:
    """Repository of grants."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, grant: Grant) -> None:
        """Store a new grant of a member."""
        await self._connection.execute(insert(GrantRow).values(asdict(grant)))

    async def get(self, project_id: ProjectId, grant_id: str) -> Grant | None:
        """Return the project's grant of that id, or None."""
        statement = _GRANTS.where(GrantRow.id == grant_id, GrantRow.project_id == project_id)
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else Grant(*row)

    async def of_project(self, project_id: ProjectId) -> list[Grant]:
        """Return the grants of a project, oldest first."""
        statement = _GRANTS.where(GrantRow.project_id == project_id).order_by(*_OLDEST_FIRST)
        return [Grant(*row) for row in await self._connection.execute(statement)]

    async def of_member(
        self, identity_id: IdentityId, project_ids: Iterable[ProjectId]
    ) -> dict[ProjectId, list[Grant]]:
        """Return the identity's grants by project, of those of these projects where it has any."""
        statement = _GRANTS.where(
            GrantRow.identity_id == identity_id, GrantRow.project_id.in_(list(project_ids))
        )
        found: dict[ProjectId, list[Grant]] = {}
        for row in await self._connection.execute(statement.order_by(*_OLDEST_FIRST)):
            found.setdefault(row.project_id, []).append(Grant(*row))
        return found

    async def of_environment(self, environment_id: str) -> list[Grant]:
        """Return the grants that name the environment, ordered by whom they are for."""
        statement = _GRANTS.where(GrantRow.environment_id == environment_id)
        statement = statement.order_by(GrantRow.identity_id, *_OLDEST_FIRST)
        return [Grant(*row) for row in await self._connection.execute(statement)]

    async def count(self, project_id: ProjectId) -> int:
        """Return how many grants the project has."""
        statement = select(func.count()).where(GrantRow.project_id == project_id)
        return (await self._connection.execute(statement)).scalar_one()

    async def update(self, grant: Grant) -> None:
        """Store what a grant says by now."""
        await self._connection.execute(
            update(GrantRow)
            .where(GrantRow.id == grant.id)
            .values(
                effect=grant.effect,
                subjects=grant.subjects,
                actions=grant.actions,
                environment=grant.environment,
                environment_id=grant.environment_id,
                secret_path=grant.secret_path,
                updated_at=grant.updated_at,
            )
        )

    async def delete(self, grant_id: str) -> None:
        """Remove the grant."""
        await self._connection.execute(delete(GrantRow).where(GrantRow.id == grant_id))

    async def follow_slug(self, environment: Environment) -> None:
        """Have grants that name the environment call it by its present slug."""
        await self._connection.execute(
            update(GrantRow)
            .where(GrantRow.environment_id == environment.id)
            .values(environment=environment.slug)
        )

    async def bind(self, environment: Environment) -> None:
        """Have grants that named the slug before there was such an environment be about this one from now on."""
        await self._connection.execute(
            update(GrantRow)
            .where(
                GrantRow.project_id == environment.project_id,
                GrantRow.environment == environment.slug,
                GrantRow.environment_id.is_(None),
            )
            .values(environment_id=environment.id)
        )
