"""Folders (wire.md section 2.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, FolderPath, new_uuid
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.folder_moves import (
    follow_rename,
    require_movable,
    require_moving,
    require_moving_to_expected,
    require_room,
)
from keybearer.domain.paths import ROOT, ancestors, folder_name_of, normalize_path, parent_of
from keybearer.store.audit import AuditDetail, AuditEvent
from keybearer.store.database import Database
from keybearer.store.records import Environment, Folder
from keybearer.store.unit import UnitOfWork

__all__ = ["FolderChange", "FolderView", "Folders", "FoldersAt"]


@dataclass(frozen=True, slots=True)
class FoldersAt:
    """A folder as a request names it."""

    project: ProjectRef
    environment: EnvironmentSlug
    path: FolderPath


@dataclass(frozen=True, slots=True)
class FolderView:
    """A folder with its environment."""

    folder: Folder
    environment: Environment


@dataclass(frozen=True, slots=True)
class FolderChange:
    """A folder's new name, in the folder at `path`; None for the description leaves it."""

    id: str
    environment: EnvironmentSlug
    path: FolderPath
    name: str
    description: str | None


class Folders:
    """Decides about folders."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(
        self, principal: Principal, at: FoldersAt, name: str, description: str | None
    ) -> FolderView:
        """Make a folder in the one at the path; missing folders above it are made on the way.

        Raises:
            NotFoundError: no such project or environment.
            ForbiddenError: the principal may not.
            InvalidError: the folder exists.
            SchemaViolationError: a name holds what no folder may be called.
        """
        path = normalize_path(f"{at.path}/{name}")
        paths = ancestors(path)
        async with self._database.writing() as unit:
            access, environment = await self._open(unit, principal, at, Action.CREATE)
            access.require(Action.CREATE, Subject.FOLDERS, Where(environment.slug, path))
            await unit.move_project(access.project.id)
            present = await unit.folders.of_paths(environment.id, [ROOT, *paths])
            if path in present:
                raise InvalidError(f"Folder with name '{name}' already exists in path '{at.path}'")
            now = self._clock.now()
            for missing in paths:
                if missing not in present:
                    access.require(Action.CREATE, Subject.FOLDERS, Where(environment.slug, missing))
                    parent = present[parent_of(missing)]
                    folder = _new_folder(environment, parent, missing, now)
                    if missing == path:
                        folder = replace(folder, description=description)
                    await unit.folders.add(access.project.id, folder)
                    present[missing] = folder
            view = FolderView(present[path], environment)
            await unit.audit(_event(principal, EventType.CREATE_FOLDER, access, view))
            return view

    async def list(
        self, principal: Principal, at: FoldersAt, *, recursive: bool, modified_since: datetime | None
    ) -> Sequence[FolderView]:
        """Return the folders in the one at the path; an unknown path holds none.

        Raises:
            NotFoundError: no such project or environment.
            ForbiddenError: the principal may not read folders.
        """
        async with self._database.reading() as unit:
            access, environment = await self._open(unit, principal, at, Action.READ)
            above = await unit.folders.at(access.project.id, at.environment, at.path)
            if above is None:
                return []
            found = await (unit.folders.descendants(above) if recursive else unit.folders.children(above))
        readable = await access.permissions.places(
            Action.READ, Subject.FOLDERS, [(environment.slug, folder.path) for folder in found]
        )
        return [
            FolderView(folder, environment)
            for folder in found
            if (environment.slug, folder.path) in readable
            and (
                modified_since is None
                or (folder.last_secret_modified is not None and folder.last_secret_modified >= modified_since)
            )
        ]

    async def get(self, principal: Principal, folder_id: str) -> FolderView:
        """Return one folder by its id.

        Raises:
            NotFoundError: no project of the organization has it.
            ForbiddenError: the principal may not read folders of its project.
        """
        async with self._database.reading() as unit:
            folder = await unit.folders.get(folder_id)
            if folder is None:
                raise _unknown(folder_id)
            environment = await unit.projects.environment_by_id(folder.environment_id)
            if environment is None:
                raise _unknown(folder_id)
            access = await open_project(unit, principal, ProjectRef(id=environment.project_id))
            access.require(Action.READ, Subject.FOLDERS, Where(environment.slug, folder.path))
            return FolderView(folder, environment)

    async def get_at(self, principal: Principal, at: FoldersAt) -> FolderView:
        """Return the folder at a path.

        Raises:
            NotFoundError: no such project, environment or folder.
            ForbiddenError: the principal may not read folders.
        """
        async with self._database.reading() as unit:
            access, environment = await self._open(unit, principal, at, Action.READ)
            access.require(Action.READ, Subject.FOLDERS, Where(environment.slug, at.path))
            folder = await unit.folders.at(access.project.id, at.environment, at.path)
            if folder is None:
                raise NotFoundError(
                    f"Folder with path '{at.path}' in environment with slug '{at.environment}' not found"
                )
            return FolderView(folder, environment)

    async def update(
        self, principal: Principal, ref: ProjectRef, changes: Sequence[FolderChange]
    ) -> Sequence[FolderView]:
        """Rename folders, all or none; what lies under them moves along, and what names them follows.

        Raises:
            NotFoundError: no such project, environment or folder.
            ForbiddenError: the principal may not.
            InvalidError: the new name is taken, or the folder is the root or a reserved one.
            SchemaViolationError: a name holds what no folder may be called, or a path grows too long.
        """
        async with self._database.writing() as unit:
            return [await self._rename(unit, principal, ref, change) for change in changes]

    async def delete(
        self, principal: Principal, at: FoldersAt, id_or_name: str, *, force: bool
    ) -> FolderView:
        """Remove a folder; one that holds folders only when forced.

        Raises:
            NotFoundError: no such project, environment or folder.
            ForbiddenError: the principal may not.
            InvalidError: the folder is the root, or reserved, or not empty.
        """
        async with self._database.writing() as unit:
            access, environment = await self._open(unit, principal, at, Action.DELETE)
            await unit.move_project(access.project.id)
            folder = await _find(unit, access, environment, at, id_or_name)
            require_movable(folder)
            where = Where(environment.slug, folder.path)
            access.require(Action.DELETE, Subject.FOLDERS, where)
            access.permissions.require_all_beneath([Action.DELETE], [Subject.FOLDERS, Subject.SECRETS], where)
            if not force and await _holds_anything(unit, folder):
                raise InvalidError(
                    f"Folder '{folder.path}' is not empty; send forceDelete to delete it anyway"
                )
            await unit.folders.delete(access.project.id, folder)
            view = FolderView(folder, environment)
            await unit.audit(_event(principal, EventType.DELETE_FOLDER, access, view))
            return view

    async def _rename(
        self, unit: UnitOfWork, principal: Principal, ref: ProjectRef, change: FolderChange
    ) -> FolderView:
        at = FoldersAt(ref, change.environment, change.path)
        access, environment = await self._open(unit, principal, at, Action.EDIT)
        await unit.move_project(access.project.id)
        old = await _find(unit, access, environment, at, change.id)
        require_movable(old)
        path = normalize_path(f"{parent_of(old.path)}/{change.name}")
        ancestors(path)
        require_moving(access, Where(environment.slug, old.path), Where(environment.slug, path))
        await require_room(unit, old, path)
        if path != old.path and await unit.folders.of_paths(environment.id, [path]):
            raise InvalidError(f"Folder with name '{change.name}' already exists in path '{parent_of(path)}'")
        new = replace(
            old,
            name=change.name,
            path=path,
            description=old.description if change.description is None else change.description,
            version=old.version + 1,
            updated_at=self._clock.now(),
        )
        if path != old.path:
            folders = [old, *await unit.folders.descendants(old)]
            await require_moving_to_expected(unit, access, environment.slug, folders, path)
            await follow_rename(unit, access, environment.slug, folders, new)
        await unit.folders.rename(access.project.id, old, new)
        view = FolderView(new, environment)
        await unit.audit(_event(principal, EventType.UPDATE_FOLDER, access, view, formerPath=old.path))
        return view

    async def _open(
        self, unit: UnitOfWork, principal: Principal, at: FoldersAt, action: Action
    ) -> tuple[ProjectAccess, Environment]:
        """Return where it happens; what is done to a folder is asked for at the folder's own path."""
        access = await open_project(unit, principal, at.project)
        where = Where(at.environment, at.path)
        if not access.permissions.allows_beneath(action, Subject.FOLDERS, where):
            access.require(action, Subject.FOLDERS, where)
        environment = await unit.projects.environment(access.project.id, at.environment)
        if environment is None:
            raise NotFoundError(
                f"Environment with slug '{at.environment}' in project with ID {access.project.id} not found"
            )
        return access, environment


