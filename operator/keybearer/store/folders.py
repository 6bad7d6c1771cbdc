"""Folders: each row holds its whole path, so that a subtree is one range of an index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, delete, exists, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import EnvironmentSlug, FolderPath, OrganizationId, ProjectId
from keybearer.store.columns import select_record
from keybearer.store.folder_seals import FolderSeals
from keybearer.store.place_marks import folders_where, placed_folder
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.records import Folder
from keybearer.store.revisions import NOTED_MAX, ChangeKind, Changes, ListChange
from keybearer.store.sealing.known_sets import PlacedFolder
from keybearer.store.tables.imports import IMPORTS
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, ProjectRow
from keybearer.store.tables.secrets import SecretRow

__all__ = ["WITHIN_SUBTREE", "Folders", "subtree"]

_FOLDERS = select_record(FolderRow, Folder)
# Most changes, and each that makes or imports a folder, ask for these: their statements are built once.
_AT = _FOLDERS.join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id).where(
    EnvironmentRow.project_id == bindparam("project"),
    EnvironmentRow.slug == bindparam("environment"),
    FolderRow.path == bindparam("path"),
)
_OF_PATHS = _FOLDERS.where(
    FolderRow.environment_id == bindparam("environment"),
    FolderRow.path.in_(bindparam("paths", expanding=True)),
)
_ADD = insert(FolderRow)


def subtree(path: FolderPath) -> dict[str, str]:
    """Return the parameters of the conditions on a folder and what lies under it."""
    # "0" is the character after "/": the range holds exactly the texts that begin with the prefix.
    stem = "" if path == "/" else path
    return {"path": path, "above": f"{stem}/", "below": f"{stem}0"}


_BENEATH = (FolderRow.path > bindparam("above")) & (FolderRow.path < bindparam("below"))
WITHIN_SUBTREE: ColumnElement[bool] = or_(FolderRow.path == bindparam("path"), _BENEATH)
"""That a folder is the one at the path, or lies under it; takes the parameters of `subtree`."""

_IN_ENVIRONMENT = EnvironmentRow.id == bindparam("environment")
# In the order of the fields of ListChange, after its kind.
_SECRETS_WITHIN: Select[*tuple[Any, ...]] = (
    select(SecretRow.project_id, EnvironmentRow.slug, FolderRow.path, SecretRow.key, SecretRow.owner)
    .select_from(FolderRow)
    .join(SecretRow, SecretRow.folder_id == FolderRow.id)
    .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
    .where(_IN_ENVIRONMENT, WITHIN_SUBTREE)
)
_IMPORTERS_WITHIN: Select[*tuple[Any, ...]] = (
    select(EnvironmentRow.project_id, EnvironmentRow.slug, FolderRow.path)
    .select_from(FolderRow)
    .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
    .where(
        _IN_ENVIRONMENT,
        WITHIN_SUBTREE,
        exists(select(IMPORTS.c.id).where(IMPORTS.c.folder_id == FolderRow.id)),
    )
)
_WITHIN = folders_where(_IN_ENVIRONMENT, WITHIN_SUBTREE)
_ORGANIZATION = (
    select(ProjectRow.organization_id)
    .join(EnvironmentRow, EnvironmentRow.project_id == ProjectRow.id)
    .where(_IN_ENVIRONMENT)
)


class Folders:
    """Repository of folders."""

    def __init__(
        self, connection: AsyncConnection, places: PlaceSeals, seals: FolderSeals, changes: Changes
    ) -> None:
        self._connection = connection
        self._places = places
        self._seals = seals
        self._changes = changes

    async def add(self, project_id: ProjectId, folder: Folder) -> None:
        """Store a new folder of the project."""
        seal = await self._seals.first(project_id, folder.id)
        await self._connection.execute(_ADD, {**asdict(folder), "seal": seal})
        await self._places.change(project_id, (), [placed_folder(folder)])

    async def at(
        self, project_id: ProjectId, environment: EnvironmentSlug, path: FolderPath
    ) -> Folder | None:
        """Return the folder at the path, or None where environment or folder don't exist.

        Raises:
            AlteredDatabaseError: it was removed, moved or renamed without the service.
        """
        place = {"project": project_id, "environment": environment, "path": path}
        row = (await self._connection.execute(_AT, place)).one_or_none()
        if row is None:
            await self._places.require_absent(project_id, environment, path)
            return None
        return Folder(*row)

    async def of_paths(self, environment_id: str, paths: Iterable[FolderPath]) -> dict[str, Folder]:
        """Return those of the paths that exist, by path."""
        named = {"environment": environment_id, "paths": list(paths)}
        folders = [Folder(*row) for row in await self._connection.execute(_OF_PATHS, named)]
        return {folder.path: folder for folder in folders}

    async def get(self, folder_id: str) -> Folder | None:
        """Return the folder of that id, or None."""
        row = (await self._connection.execute(_FOLDERS.where(FolderRow.id == folder_id))).one_or_none()
        return None if row is None else Folder(*row)

    async def children(self, folder: Folder) -> list[Folder]:
        """Return the folders directly in this one, by name."""
        statement = _FOLDERS.where(FolderRow.parent_id == folder.id).order_by(FolderRow.name)
        return [Folder(*row) for row in await self._connection.execute(statement)]

    async def descendants(self, folder: Folder) -> list[Folder]:
        """Return the folders under this one at any depth, by path."""
        statement = _FOLDERS.where(FolderRow.environment_id == folder.environment_id, _BENEATH).order_by(
            FolderRow.path
        )
        rows = await self._connection.execute(statement, subtree(folder.path))
        return [Folder(*row) for row in rows]

    async def longest_path_beneath(self, folder: Folder) -> int:
        """Return the length of the longest path under the folder, 0 where there is none."""
        statement = select(func.max(func.length(FolderRow.path))).where(
            FolderRow.environment_id == folder.environment_id, _BENEATH
        )
        return (await self._connection.execute(statement, subtree(folder.path))).scalar_one() or 0

    async def rename(self, project_id: ProjectId, old: Folder, new: Folder) -> None:
        """Store the new name and path of a folder of the project, and move the paths of all under it."""
        await self._note_lists(ChangeKind.DELETED, old)
        moved = [] if new.path == old.path else await self._within(old)
        await self._connection.execute(
            update(FolderRow)
            .where(FolderRow.environment_id == old.environment_id, _BENEATH)
            .values(path=new.path + func.substr(FolderRow.path, len(old.path) + 1)),
            {key: text for key, text in subtree(old.path).items() if key != "path"},
        )
        await self._connection.execute(
            update(FolderRow)
            .where(FolderRow.id == new.id)
            .values(
                name=new.name,
                path=new.path,
                description=new.description,
                version=new.version,
                updated_at=new.updated_at,
            )
        )
        if moved:
            await self._places.change(project_id, moved, [_renamed(place, old, new) for place in moved])
        await self._note_lists(ChangeKind.CREATED, new)

    async def mark_modified(self, folder_ids: Iterable[str], now: datetime) -> None:
        """Store that a secret of these folders changed."""
        await self._connection.execute(
            update(FolderRow).where(FolderRow.id.in_(list(folder_ids))).values(last_secret_modified=now)
        )

    async def delete(self, project_id: ProjectId, folder: Folder) -> None:
        """Remove a folder of the project with all it holds."""
        await self._note_lists(ChangeKind.DELETED, folder)
        await self._places.change(project_id, await self._within(folder), ())
        await self._connection.execute(delete(FolderRow).where(FolderRow.id == folder.id))

    async def _within(self, folder: Folder) -> list[PlacedFolder]:
        """Return the folder and all under it, as their marks cover them."""
        place = {"environment": folder.environment_id, **subtree(folder.path)}
        return await self._places.folders_of(_WITHIN, place)

    async def _note_lists(self, kind: ChangeKind, folder: Folder) -> None:
        """Note what lists of the folder, and of all under it, gain or lose; the organization where it is much."""
        left = max(NOTED_MAX - len(self._changes.folders), 0)
        place = {"environment": folder.environment_id, **subtree(folder.path)}
        secrets = (await self._connection.execute(_SECRETS_WITHIN.limit(left + 1), place)).all()
        importers = (await self._connection.execute(_IMPORTERS_WITHIN.limit(left + 1), place)).all()
        if len(secrets) + len(importers) > left:
            found = await self._connection.execute(_ORGANIZATION, {"environment": folder.environment_id})
            self._changes.organizations.add(OrganizationId(found.scalar_one()))
            return
        self._changes.folders += [ListChange(kind, *row) for row in secrets]
        self._changes.folders += [ListChange(ChangeKind.IMPORTS, *row) for row in importers]


def _renamed(place: PlacedFolder, old: Folder, new: Folder) -> PlacedFolder:
    """Return where a folder is after a rename of it, or of one above it."""
    if place.id == new.id:
        return placed_folder(new)
    return place._replace(path=new.path + place.path[len(old.path) :])
