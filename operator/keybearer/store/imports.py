"""Imports: which folders show the secrets of which other places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Integer, Select, and_, bindparam, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.base.runs import in_chunks
from keybearer.base.slices import in_slices
from keybearer.store.folders import WITHIN_SUBTREE, subtree
from keybearer.store.record_tables import Records
from keybearer.store.records import Folder
from keybearer.store.tables.imports import IMPORTS, SecretImport
from keybearer.store.tables.projects import EnvironmentRow, FolderRow

__all__ = ["ImportedPlace", "Imports"]

_CHUNK = 500
_FOLDERS_AT_ONCE = 100  # each may have a thousand imports, which are sorted before any is dropped

# Asked with each new import, of folders that may have a thousand: their statements are built once.
_COUNT = select(func.count()).select_from(IMPORTS).where(IMPORTS.c.folder_id == bindparam("folder_id"))
_LEADS = (
    select(IMPORTS.c.id)
    .where(
        IMPORTS.c.environment_id == bindparam("environment_id"),
        IMPORTS.c.path == bindparam("path"),
        IMPORTS.c.folder_id == bindparam("folder_id"),
    )
    .limit(1)
)
_Source = aliased(FolderRow)
_SourceEnvironment = aliased(EnvironmentRow)
_Further = IMPORTS.alias()
_LED_TO: Select[*tuple[Any, ...]] = (
    select(
        IMPORTS.c.folder_id.label("importer_id"),
        FolderRow.path.label("importer_path"),
        _SourceEnvironment.slug.label("environment"),
        IMPORTS.c.path,
        _Source.id.label("folder_id"),
        exists(
            select(_Further.c.id).where(
                _Further.c.folder_id == _Source.id, _Further.c.is_replication.is_(False)
            )
        ).label("leads_on"),
    )
    .join(FolderRow, FolderRow.id == IMPORTS.c.folder_id)
    .join(_SourceEnvironment, _SourceEnvironment.id == IMPORTS.c.environment_id)
    .outerjoin(
        _Source,
        and_(_Source.environment_id == IMPORTS.c.environment_id, _Source.path == IMPORTS.c.path),
    )
    .where(IMPORTS.c.is_replication.is_(False))
    .order_by(FolderRow.path, IMPORTS.c.position, IMPORTS.c.id)
    .limit(bindparam("at_most", type_=Integer))
)
# Every list asks for these: their statements are built once.
_IN_ENVIRONMENT = _LED_TO.join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id).where(
    EnvironmentRow.project_id == bindparam("project"), EnvironmentRow.slug == bindparam("environment")
)
_DIRECTLY = _IN_ENVIRONMENT.where(FolderRow.path == bindparam("path"))
_BENEATH = _IN_ENVIRONMENT.where(WITHIN_SUBTREE, FolderRow.is_reserved.is_(False))
_OF_FOLDERS = _LED_TO.where(IMPORTS.c.folder_id.in_(bindparam("folders", expanding=True)))

_IMPORTERS: Select[*tuple[Any, ...]] = (
    select(EnvironmentRow.slug, FolderRow.path)
    .distinct()
    .select_from(IMPORTS)
    .join(FolderRow, FolderRow.id == IMPORTS.c.folder_id)
    .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
    .join(_SourceEnvironment, _SourceEnvironment.id == IMPORTS.c.environment_id)
    .where(IMPORTS.c.is_replication.is_(False))
)


@dataclass(frozen=True, slots=True)
class ImportedPlace:
    """Where one import leads; `folder_id` None where no such folder exists now.

    `leads_on` says whether that folder has imports itself: most have none, and then nobody asks for them.
    """

    importer_id: str
    importer_path: FolderPath
    environment: EnvironmentSlug
    path: FolderPath
    folder_id: str | None
    leads_on: bool = True


class Imports(Records[SecretImport]):
    """Repository of imports."""

    def __init__(self, connection: AsyncConnection) -> None:
        super().__init__(connection, SecretImport, IMPORTS)

    async def get(self, import_id: str) -> SecretImport | None:
        """Return the import of that id, or None."""
        return await self.one(IMPORTS.c.id == import_id)

    async def of_folder(self, folder_id: str) -> list[SecretImport]:
        """Return the imports of the folder by position."""
        return await self.found(IMPORTS.c.folder_id == folder_id, by=[IMPORTS.c.position, IMPORTS.c.id])

    async def count_of(self, folder_id: str) -> int:
        """Return how many imports the folder has."""
        count: int = (await self._connection.execute(_COUNT, {"folder_id": folder_id})).scalar_one()
        return count

    async def leads(self, folder_id: str, environment_id: str, path: FolderPath) -> bool:
        """Return whether an import of the folder leads to that place."""
        place = {"folder_id": folder_id, "environment_id": environment_id, "path": path}
        return (await self._connection.execute(_LEADS, place)).first() is not None

    async def follow_rename(self, old: Folder, new: Folder) -> None:
        """Have imports of the folder, and of those under it, name the new path."""
        parameters = subtree(old.path)
        moved = new.path + func.substr(IMPORTS.c.path, len(old.path) + 1)
        await self._connection.execute(
            update(IMPORTS)
            .where(
                IMPORTS.c.environment_id == old.environment_id,
                (IMPORTS.c.path == parameters["path"])
                | ((IMPORTS.c.path > parameters["above"]) & (IMPORTS.c.path < parameters["below"])),
            )
            .values(path=moved)
        )

    async def leading_from(
        self,
        project_id: ProjectId,
        environment: EnvironmentSlug,
        path: FolderPath,
        *,
        recursive: bool,
        limit: int,
    ) -> list[ImportedPlace]:
        """Return where the imports of the folder lead, and of all under it if asked; by path and position.

        At most `limit` of them, the first ones.
        """
        place = {"project": project_id, "environment": environment, **subtree(path)}
        return await self._places(_BENEATH if recursive else _DIRECTLY, {**place, "at_most": limit})

    async def leading_from_folders(self, folder_ids: Iterable[str], *, limit: int) -> list[ImportedPlace]:
        """Return where the imports of these folders lead, each folder's by position; at most `limit` of them."""
        found: list[ImportedPlace] = []
        iterator = iter(folder_ids)
        while len(found) < limit and (some := list(islice(iterator, _FOLDERS_AT_ONCE))):
            found.extend(await self._places(_OF_FOLDERS, {"folders": some, "at_most": limit - len(found)}))
        return found

    async def importers(
        self, project_id: ProjectId, places: Iterable[tuple[EnvironmentSlug, FolderPath]]
    ) -> set[tuple[EnvironmentSlug, FolderPath]]:
        """Return the folders of the project that import any of these places directly."""
        paths_of: dict[EnvironmentSlug, list[FolderPath]] = {}
        for environment, path in places:
            paths_of.setdefault(environment, []).append(path)
        found: set[tuple[EnvironmentSlug, FolderPath]] = set()
        for environment, paths in paths_of.items():
            for some in in_chunks(paths, _CHUNK):
                statement = _IMPORTERS.where(
                    _SourceEnvironment.project_id == project_id,
                    _SourceEnvironment.slug == environment,
                    IMPORTS.c.path.in_(some),
                )
                found.update((row.slug, row.path) for row in await self._connection.execute(statement))
        return found

    async def _places(
        self, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, str | int | list[str]]
    ) -> list[ImportedPlace]:
        found: list[ImportedPlace] = []
        rows = (await self._connection.execute(statement, parameters)).all()
        async for some in in_slices(rows):
            found.extend(ImportedPlace(*row) for row in some)
        return found
