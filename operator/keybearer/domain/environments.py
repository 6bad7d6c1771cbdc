"""Environments of a project (wire.md section 2.10)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, FolderPath, new_uuid
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.folder_moves import require_moving_away, require_moving_contents
from keybearer.domain.grants import grant_event
from keybearer.domain.paths import ROOT
from keybearer.domain.positions import renumbered
from keybearer.domain.project_gate import Entered, ProjectGate, changed
from keybearer.domain.secrets.stored_references import follow_folders
from keybearer.interface.environments import (
    CreateEnvironment,
    DeleteEnvironment,
    GetEnvironment,
    GetEnvironmentAnywhere,
    GetEnvironmentBySlug,
    UpdateEnvironment,
)
from keybearer.store.database import Database
from keybearer.store.records import Environment, Folder
from keybearer.store.unit import UnitOfWork

__all__ = ["Environments", "add_environment"]

_MAX_PER_PROJECT = 200
_EVENTS = {
    Action.CREATE: EventType.CREATE_ENVIRONMENT,
    Action.EDIT: EventType.UPDATE_ENVIRONMENT,
    Action.DELETE: EventType.DELETE_ENVIRONMENT,
}
_HELD = (Subject.SECRETS, Subject.FOLDERS, Subject.IMPORTS)


async def add_environment(unit: UnitOfWork, environment: Environment) -> None:
    """Store a new environment with its root folder."""
    await unit.projects.add_environment(environment)
    await unit.grants.bind(environment)
    await unit.folders.add(
        environment.project_id,
        Folder(
            id=new_uuid(),
            environment_id=environment.id,
            parent_id=None,
            name="root",
            path=FolderPath("/"),
            description=None,
            version=1,
            is_reserved=False,
            last_secret_modified=None,
            created_at=environment.created_at,
            updated_at=environment.created_at,
        ),
    )


class Environments:
    """Decides about environments."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._gate = ProjectGate(database, Subject.ENVIRONMENTS, _EVENTS)
        self._clock = clock

    async def create(self, principal: Principal, new: CreateEnvironment) -> Environment:
        """Make an environment; those at its position and after move on by one, without a position it is last.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not.
            InvalidError: the slug is taken, or the project has too many.
        """
        async with self._gate.changing(principal, new.project_id, Action.CREATE) as entered:
            unit, project_id, slug = entered.unit, entered.project_id, EnvironmentSlug(new.slug)
            others = await unit.projects.environments([project_id])
            _require_free(slug, others)
            if len(others) >= _MAX_PER_PROJECT:
                raise InvalidError(f"A project has at most {_MAX_PER_PROJECT} environments")
            now = self._clock.now()
            place = min(new.position or len(others) + 1, len(others) + 1)
            environment = Environment(new_uuid(), project_id, new.name, slug, place, now, now)
            await unit.projects.update_environments(
                renumbered([*others[: place - 1], environment, *others[place - 1 :]], others)
            )
            await add_environment(unit, environment)
            return _noted(entered, environment)

    async def get(self, principal: Principal, asked: GetEnvironment | GetEnvironmentBySlug) -> Environment:
        """Return one environment of the project, by id or slug.

        Raises:
            NotFoundError: no such project or environment.
            ForbiddenError: the principal may not read environments.
        """
        async with self._gate.reading(principal, asked.project_id) as entered:
            present = await entered.unit.projects.environments([entered.project_id])
            if isinstance(asked, GetEnvironmentBySlug):
                return _one(entered, present, slug=asked.slug)
            return _one(entered, present, environment_id=asked.environment_id)

    async def get_anywhere(self, principal: Principal, asked: GetEnvironmentAnywhere) -> Environment:
        """Return an environment by its id alone.

        Raises:
            NotFoundError: no project of the organization has it.
            ForbiddenError: the principal may not read environments of its project.
        """
        async with self._database.reading() as unit:
            environment = await unit.projects.environment_by_id(asked.environment_id)
            if environment is None:
                raise NotFoundError(f"Environment with ID '{asked.environment_id}' not found")
            access = await open_project(unit, principal, ProjectRef(id=environment.project_id))
            access.require(Action.READ, Subject.ENVIRONMENTS)
            return environment

    async def update(self, principal: Principal, change: UpdateEnvironment) -> Environment:
        """Change an environment.

        Raises:
            NotFoundError: no such project or environment.
            ForbiddenError: the principal may not; a new slug needs what moving all folders there needs.
            InvalidError: the new slug is taken.
        """
        async with self._gate.changing(principal, change.project_id, Action.EDIT) as entered:
            unit, access = entered.unit, entered.access
            present = await unit.projects.environments([entered.project_id])
            old = _one(entered, present, environment_id=change.environment_id)
            others = [item for item in present if item.id != old.id]
            _require_free(change.slug, others)
            place = min(change.position or old.position, len(present))
            new = replace(changed(old, change, self._clock.now()), position=place)
            if new.slug != old.slug:
                require_moving_contents(access, Where(old.slug, ROOT), Where(new.slug, ROOT), _HELD)
                await _follow_slug(unit, access, old, new)
            await unit.projects.update_environments([new])
            if new.slug != old.slug:
                await unit.grants.follow_slug(new)
                await unit.grants.bind(new)
                await unit.bindings.refresh(entered.project_id)
                unit.changes.organizations.add(access.project.organization_id)  # references name it
            await unit.projects.update_environments(
                renumbered([*others[: place - 1], new, *others[place - 1 :]], others)
            )
            return _noted(entered, new)

    async def delete(self, principal: Principal, asked: DeleteEnvironment) -> Environment:
        """Remove an environment with all it holds and the grants that name it, and return what it was.

        Raises:
            NotFoundError: no such project or environment.
            ForbiddenError: the principal may not; it needs what moving all folders away needs.
        """
        async with self._gate.changing(principal, asked.project_id, Action.DELETE) as entered:
            unit, access = entered.unit, entered.access
            present = await unit.projects.environments([entered.project_id])
            old = _one(entered, present, environment_id=asked.environment_id)
            require_moving_away(access, Where(old.slug, ROOT), _HELD)
            for grant in await unit.grants.of_environment(old.id):
                # Else it would speak of the next environment of that slug.
                await unit.move_identity(grant.identity_id)
                await unit.grants.delete(grant.id)
                await unit.audit(grant_event(principal, EventType.DELETE_GRANT, grant))
            await unit.projects.delete_environment(old.id)
            await unit.bindings.refresh(entered.project_id)
            unit.changes.organizations.add(access.project.organization_id)
            others = [item for item in present if item.id != old.id]
            await unit.projects.update_environments(renumbered(others, others))
            return _noted(entered, old)


