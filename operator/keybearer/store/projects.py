"""Projects, memberships and environments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from sqlalchemy import and_, bindparam, delete, exists, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import EnvironmentSlug, IdentityId, OrganizationId, ProjectId
from keybearer.store.columns import select_record
from keybearer.store.place_marks import placed_environment
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.records import Environment, Membership, Project
from keybearer.store.tables.grants import GRANTS
from keybearer.store.tables.identities import IdentityRow, OrganizationRow
from keybearer.store.tables.projects import EnvironmentRow, MembershipRow, ProjectRow

__all__ = ["Projects"]

_PROJECTS = select_record(ProjectRow, Project)
_ENVIRONMENTS = select_record(EnvironmentRow, Environment)
_MEMBERSHIPS = select_record(MembershipRow, Membership)
# Asked for with most requests: their statements are built once.
_ENVIRONMENT = _ENVIRONMENTS.where(
    EnvironmentRow.project_id == bindparam("project"), EnvironmentRow.slug == bindparam("slug")
)
_NAMES_REVISION = select(OrganizationRow.names_revision).where(
    OrganizationRow.id == bindparam("organization")
)
_REVISIONS = select(ProjectRow.id, ProjectRow.revision).where(
    ProjectRow.id.in_(bindparam("ids", expanding=True))
)
_FOUND = (
    _PROJECTS.add_columns(
        MembershipRow.roles,
        # Most members have no grants, and then nobody asks for them.
        exists(
            select(GRANTS.c.id).where(
                GRANTS.c.project_id == ProjectRow.id, GRANTS.c.identity_id == bindparam("identity")
            )
        ).label("has_grants"),
    )
    .outerjoin(
        MembershipRow,
        and_(
            MembershipRow.project_id == ProjectRow.id,
            MembershipRow.identity_id == bindparam("identity"),
        ),
    )
    .where(
        ProjectRow.organization_id == bindparam("organization"),
        or_(
            ProjectRow.id.in_(bindparam("ids", expanding=True)),
            ProjectRow.slug.in_(bindparam("slugs", expanding=True)),
        ),
    )
)


class Projects:
    """Repository of projects, of who may use them, and of their environments."""

    def __init__(self, connection: AsyncConnection, places: PlaceSeals) -> None:
        self._connection = connection
        self._places = places

    async def add(self, project: Project) -> None:
        """Store a new project."""
        await self._connection.execute(insert(ProjectRow).values(asdict(project)))

    async def find(
        self,
        organization_id: OrganizationId,
        identity_id: IdentityId,
        *,
        ids: Iterable[str] = (),
        slugs: Iterable[str] = (),
    ) -> list[tuple[Project, tuple[str, ...] | None, bool]]:
        """Return the organization's projects of these ids or slugs: each, the identity's roles, and if it has grants.

        None in place of the roles says that the identity is no member.
        """
        named = {"ids": list(ids), "slugs": list(slugs)}
        who = {"organization": organization_id, "identity": identity_id}
        rows = await self._connection.execute(_FOUND, {**who, **named})
        return [(Project(*row[:-2]), row.roles, bool(row.has_grants)) for row in rows]

    async def by_ids(self, project_ids: Iterable[str]) -> list[Project]:
        """Return those of the projects that exist, of whichever organization."""
        statement = _PROJECTS.where(ProjectRow.id.in_(list(project_ids)))
        return [Project(*row) for row in await self._connection.execute(statement)]

    async def all_of(self, organization_id: OrganizationId) -> list[Project]:
        """Return the organization's projects by name."""
        statement = _PROJECTS.where(ProjectRow.organization_id == organization_id)
        statement = statement.order_by(ProjectRow.name, ProjectRow.id)
        return [Project(*row) for row in await self._connection.execute(statement)]

    async def oldest_of_type(self, organization_id: OrganizationId, kind: str) -> Project | None:
        """Return the organization's first project of that type, or None."""
        statement = _PROJECTS.where(ProjectRow.organization_id == organization_id, ProjectRow.type == kind)
        statement = statement.order_by(ProjectRow.created_at, ProjectRow.id).limit(1)
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else Project(*row)

    async def of_member(
        self, organization_id: OrganizationId, identity_id: IdentityId
    ) -> list[tuple[Project, tuple[str, ...]]]:
        """Return the organization's projects the identity is a member of, by name, each with its roles there."""
        statement = (
            _PROJECTS.add_columns(MembershipRow.roles)
            .join(MembershipRow, MembershipRow.project_id == ProjectRow.id)
            .where(ProjectRow.organization_id == organization_id, MembershipRow.identity_id == identity_id)
            .order_by(ProjectRow.name, ProjectRow.id)
        )
        return [(Project(*row[:-1]), row[-1]) for row in await self._connection.execute(statement)]

    async def slug_exists(self, organization_id: OrganizationId, slug: str) -> bool:
        """Return whether a project of the organization has the slug."""
        statement = select(ProjectRow.id).where(
            ProjectRow.organization_id == organization_id, ProjectRow.slug == slug
        )
        return (await self._connection.execute(statement)).first() is not None

    async def update(self, project: Project) -> None:
        """Store what may change of a project."""
        await self._connection.execute(
            update(ProjectRow)
            .where(ProjectRow.id == project.id)
            .values(
                name=project.name,
                slug=project.slug,
                description=project.description,
                auto_capitalization=project.auto_capitalization,
                has_delete_protection=project.has_delete_protection,
                updated_at=project.updated_at,
            )
        )

    async def delete(self, project_id: ProjectId) -> None:
        """Remove the project with all it holds, its data keys included."""
        await self._connection.execute(delete(ProjectRow).where(ProjectRow.id == project_id))

    async def names_revision(self, organization_id: OrganizationId) -> int:
        """Return the revision of the organization's project slugs."""
        found = await self._connection.execute(_NAMES_REVISION, {"organization": organization_id})
        revision: int = found.scalar_one()
        return revision

    async def revisions(self, project_ids: Iterable[str]) -> dict[str, int]:
        """Return the revision of each of these projects that exists."""
        rows = await self._connection.execute(_REVISIONS, {"ids": list(project_ids)})
        return {row.id: row.revision for row in rows}

    async def membership(self, project_id: ProjectId, identity_id: IdentityId) -> Membership | None:
        """Return the identity's membership, or None."""
        statement = _MEMBERSHIPS.where(
            MembershipRow.project_id == project_id, MembershipRow.identity_id == identity_id
        )
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else Membership(*row)

    async def membership_by_id(self, membership_id: str) -> Membership | None:
        """Return the membership, or None."""
        row = (
            await self._connection.execute(_MEMBERSHIPS.where(MembershipRow.id == membership_id))
        ).one_or_none()
        return None if row is None else Membership(*row)

    async def memberships(self, project_id: ProjectId) -> list[Membership]:
        """Return the memberships of machine identities in the project, oldest first."""
        statement = (
            _MEMBERSHIPS.join(IdentityRow, IdentityRow.id == MembershipRow.identity_id)
            .where(MembershipRow.project_id == project_id, IdentityRow.kind == "machine")
            .order_by(MembershipRow.created_at, MembershipRow.id)
        )
        return [Membership(*row) for row in await self._connection.execute(statement)]

    async def projects_of_member(self, identity_id: IdentityId) -> list[ProjectId]:
        """Return the ids of the projects the identity is a member of."""
        statement = select(MembershipRow.project_id).where(MembershipRow.identity_id == identity_id)
        return [ProjectId(row) for row in (await self._connection.execute(statement)).scalars()]

    async def add_membership(self, membership: Membership) -> None:
        """Store a new membership."""
        await self._connection.execute(insert(MembershipRow).values(asdict(membership)))

    async def update_membership(self, membership: Membership) -> None:
        """Store the membership's present roles."""
        await self._connection.execute(
            update(MembershipRow)
            .where(MembershipRow.id == membership.id)
            .values(roles=membership.roles, updated_at=membership.updated_at)
        )

    async def delete_membership(self, membership_id: str) -> None:
        """Remove the membership."""
        await self._connection.execute(delete(MembershipRow).where(MembershipRow.id == membership_id))

    async def add_environment(self, environment: Environment) -> None:
        """Store a new environment."""
        await self._connection.execute(insert(EnvironmentRow).values(asdict(environment)))
        await self._places.change(environment.project_id, (), [placed_environment(environment)])

    async def environments(self, project_ids: Iterable[str]) -> list[Environment]:
        """Return the environments of these projects by position."""
        statement = _ENVIRONMENTS.where(EnvironmentRow.project_id.in_(list(project_ids))).order_by(
            EnvironmentRow.position, EnvironmentRow.id
        )
        return [Environment(*row) for row in await self._connection.execute(statement)]

    async def environment(self, project_id: ProjectId, slug: EnvironmentSlug) -> Environment | None:
        """Return the project's environment of that slug, or None."""
        named = {"project": project_id, "slug": slug}
        row = (await self._connection.execute(_ENVIRONMENT, named)).one_or_none()
        return None if row is None else Environment(*row)

    async def environment_by_id(self, environment_id: str) -> Environment | None:
        """Return the environment of that id, or None."""
        row = (
            await self._connection.execute(_ENVIRONMENTS.where(EnvironmentRow.id == environment_id))
        ).one_or_none()
        return None if row is None else Environment(*row)

    async def update_environments(self, environments: Iterable[Environment]) -> None:
        """Store the present name, slug and position of each of these."""
        present = {environment.id: environment for environment in environments}
        former = await self._places.environments_where(EnvironmentRow.id.in_(list(present)))
        for environment in present.values():
            await self._connection.execute(
                update(EnvironmentRow)
                .where(EnvironmentRow.id == environment.id)
                .values(
                    name=environment.name,
                    slug=environment.slug,
                    position=environment.position,
                    updated_at=environment.updated_at,
                )
            )
        for before in former:
            after = placed_environment(present[before.id])
            if after != before:
                await self._places.change(present[before.id].project_id, [before], [after])

    async def delete_environment(self, environment_id: str) -> None:
        """Remove the environment with all it holds."""
        for environment in await self._places.environments_where(EnvironmentRow.id == environment_id):
            folders = await self._places.folders_where(EnvironmentRow.id == environment_id)
            await self._places.change(ProjectId(environment.project_id), [environment, *folders], ())
        await self._connection.execute(delete(EnvironmentRow).where(EnvironmentRow.id == environment_id))
