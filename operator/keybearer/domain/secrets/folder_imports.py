"""Which places a folder imports: made, moved, redirected and removed (wire.md section 2.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, FolderPath, new_uuid
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.paths import ancestors
from keybearer.domain.positions import renumbered
from keybearer.domain.secrets.carried import require_readable_folders
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.store.database import Database
from keybearer.store.records import Environment, Folder, SecretImport
from keybearer.store.revisions import ChangeKind, ListChange
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import IMPORTS_PER_FOLDER_MAX

__all__ = ["FolderImports", "ImportChange", "ImportView", "PlacedImport"]


@dataclass(frozen=True, slots=True)
class ImportView:
    """An import with the environment it leads to."""

    item: SecretImport
    source: Environment


@dataclass(frozen=True, slots=True)
class PlacedImport:
    """An import with the folder that has it."""

    view: ImportView
    environment: Environment
    path: FolderPath


@dataclass(frozen=True, slots=True)
class ImportChange:
    """What changes of an import; None leaves a field as it is."""

    environment: EnvironmentSlug | None = None
    path: FolderPath | None = None
    position: int | None = None


class FolderImports:
    """Decides about imports."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(
        self, principal: Principal, at: SecretsAt, source: Where, *, replication: bool
    ) -> ImportView:
        """Have the folder import a place of the same project, after all it imports already.

        The place need not exist yet; it is shown once it does.

        Raises:
            NotFoundError: no such project, folder or environment.
            ForbiddenError: the principal may not, here or there, or may not read what the place leads to.
            InvalidError: the folder imports it already, or is imported by it, or imports too much.
            SchemaViolationError: no folder can be called so.
        """
        async with self._database.writing() as unit:
            access, folder = await self._open(unit, principal, at, Action.CREATE)
            environment = await _source(unit, access, EnvironmentSlug(source.environment))
            path = FolderPath(source.path)
            # Of values: what is imported is carried on by syncs, whoever made the import.
            access.require(Action.READ_VALUE, Subject.SECRETS, source)
            present = await unit.imports.count_of(folder.id)
            if present >= IMPORTS_PER_FOLDER_MAX:
                raise InvalidError(f"A folder has at most {IMPORTS_PER_FOLDER_MAX} imports")
            await _require_sound(unit, access, folder, environment, path)
            now = self._clock.now()
            item = SecretImport(
                id=new_uuid(),
                folder_id=folder.id,
                environment_id=environment.id,
                path=path,
                position=present + 1,
                is_replication=replication,
                version=1,
                created_at=now,
                updated_at=now,
            )
            await unit.imports.add(item)
            return await _noted(
                unit, access, at, EventType.CREATE_SECRET_IMPORT, ImportView(item, environment)
            )

    async def list(self, principal: Principal, at: SecretsAt) -> Sequence[ImportView]:
        """Return the imports of a folder by position.

        Raises:
            NotFoundError: no such project or folder.
            ForbiddenError: the principal may not read imports.
        """
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, at.project)
            access.require(Action.READ, Subject.IMPORTS, Where(at.environment, at.path))
            folder = await _folder(unit, access, at)
            items = await unit.imports.of_folder(folder.id)
            environments = {item.id: item for item in await unit.projects.environments([access.project.id])}
        return [ImportView(item, environments[item.environment_id]) for item in items]

    async def get(self, principal: Principal, import_id: str) -> PlacedImport:
        """Return one import by its id.

        Raises:
            NotFoundError: no project of the organization has it.
            ForbiddenError: the principal may not read imports of its folder.
        """
        async with self._database.reading() as unit:
            item = await unit.imports.get(import_id)
            folder = None if item is None else await unit.folders.get(item.folder_id)
            if item is None or folder is None:
                raise _unknown(import_id)
            home = await _environment(unit, folder.environment_id)
            access = await open_project(unit, principal, ProjectRef(id=home.project_id))
            access.require(Action.READ, Subject.IMPORTS, Where(home.slug, folder.path))
            source = await _environment(unit, item.environment_id)
            return PlacedImport(ImportView(item, source), home, folder.path)

    async def update(
        self, principal: Principal, at: SecretsAt, import_id: str, change: ImportChange
    ) -> ImportView:
        """Lead an import elsewhere, or move it; those in between move up or down by one.

        Raises:
            NotFoundError: no such project, folder, import or environment.
            ForbiddenError: the principal may not, here or there, or may not read what the place leads to.
            InvalidError: the folder imports the new place already, or is imported by it.
            SchemaViolationError: no folder can be called so.
        """
        async with self._database.writing() as unit:
            access, folder = await self._open(unit, principal, at, Action.EDIT)
            everyone = await unit.imports.of_folder(folder.id)
            old = _one(everyone, import_id)
            others = [item for item in everyone if item.id != old.id]
            environment = await _environment(unit, old.environment_id)
            if change.environment is not None:
                environment = await _source(unit, access, change.environment)
            path = old.path if change.path is None else change.path
            if (environment.id, path) != (old.environment_id, old.path):
                access.require(Action.READ_VALUE, Subject.SECRETS, Where(environment.slug, path))
                await _require_sound(unit, access, folder, environment, path)
            place = min(change.position or old.position, len(everyone))
            new = replace(
                old,
                environment_id=environment.id,
                path=path,
                position=place,
                version=old.version + 1,
                updated_at=self._clock.now(),
            )
            await unit.imports.update([new])
            await unit.imports.update(renumbered([*others[: place - 1], new, *others[place - 1 :]], others))
            return await _noted(
                unit, access, at, EventType.UPDATE_SECRET_IMPORT, ImportView(new, environment)
            )

    async def delete(self, principal: Principal, at: SecretsAt, import_id: str) -> ImportView:
        """Remove an import, and return what it was.

        Raises:
            NotFoundError: no such project, folder or import.
            ForbiddenError: the principal may not.
        """
        async with self._database.writing() as unit:
            access, folder = await self._open(unit, principal, at, Action.DELETE)
            everyone = await unit.imports.of_folder(folder.id)
            old = _one(everyone, import_id)
            source = await _environment(unit, old.environment_id)
            await unit.imports.delete(old.id)
            others = [item for item in everyone if item.id != old.id]
            await unit.imports.update(renumbered(others, others))
            return await _noted(unit, access, at, EventType.DELETE_SECRET_IMPORT, ImportView(old, source))

    async def _open(
        self, unit: UnitOfWork, principal: Principal, at: SecretsAt, action: Action
    ) -> tuple[ProjectAccess, Folder]:
        access = await open_project(unit, principal, at.project)
        access.require(action, Subject.IMPORTS, Where(at.environment, at.path))
        await unit.move_project(access.project.id)
        return access, await _folder(unit, access, at)


