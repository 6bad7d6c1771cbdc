"""What changes of organization roles have in common, whether of machine identities or of users."""

from __future__ import annotations

from collections.abc import Iterable

from keybearer.base.ids import ProjectId
from keybearer.domain.authorization import OrganizationRole
from keybearer.domain.errors import InvalidError
from keybearer.store.records import Identity
from keybearer.store.unit import UnitOfWork

__all__ = ["move_actor", "require_other_admin"]


async def move_actor(unit: UnitOfWork, identity: Identity, also: Iterable[ProjectId] = ()) -> None:
    """Drop what is cached of the identity, and move the projects whose members change with it, and these."""
    # Projects first, as where members are decided: two writers that lock rows in one order can't deadlock.
    for project_id in sorted({*also, *await unit.projects.projects_of_member(identity.id)}):
        await unit.move_project(project_id)
    await unit.move_identity(identity.id)


async def require_other_admin(unit: UnitOfWork, identity: Identity) -> None:
    """Let an admin lose the role, or go, where another one remains: a user or a machine identity.

    Raises:
        InvalidError: the organization would be left without an admin.
    """
    if identity.role != OrganizationRole.ADMIN:
        return
    # Two admins that remove each other at once take turns, and the second is told.
    await unit.identities.lock_organization(identity.organization_id)
    if await unit.identities.count_role(identity.organization_id, OrganizationRole.ADMIN) < 2:
        raise InvalidError(
            "The organization's last admin can't go; make another user or identity admin first"
        )