def _new_folder(environment: Environment, parent: Folder, path: FolderPath, now: datetime) -> Folder:
    return Folder(
        id=new_uuid(),
        environment_id=environment.id,
        parent_id=parent.id,
        name=folder_name_of(path),
        path=path,
        description=None,
        version=1,
        is_reserved=False,
        last_secret_modified=None,
        created_at=now,
        updated_at=now,
    )


async def _holds_anything(unit: UnitOfWork, folder: Folder) -> bool:
    return bool(await unit.folders.children(folder)) or await unit.secrets.exists_in(folder.id)


async def _find(
    unit: UnitOfWork, access: ProjectAccess, environment: Environment, at: FoldersAt, id_or_name: str
) -> Folder:
    """Return the folder of that id in the environment, or of that name in the folder at the path."""
    folder = await unit.folders.get(id_or_name)
    if folder is not None and folder.environment_id == environment.id:
        return folder
    named = await unit.folders.at(
        access.project.id, environment.slug, normalize_path(f"{at.path}/{id_or_name}")
    )
    if named is None or "/" in id_or_name:
        raise _unknown(id_or_name)
    return named


def _event(
    principal: Principal, kind: EventType, access: ProjectAccess, view: FolderView, **details: AuditDetail
) -> AuditEvent:
    return audited(
        principal,
        kind,
        access.project.id,
        environment=view.environment.slug,
        folderId=view.folder.id,
        folderPath=view.folder.path,
        **details,
    )


def _unknown(id_or_name: str) -> NotFoundError:
    return NotFoundError(f"Folder with ID or name '{id_or_name}' not found")
