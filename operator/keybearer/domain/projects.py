"""Projects and who may use them (wire.md sections 1.4 and 2.10)."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, IdentityId, ProjectId, new_uuid
from keybearer.domain.access import ProjectRef, open_project, rules_of
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import (
    Action,
    OrganizationRole,
    Principal,
    ProjectRole,
    Subject,
    Where,
    require_organization,
)
from keybearer.domain.environments import add_environment
from keybearer.domain.errors import ForbiddenError, InvalidError
from keybearer.domain.identity_memberships import add_member
from keybearer.domain.paths import ROOT
from keybearer.domain.permissions import Permissions
from keybearer.store.audit import AuditEvent
from keybearer.store.database import Database
from keybearer.store.former_slugs import FormerSlug
from keybearer.store.records import Environment, Project
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import PROJECT_SLUG_MAX

__all__ = ["NewProject", "ProjectChange", "ProjectView", "Projects"]

_DEFAULT_ENVIRONMENTS = (("Development", "dev"), ("Staging", "staging"), ("Production", "prod"))
_SLUG_KEPT = timedelta(days=30)
"""How long a slug that a project gave up isn't everybody's: references of other projects may still name it."""
_SUFFIX_LENGTH = 5
_SUFFIX_LETTERS = string.ascii_lowercase + string.digits


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project with its environments."""

    project: Project
    environments: tuple[Environment, ...]


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a project is made of; without a slug one is made from the name."""

    name: str
    slug: str | None
    description: str | None
    type: str
    default_environments: bool
    delete_protection: bool


@dataclass(frozen=True, slots=True)
class ProjectChange:
    """What changes; None leaves a field as it is."""

    name: str | None = None
    slug: str | None = None
    description: str | None = None
    auto_capitalization: bool | None = None
    delete_protection: bool | None = None


class Projects:
    """Decides about projects and memberships."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, principal: Principal, new: NewProject) -> ProjectView:
        """Make a project; its creator becomes its admin.

        Raises:
            ForbiddenError: the organization's role doesn't allow it, or the slug was another project's until lately.
            InvalidError: the slug is taken.
        """
        require_organization(principal, Action.CREATE, Subject.PROJECT)
        now = self._clock.now()
        project = Project(
            id=ProjectId(new_uuid()),
            organization_id=principal.organization_id,
            name=new.name,
            slug=new.slug or _slug_from(new.name),
            description=new.description,
            type=new.type,
            auto_capitalization=False,
            has_delete_protection=new.delete_protection,
            revision=1,
            created_at=now,
            updated_at=now,
        )
        async with self._database.writing() as unit:
            await unit.move_names(principal.organization_id)
            await _require_free_slug(unit, principal, project.slug, now)
            await unit.projects.add(project)
            await unit.keys.create(project.id)
            await add_member(unit, project.id, principal.identity_id, (ProjectRole.ADMIN,), now)
            environments = []
            for position, (name, slug) in enumerate(
                _DEFAULT_ENVIRONMENTS if new.default_environments else (), start=1
            ):
                environment = Environment(
                    new_uuid(), project.id, name, EnvironmentSlug(slug), position, now, now
                )
                await add_environment(unit, environment)
                environments.append(environment)
            unit.changes.revisions[project.id] = project.revision
            await unit.audit(_event(principal, EventType.CREATE_PROJECT, project))
        return ProjectView(project, tuple(environments))

    async def get(self, principal: Principal, ref: ProjectRef) -> ProjectView:
        """Return one project.

        Raises:
            NotFoundError: the organization has no such project.
            ForbiddenError: the principal has neither a role in it nor a grant for any of it.
        """
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ref)
            access.permissions.require_shown()
            view = await _view(unit, access.project)
        return _seen_with(access.permissions, view)

    async def list(self, principal: Principal, kind: str | None) -> Sequence[ProjectView]:
        """Return the projects the principal may read, by name; only those of a type if given."""
        async with self._database.reading() as unit:
            shown = [
                (project, permissions)
                for project, permissions in await _shown(unit, principal)
                if kind is None or project.type == kind
            ]
            environments = await unit.projects.environments(project.id for project, _ in shown)
        by_project: dict[ProjectId, list[Environment]] = {}
        for environment in environments:
            by_project.setdefault(environment.project_id, []).append(environment)
        return [
            _seen_with(permissions, ProjectView(project, tuple(by_project.get(project.id, ()))))
            for project, permissions in shown
        ]

    async def update(self, principal: Principal, ref: ProjectRef, change: ProjectChange) -> ProjectView:
        """Change a project.

        Raises:
            NotFoundError: the organization has no such project.
            ForbiddenError: the principal may not edit it, or the new slug was another project's until lately.
            InvalidError: the new slug is taken.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.EDIT, Subject.PROJECT)
            old, now = access.project, self._clock.now()
            await unit.move_project(old.id)
            if change.slug is not None and change.slug != old.slug:
                await unit.move_names(old.organization_id)
                unit.changes.organizations.add(old.organization_id)  # references of any project may name it
                await _require_free_slug(unit, principal, change.slug, now, old.id)
                await _give_up_slug(unit, old, None, now)
            new = replace(
                old,
                name=old.name if change.name is None else change.name,
                slug=old.slug if change.slug is None else change.slug,
                description=old.description if change.description is None else change.description,
                auto_capitalization=(
                    old.auto_capitalization
                    if change.auto_capitalization is None
                    else change.auto_capitalization
                ),
                has_delete_protection=(
                    old.has_delete_protection
                    if change.delete_protection is None
                    else change.delete_protection
                ),
                updated_at=now,
            )
            await unit.projects.update(new)
            if new.slug != old.slug:
                await unit.bindings.refresh(old.id)
            await unit.audit(_event(principal, EventType.UPDATE_PROJECT, new))
            return await _view(unit, new)

    async def delete(self, principal: Principal, ref: ProjectRef) -> ProjectView:
        """Remove a project with all it holds, its data keys included, and return what it was.

        Raises:
            NotFoundError: the organization has no such project.
            ForbiddenError: the principal may not delete it.
            InvalidError: it is protected.
        """
        async with self._database.writing() as unit:
            access = await open_project(unit, principal, ref)
            access.require(Action.DELETE, Subject.PROJECT)
            if access.project.has_delete_protection:
                raise InvalidError("Project has delete protection; switch it off before deleting the project")
            view = await _view(unit, access.project)
            for environment in await unit.projects.environments([access.project.id]):
                access.permissions.require_all_beneath(
                    [Action.DELETE], [Subject.SECRETS, Subject.FOLDERS], Where(environment.slug, ROOT)
                )
            await unit.move_project(access.project.id)
            await unit.move_names(access.project.organization_id)
            unit.changes.organizations.add(access.project.organization_id)
            await unit.projects.delete(access.project.id)
            await unit.bindings.refresh(access.project.id)
            await _give_up_slug(unit, access.project, principal.identity_id, self._clock.now())
            await unit.audit(_event(principal, EventType.DELETE_PROJECT, access.project))
        return view


async def _shown(unit: UnitOfWork, principal: Principal) -> Sequence[tuple[Project, Permissions]]:
    if principal.organization_role == OrganizationRole.ADMIN:
        everything = Permissions((ProjectRole.ADMIN,))
        return [(project, everything) for project in await unit.projects.all_of(principal.organization_id)]
    found = await unit.projects.of_member(principal.organization_id, principal.identity_id)
    rules = await rules_of(unit, principal, [project.id for project, _ in found])
    members = [
        (project, Permissions(roles, rules.get(project.id, ()), project.id)) for project, roles in found
    ]
    return [(project, permissions) for project, permissions in members if permissions.shows_project()]


def _seen_with(permissions: Permissions, view: ProjectView) -> ProjectView:
    return replace(
        view,
        environments=tuple(item for item in view.environments if permissions.shows_environment(item.slug)),
    )


def _event(principal: Principal, kind: EventType, project: Project) -> AuditEvent:
    return audited(principal, kind, project.id, name=project.name, slug=project.slug)


async def _view(unit: UnitOfWork, project: Project) -> ProjectView:
    return ProjectView(project, tuple(await unit.projects.environments([project.id])))


async def _require_free_slug(
    unit: UnitOfWork, principal: Principal, slug: str, now: datetime, project_id: ProjectId | None = None
) -> None:
    """Let pass a slug that the project, None for a new one, may have.

    Raises:
        ForbiddenError: another project gave it up lately, and the principal is neither an admin of the organization
            nor who deleted that project.
        InvalidError: it is taken.
    """
    if await unit.projects.slug_exists(principal.organization_id, slug):
        raise InvalidError(f"A project with the slug '{slug}' already exists; choose another slug")
    if principal.organization_role == OrganizationRole.ADMIN:
        return
    former = await unit.former_slugs.get(principal.organization_id, slug, since=now - _SLUG_KEPT)
    if former is not None and project_id != former.project_id and principal.identity_id != former.owner_id:
        free = former.given_up_at + _SLUG_KEPT
        raise ForbiddenError(
            f"The slug '{slug}' was another project's, and references may still name it. It is free on "
            f"{free:%Y-%m-%d}; until then choose another slug, or ask an admin of the organization"
        )


async def _give_up_slug(
    unit: UnitOfWork, project: Project, owner_id: IdentityId | None, now: datetime
) -> None:
    former = FormerSlug(project.organization_id, project.slug, project.id, owner_id, now)
    await unit.former_slugs.put(former, keep_since=now - _SLUG_KEPT)


def _slug_from(name: str) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "project"
    suffix = "".join(secrets.choice(_SUFFIX_LETTERS) for _ in range(_SUFFIX_LENGTH))
    return f"{base[: PROJECT_SLUG_MAX - _SUFFIX_LENGTH - 1].strip('-')}-{suffix}"