def _require_free(slug: str | None, others: Iterable[Environment]) -> None:
    if any(other.slug == slug for other in others):
        raise InvalidError(f"Environment with slug '{slug}' already exists")


def _noted(entered: Entered, environment: Environment) -> Environment:
    """Return the environment, noted for the audit log."""
    entered.details.update(environmentId=environment.id, environment=environment.slug, name=environment.name)
    return environment


async def _follow_slug(unit: UnitOfWork, access: ProjectAccess, old: Environment, new: Environment) -> None:
    """Have the project's references name the environment by its new slug."""
    root = await unit.folders.at(access.project.id, old.slug, ROOT)
    if root is None:
        return

    def moved(slug: EnvironmentSlug, path: FolderPath) -> tuple[EnvironmentSlug, FolderPath]:
        return (new.slug if slug == old.slug else slug), path

    paths = [ROOT, *(folder.path for folder in await unit.folders.descendants(root))]
    await follow_folders(unit, access, old.slug, paths, moved, new.updated_at, {new.slug: new.id})


def _one(
    entered: Entered, present: Iterable[Environment], *, environment_id: str = "", slug: str = ""
) -> Environment:
    for environment in present:
        if environment.id == environment_id or environment.slug == slug:
            return environment
    named = f"ID '{environment_id}'" if environment_id else f"slug '{slug}'"
    raise NotFoundError(f"Environment with {named} in project with ID {entered.project_id} not found")
