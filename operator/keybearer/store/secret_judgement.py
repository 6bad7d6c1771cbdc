"""Checks that a read found the secrets that the service stored: all of them, at their newest versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Row as Result
from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.base.runs import in_chunks
from keybearer.store.failures import RaceError
from keybearer.store.folder_seals import FolderSeals, JudgedFolder
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.records import Secret
from keybearer.store.secret_marks import FOLDER_ID
from keybearer.store.secret_places import Location
from keybearer.store.secret_statements import FOLDERS_NAMED, NAMES_MAX, folders_at

__all__ = ["Judgement"]

_Row = Result[*tuple[Any, ...]]


class Judgement:
    """Checks the rows of one read: of whole folders, or of some of their secrets."""

    def __init__(self, connection: AsyncConnection, places: PlaceSeals, seals: FolderSeals) -> None:
        self._connection = connection
        self._places = places
        self._seals = seals
        self._folders: dict[str, JudgedFolder] = {}
        self._there: dict[tuple[str, str], JudgedFolder] = {}
        self._is_whole = False
        self._has_unexpected = False
        self._altered: JudgedFolder | None = None

    async def whole(self, folders: Sequence[_Row]) -> None:
        """Prepare to check all shared secrets of these folders (rows of `PLACED`).

        Raises:
            AlteredDatabaseError: a folder was moved, renamed or added without the service.
        """
        self._folders = await self._seals.opened(folders)
        self._is_whole = True

    async def some(self, rows: Sequence[_Row], folders: Sequence[_Row] = ()) -> None:
        """Prepare to check these rows of secrets, and what is asked later about these folders.

        Raises:
            AlteredDatabaseError: a folder or its secrets were changed without the service.
        """
        self._folders |= await self._seals.opened(folders)
        self._there |= {_place_of(row): self._folders[row.place_id] for row in folders}
        missing = {row.folder_id: None for row in rows if row.folder_id not in self._folders}
        self._folders |= await self._seals.opened(await self._named(missing))
        for personal in (False, True):
            wanted = dict.fromkeys(row.folder_id for row in rows if bool(row.owner) is personal)
            judged = [self._folders[folder_id] for folder_id in wanted if folder_id in self._folders]
            await self._seals.look_through(judged, personal=personal)

    def is_marked(self, folder_id: str) -> bool:
        """Return whether the folder's secrets are compared with its sum; until its conversion they aren't."""
        folder = self._folders.get(folder_id)
        return folder is None or folder.known is not None

    def see(self, rows: Sequence[_Row]) -> None:
        """Compare rows that begin with `LISTED_COLUMNS`; `require` raises what is wrong."""
        of_folder: dict[str, list[_Row]] = {}
        for row in rows:
            of_folder.setdefault(row[FOLDER_ID], []).append(row)
        for folder_id, some in of_folder.items():
            folder = self._folders.get(folder_id)
            if folder is None:
                self._has_unexpected = True
            elif self._is_whole:
                folder.add(some)
            elif not folder.holds(some):
                self._altered = folder

    async def require(self) -> None:
        """Check the rows that `see` got; of whole folders, also that none is missing.

        Raises:
            AlteredDatabaseError: a row isn't as the service stored it, or one is missing.
            RaceError: another writer changed a folder meanwhile.
        """
        if self._has_unexpected:
            raise RaceError("a folder was changed at the same moment; try again")
        if self._is_whole:
            self._altered = next((folder for folder in self._folders.values() if not folder.is_whole), None)
        if self._altered is not None:
            raise await self._seals.altered(self._altered)

    async def require_missing(self, project_id: ProjectId, locations: Iterable[Location], owner: str) -> None:
        """Check that the service has no secrets at these locations, after none were found.

        Raises:
            AlteredDatabaseError: it has one, which was removed, renamed or moved without it.
        """
        keys: dict[tuple[EnvironmentSlug, FolderPath], list[str]] = {}
        for location in locations:
            keys.setdefault((location.environment, location.path), []).append(location.key)
        rows = await self._read(folders_at(project_id, (one for one in keys if one not in self._there)))
        judged = await self._seals.opened(rows)
        there = self._there | {_place_of(row): judged[row.place_id] for row in rows}
        await self._seals.look_through(there.values(), personal=bool(owner))
        for (environment, path), named in keys.items():
            folder = there.get((environment, path))
            if folder is None:
                await self._places.require_absent(project_id, environment, path)
            elif not all(folder.lacks(key, owner) for key in named):
                raise await self._seals.altered(folder)

    async def require_missing_in(self, folder_ids: Iterable[str], key: str) -> None:
        """Check that those of these folders that are checked hold no shared secret of that key.

        Raises:
            AlteredDatabaseError: one does.
        """
        judged = [self._folders[one] for one in folder_ids if one in self._folders]
        await self._seals.look_through(judged, personal=False)
        for folder in judged:
            if not folder.lacks(key, ""):
                raise await self._seals.altered(folder)

    async def require_all_of(self, owner: str, found: Iterable[Secret]) -> None:
        """Check that these are all personal secrets of the owner in the folders that are checked.

        Raises:
            AlteredDatabaseError: some were removed without the service.
        """
        there: dict[str, set[str]] = {}
        for secret in found:
            there.setdefault(secret.folder_id, set()).add(secret.key)
        judged = [folder for folder in self._folders.values() if folder.may_hold_personal]
        await self._seals.look_through(judged, personal=True)
        for folder in judged:
            if folder.keys_of(owner) - there.get(folder.id, set()):
                raise await self._seals.altered(folder)

    async def _named(self, folder_ids: Iterable[str]) -> list[_Row]:
        found: list[_Row] = []
        for some in in_chunks(folder_ids, NAMES_MAX):
            found.extend((await self._connection.execute(FOLDERS_NAMED, {"folders": some})).all())
        return found

    async def _read(self, statements: Iterable[Select[*tuple[Any, ...]]]) -> list[_Row]:
        found: list[_Row] = []
        for statement in statements:
            found.extend((await self._connection.execute(statement)).all())
        return found


def _place_of(row: _Row) -> tuple[str, str]:
    return row.place_environment, row.place_path