async def _noted(
    unit: UnitOfWork, access: ProjectAccess, at: SecretsAt, event: EventType, view: ImportView
) -> ImportView:
    """Note the change for listeners and in the audit log."""
    project_id = access.project.id
    unit.changes.folders.append(ListChange(ChangeKind.IMPORTS, project_id, at.environment, at.path))
    await unit.audit(
        audited(
            access.principal,
            event,
            project_id,
            secretImportId=view.item.id,
            environment=at.environment,
            secretPath=at.path,
            importFromEnvironment=view.source.slug,
            importFromSecretPath=view.item.path,
            position=view.item.position,
        )
    )
    return view


async def _folder(unit: UnitOfWork, access: ProjectAccess, at: SecretsAt) -> Folder:
    folder = await unit.folders.at(access.project.id, at.environment, at.path)
    if folder is None:
        raise NotFoundError(
            f"Folder with path '{at.path}' in environment with slug '{at.environment}' not found"
        )
    return folder


async def _source(unit: UnitOfWork, access: ProjectAccess, slug: EnvironmentSlug) -> Environment:
    environment = await unit.projects.environment(access.project.id, slug)
    if environment is None:
        raise NotFoundError(
            f"Imported environment with slug '{slug}' in project with ID '{access.project.id}' not found"
        )
    return environment


async def _environment(unit: UnitOfWork, environment_id: str) -> Environment:
    environment = await unit.projects.environment_by_id(environment_id)
    if environment is None:
        raise NotFoundError(f"Environment with ID '{environment_id}' not found")
    return environment


async def _require_sound(
    unit: UnitOfWork,
    access: ProjectAccess,
    folder: Folder,
    environment: Environment,
    path: FolderPath,
) -> None:
    """Refuse an import of what no folder is called, of the folder itself, a second one, and the shortest circle.

    Refuse one as well that leads to what the principal may not read. A place where no folder is leads nowhere. Longer
    circles are cut when they are read: they may come about by a rename as well.
    """
    ancestors(path)
    if await unit.imports.leads(folder.id, environment.id, path):
        raise InvalidError(f"The folder imports '{path}' of environment '{environment.slug}' already")
    source = await unit.folders.at(access.project.id, environment.slug, path)
    if source is None:
        return
    if source.id == folder.id or await unit.imports.leads(source.id, folder.environment_id, folder.path):
        raise InvalidError("Cyclic import not allowed")
    await require_readable_folders(unit, access, [source])


def _one(items: Sequence[SecretImport], import_id: str) -> SecretImport:
    for item in items:
        if item.id == import_id:
            return item
    raise _unknown(import_id)


def _unknown(import_id: str) -> NotFoundError:
    return NotFoundError(f"Secret import with ID '{import_id}' not found")
