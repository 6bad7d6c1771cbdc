"""How a request comes to a project: named by id or slug, seen through the principal's roles in it."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.domain.authorization import (
    Action,
    OrganizationRole,
    Principal,
    ProjectRole,
    Subject,
    Where,
    allows,
    require,
)
from keybearer.domain.errors import NotFoundError
from keybearer.store.records import Project
from keybearer.store.unit import UnitOfWork

__all__ = ["ProjectAccess", "ProjectRef", "effective_roles", "open_project"]


@dataclass(frozen=True, slots=True)
class ProjectRef:
    """A project as a request names it: by id, else by slug."""

    id: str | None = None
    slug: str | None = None

    def __str__(self) -> str:
        return f"ID '{self.id}'" if self.id else f"slug '{self.slug}'"


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """A project, and what the principal is in it."""

    principal: Principal
    project: Project
    roles: tuple[str, ...]

    def require(self, action: Action, subject: Subject, where: Where | None = None) -> None:
        """Let pass what the roles allow.

        Raises:
            ForbiddenError: none of them allows it.
        """
        require(self.roles, action, subject, where)

    def allows(self, action: Action, subject: Subject) -> bool:
        """Return whether the roles allow it."""
        return allows(self.roles, action, subject)


def effective_roles(principal: Principal, roles: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the principal's roles in a project: an organization's admin is admin of all of them."""
    if principal.organization_role == OrganizationRole.ADMIN:
        return (ProjectRole.ADMIN,)
    return roles or ()


async def open_project(unit: UnitOfWork, principal: Principal, ref: ProjectRef) -> ProjectAccess:
    """Return the project that is named, whatever the principal may do in it: the caller asks for that.

    Raises:
        NotFoundError: the principal's organization has no such project.
    """
    if ref.id:
        found = await unit.projects.find(principal.organization_id, principal.identity_id, ids=[ref.id])
    else:
        slugs = [ref.slug] if ref.slug else []
        found = await unit.projects.find(principal.organization_id, principal.identity_id, slugs=slugs)
    if not found:
        raise NotFoundError(f"Project with {ref} not found")
    project, roles = found[0]
    return ProjectAccess(principal, project, effective_roles(principal, roles))
