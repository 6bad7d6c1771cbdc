"""How a request comes to a project: named by id or slug, seen through what the principal may do in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from keybearer.base.ids import ProjectId
from keybearer.domain.authorization import (
    Action,
    OrganizationRole,
    Principal,
    ProjectRole,
    Subject,
    Where,
)
from keybearer.domain.errors import Denial, ForbiddenError, NotFoundError
from keybearer.domain.permissions import Permissions, Rule, require_may_give, rule_of, rules_of_role
from keybearer.store.records import Project
from keybearer.store.unit import UnitOfWork

__all__ = ["ProjectAccess", "ProjectRef", "effective_roles", "open_project", "open_projects", "rules_of"]


@dataclass(frozen=True, slots=True)
class ProjectRef:
    """A project as a request names it: by id, else by slug."""

    id: str | None = None
    slug: str | None = None

    def __str__(self) -> str:
        return f"ID '{self.id}'" if self.id else f"slug '{self.slug}'"


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """A project, and what the principal may do in it."""

    principal: Principal
    project: Project
    permissions: Permissions

    def require(self, action: Action, subject: Subject, where: Where | None = None) -> None:
        """Let pass what is allowed at the place; without one, in the whole project.

        Raises:
            ForbiddenError: it is not allowed there, or denied.
        """
        self.permissions.require(action, subject, where)

    def allows(self, action: Action, subject: Subject, where: Where | None = None) -> bool:
        """Return whether it is allowed at the place; without one, in the whole project."""
        return self.permissions.allows(action, subject, where)

    def refusal(
        self,
        message: str,
        action: Action,
        subject: Subject,
        where: Where | None = None,
        *,
        name: str | None = None,
    ) -> ForbiddenError:
        """Return a refusal in words of its own, which names the rule that is missing (wire.md section 8.2)."""
        environment, path = (None, None) if where is None else (where.environment, where.path)
        denial = Denial(action, subject, environment, path, project_id=self.project.id)
        return ForbiddenError(message, name=name, denial=denial)

    def require_may_give_roles(self, roles: Iterable[str]) -> None:
        """Let pass who may do all that these roles give.

        Raises:
            ForbiddenError: the principal would give more than it has (`PermissionBoundaryError`).
        """
        require_may_give(self.permissions, (rule for role in roles for rule in rules_of_role(role)))


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
        found = await open_projects(unit, principal, ids=[ref.id])
    else:
        found = await open_projects(unit, principal, slugs=[ref.slug] if ref.slug else [])
    if not found:
        raise NotFoundError(f"Project with {ref} not found")
    return found[0]


async def open_projects(
    unit: UnitOfWork, principal: Principal, *, ids: Iterable[str] = (), slugs: Iterable[str] = ()
) -> list[ProjectAccess]:
    """Return the projects of the principal's organization of these ids or slugs, those that exist."""
    found = await unit.projects.find(principal.organization_id, principal.identity_id, ids=ids, slugs=slugs)
    granted = [project.id for project, _, has_grants in found if has_grants]
    rules = await rules_of(unit, principal, granted)
    return [
        ProjectAccess(
            principal,
            project,
            Permissions(effective_roles(principal, roles), rules.get(project.id, ()), project.id),
        )
        for project, roles, _ in found
    ]


async def rules_of(
    unit: UnitOfWork, principal: Principal, project_ids: Sequence[ProjectId]
) -> dict[ProjectId, tuple[Rule, ...]]:
    """Return the principal's rules by project, of those of these projects where it has any.

    An organization's admin has none: whoever may change all grants is not bound by them.
    """
    if not project_ids or principal.organization_role == OrganizationRole.ADMIN:
        return {}
    grants = await unit.grants.of_member(principal.identity_id, project_ids)
    return {project_id: tuple(map(rule_of, some)) for project_id, some in grants.items()}
