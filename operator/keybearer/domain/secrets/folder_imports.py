"""Which places a folder imports: made, moved, redirected and removed (wire.md section 2.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, FolderPath, new_uuid
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.paths import ancestors, normalize_path
from keybearer.domain.positions import renumbered
from keybearer.domain.project_gate import Entered, Place, ProjectGate, place_of
from keybearer.domain.secrets.carried import require_readable_folders
from keybearer.interface.imports import CreateImport, DeleteImport, GetImport, ListImports, UpdateImport
from keybearer.store.database import Database
from keybearer.store.records import Environment, Folder
from keybearer.store.revisions import ChangeKind, ListChange
from keybearer.store.tables.imports import SecretImport
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import IMPORTS_PER_FOLDER_MAX

__all__ = ["FolderImports", "ImportView", "PlacedImport"]

_EVENTS = {
    Action.CREATE: EventType.CREATE_SECRET_IMPORT,
    Action.EDIT: EventType.UPDATE_SECRET_IMPORT,
    Action.DELETE: EventType.DELETE_SECRET_IMPORT,
}


@dataclass(frozen=True, slots=True)
class ImportView:
    """An import with the environment it leads to."""

    item: SecretImport
    source: Environment


@dataclass(frozen=True, slots=True)
class PlacedImport(ImportView):
    """An import with the folder that has it."""

    environment: Environment
    path: FolderPath


class FolderImports:
    """Decides about imports."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._gate = ProjectGate(database, Subject.IMPORTS, _EVENTS)
        self._clock = clock

    async def create(self, principal: Principal, new: CreateImport) -> ImportView:
        """Have the folder import a place of the same project, after all it imports already.

        The place need not exist yet; it is shown once it does.

        Raises:
            NotFoundError: no such project, folder or environment.
            ForbiddenError: the principal may not, here or there, or may not read what the place leads to.
            InvalidError: the folder imports it already, or is imported by it, or imports too much.
            SchemaViolationError: no folder can be called so.
        """
        at, path = place_of(new), normalize_path(new.from_path)
        async with self._gate.changing(principal, new.project_id, Action.CREATE, at) as entered:
            unit, access = entered.unit, entered.access
            folder = await _folder(entered, at)
            environment = await _source(unit, access, EnvironmentSlug(new.from_environment))
            # Of values: what is imported is carried on by syncs, whoever made the import.
            access.require(Action.READ_VALUE, Subject.SECRETS, Where(environment.slug, path))
            present = await unit.imports.count_of(folder.id)
            if present >= IMPORTS_PER_FOLDER_MAX:
                raise InvalidError(f"A folder has at most {IMPORTS_PER_FOLDER_MAX} imports")
            await _require_sound(unit, access, folder, environment, path)
            now = self._clock.now()
            item = SecretImport(
                new_uuid(), folder.id, environment.id, path, present + 1, new.is_replication, 1, now, now
            )
            await unit.imports.add(item)
            return _noted(entered, at, ImportView(item, environment))

    async def list(self, principal: Principal, asked: ListImports) -> Sequence[ImportView]:
        """Return the imports of a folder by position.

        Raises:
            NotFoundError: no such project or folder.
            ForbiddenError: the principal may not read imports.
        """
        at = place_of(asked)
        async with self._gate.reading(principal, asked.project_id, at) as entered:
            items = await entered.unit.imports.of_folder((await _folder(entered, at)).id)
            present = await entered.unit.projects.environments([entered.project_id])
        environments = {item.id: item for item in present}
        return [ImportView(item, environments[item.environment_id]) for item in items]

    async def get(self, principal: Principal, asked: GetImport) -> PlacedImport:
        """Return one import by its id.

        Raises:
            NotFoundError: no project of the organization has it.
            ForbiddenError: the principal may not read imports of its folder.
        """
        async with self._database.reading() as unit:
            item = await unit.imports.get(asked.import_id)
            folder = None if item is None else await unit.folders.get(item.folder_id)
            if item is None or folder is None:
                raise _unknown(asked.import_id)
            home = await _environment(unit, folder.environment_id)
            access = await open_project(unit, principal, ProjectRef(id=home.project_id))
            access.require(Action.READ, Subject.IMPORTS, Where(home.slug, folder.path))
            return PlacedImport(item, await _environment(unit, item.environment_id), home, folder.path)

    async def update(self, principal: Principal, change: UpdateImport) -> ImportView:
        """Lead an import elsewhere, or move it; those in between move up or down by one.

        Raises:
            NotFoundError: no such project, folder, import or environment.
            ForbiddenError: the principal may not, here or there, or may not read what the place leads to.
            InvalidError: the folder imports the new place already, or is imported by it.
            SchemaViolationError: no folder can be called so.
        """
        at, path = place_of(change), None if change.from_path is None else normalize_path(change.from_path)
        async with self._gate.changing(principal, change.project_id, Action.EDIT, at) as entered:
            unit, access = entered.unit, entered.access
            folder = await _folder(entered, at)
            everyone = await unit.imports.of_folder(folder.id)
            old = _one(everyone, change.import_id)
            others = [item for item in everyone if item.id != old.id]
            environment = await _environment(unit, old.environment_id)
            if change.from_environment is not None:
                environment = await _source(unit, access, EnvironmentSlug(change.from_environment))
            path = old.path if path is None else path
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
            await unit.imports.update(new)
            await _number(unit, [*others[: place - 1], new, *others[place - 1 :]], others)
            return _noted(entered, at, ImportView(new, environment))

    async def delete(self, principal: Principal, asked: DeleteImport) -> ImportView:
        """Remove an import, and return what it was.

        Raises:
            NotFoundError: no such project, folder or import.
            ForbiddenError: the principal may not.
        """
        at = place_of(asked)
        async with self._gate.changing(principal, asked.project_id, Action.DELETE, at) as entered:
            unit = entered.unit
            everyone = await unit.imports.of_folder((await _folder(entered, at)).id)
            old = _one(everyone, asked.import_id)
            source = await _environment(unit, old.environment_id)
            await unit.imports.delete(old.id)
            others = [item for item in everyone if item.id != old.id]
            await _number(unit, others, others)
            return _noted(entered, at, ImportView(old, source))


def _noted(entered: Entered, at: Place, view: ImportView) -> ImportView:
    """Note the change for listeners and for the audit log."""
    change = ListChange(ChangeKind.IMPORTS, entered.project_id, at.environment, at.path)
    entered.unit.changes.folders.append(change)
    entered.details.update(
        secretImportId=view.item.id,
        environment=at.environment,
        secretPath=at.path,
        importFromEnvironment=view.source.slug,
        importFromSecretPath=view.item.path,
        position=view.item.position,
    )
    return view


async def _number(unit: UnitOfWork, ordered: Sequence[SecretImport], stored: Sequence[SecretImport]) -> None:
    for item in renumbered(ordered, stored):
        await unit.imports.update(item)


async def _folder(entered: Entered, at: Place) -> Folder:
    folder = await entered.unit.folders.at(entered.project_id, at.environment, at.path)
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
