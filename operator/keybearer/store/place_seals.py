"""The places of a project: that its environments and folders are those that the service made.

`projects.places` holds the sum of their marks. What was looked through is remembered, so that a reading compares the
rows of the folders that it reads with marks in memory; all places are looked through again when one of them changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeGuard

from sqlalchemy import Row as Result
from sqlalchemy import Select, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.store.failures import RaceError
from keybearer.store.keys import Keys
from keybearer.store.records import Folder
from keybearer.store.sealing.envelope import (
    AlteredDatabaseError,
    Ciphertext,
    Plaintext,
    SealingKey,
    UnsealError,
    associate,
    key_name_of,
)
from keybearer.store.sealing.known_sets import KnownPlace, KnownPlaces
from keybearer.store.sealing.tally import PlaceTally, Tally
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, ProjectRow

__all__ = ["PLACED", "PlaceSeals", "folders_where"]

PLACED = (
    FolderRow.id.label("place_id"),
    FolderRow.environment_id,
    FolderRow.parent_id,
    FolderRow.is_reserved,
    FolderRow.name,
    FolderRow.path.label("place_path"),
    FolderRow.seal,
    EnvironmentRow.project_id.label("place_project_id"),
    EnvironmentRow.slug.label("place_environment"),
    ProjectRow.places,
)
"""What is read of a folder to judge it."""

_PLACES = select(ProjectRow.places)
_HELD = (
    select(EnvironmentRow.project_id, ProjectRow.places)
    .join(ProjectRow, ProjectRow.id == EnvironmentRow.project_id)
    .where(EnvironmentRow.id == bindparam("environment"))
    .with_for_update(of=ProjectRow)
)
_ENVIRONMENTS = select(EnvironmentRow.id, EnvironmentRow.project_id, EnvironmentRow.slug)


class _Placed(NamedTuple):
    """A folder as its row of `PLACED` would say it."""

    place_id: str
    environment_id: str
    parent_id: str | None
    is_reserved: bool
    name: str
    place_path: str

    @classmethod
    def of(cls, folder: Folder) -> _Placed:
        return cls(
            folder.id, folder.environment_id, folder.parent_id, folder.is_reserved, folder.name, folder.path
        )


# As `_says`, for comparison: quicker than to make one.
_SAYS = attrgetter("environment_id", "parent_id", "is_reserved", "name", "place_path")
_Place = Result[*tuple[Any, ...]] | _Placed


def folders_where(*conditions: Any, beside: Sequence[Any] = ()) -> Select[*tuple[Any, ...]]:  # noqa: ANN401 - conditions and columns
    """Select folders as they are judged, with columns beside."""
    return (
        select(*PLACED, *beside)
        .select_from(FolderRow)
        .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
        .join(ProjectRow, ProjectRow.id == EnvironmentRow.project_id)
        .where(*conditions)
    )


class PlaceSeals:
    """Repository of the sums of places."""

    def __init__(self, connection: AsyncConnection, keys: Keys) -> None:
        self._connection = connection
        self._keys = keys

    async def known(self, project_id: ProjectId, places: bytes | None) -> KnownPlaces | None:
        """Return the project's places, looked through; None for a project that isn't under marks yet.

        Raises:
            AlteredDatabaseError: they are not those that the service made.
        """
        if places is None and not await self._keys.is_strict(project_id):
            return None
        envelope = places or b""
        found = self._keys.known.places.get(project_id, envelope)
        if found is None:
            found = await self._looked_through(project_id, places)
            if places is not None:
                self._keys.known.places.put(project_id, envelope, found)
        return found

    async def require(self, folders: Iterable[Result[*tuple[Any, ...]]]) -> dict[str, KnownPlaces | None]:
        """Let pass folders, rows of `PLACED`, that are where the service put them; return their projects' places.

        Raises:
            AlteredDatabaseError: one was moved, renamed or added by other hands.
        """
        known: dict[str, KnownPlaces | None] = {}
        for row in folders:
            project_id = row.place_project_id
            if project_id not in known:
                known[project_id] = await self.known(project_id, row.places)
            places = known[project_id]
            if places is not None and (
                places.folders.get(row.place_id) != _SAYS(row)
                or places.environments.get(row.environment_id) != row.place_environment
            ):
                raise await self._altered(project_id, row.places)
        return known

    async def require_absent(
        self, project_id: ProjectId, environment: EnvironmentSlug, path: FolderPath
    ) -> None:
        """Let pass that no folder was found there.

        Raises:
            AlteredDatabaseError: there is one that was removed, moved or renamed by other hands.
        """
        places = await self.envelope(project_id)
        known = await self.known(project_id, places)
        if known is None:
            return
        if any(
            (each, path) in known.paths for each, slug in known.environments.items() if slug == environment
        ):
            raise await self._altered(project_id, places)

    async def require_unbound(self, project_ids: Iterable[str]) -> None:
        """Let pass what earlier versions sealed of these projects, as long as not all is sealed anew.

        Raises:
            AlteredDatabaseError: all was.
        """
        for project_id in map(ProjectId, project_ids):
            places = await self.known(project_id, await self.envelope(project_id))
            if places is not None and places.tally.is_bound:
                raise AlteredDatabaseError(
                    f"a secret of project {project_id} is sealed with a key that was given up"
                )

    async def require_all(
        self,
        project_id: ProjectId,
        environment: EnvironmentSlug,
        path: FolderPath,
        folders: Sequence[Result[*tuple[Any, ...]]],
    ) -> None:
        """Let pass the folders that were found of a whole subtree, but for reserved ones.

        Raises:
            AlteredDatabaseError: some are missing.
        """
        envelope = folders[0].places if folders else await self.envelope(project_id)
        places = await self.known(project_id, envelope)
        if places is None:
            return
        stem = "/" if path == "/" else f"{path}/"
        there = {row.place_id for row in folders}
        of_slug = {each for each, slug in places.environments.items() if slug == environment}
        for folder_id, folder in places.folders.items():
            if folder.environment_id not in of_slug or folder.is_reserved or folder_id in there:
                continue
            if folder.path == path or folder.path.startswith(stem):
                raise await self._altered(project_id, envelope)

    async def envelope(self, project_id: ProjectId) -> bytes | None:
        """Return the envelope of the project's sum."""
        statement = _PLACES.where(ProjectRow.id == project_id)
        return (await self._connection.execute(statement)).scalar_one_or_none()

    async def change(
        self,
        project_id: ProjectId,
        gone: Sequence[Result[*tuple[Any, ...]]],
        new: Sequence[Result[*tuple[Any, ...]]],
    ) -> None:
        """Take rows of `places_where` out of the project's sum, and others into it. It waits for other writers."""
        statement = _PLACES.where(ProjectRow.id == project_id).with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        if row is not None:
            await self._change(project_id, row.places, gone, new)

    async def held(self, environment_id: str) -> tuple[ProjectId, bytes | None]:
        """Return the environment's project, and its sum as `add` takes it. It waits for other writers."""
        row = (await self._connection.execute(_HELD, {"environment": environment_id})).one()
        return ProjectId(row.project_id), row.places

    async def add(self, project_id: ProjectId, places: bytes | None, folder: Folder) -> None:
        """Take a new folder into the sum that `held` returned."""
        await self._change(project_id, places, (), [_Placed.of(folder)])

    async def _change(
        self,
        project_id: ProjectId,
        places: bytes | None,
        gone: Sequence[_Place],
        new: Sequence[_Place],
    ) -> None:
        if places is None and not await self._keys.is_strict(project_id):
            return  # the conversion looks through all of them at its end
        known = None
        if places is None:
            key, tally = await self._keys.active(project_id), PlaceTally()
        else:
            known = self._keys.known.places.get(project_id, places)
            key, tally = await self._opened(project_id, places) if known is None else (known.key, known.tally)
        after = PlaceTally(tally.places.changed(_marks_of(key, gone), _marks_of(key, new)), tally.is_bound)
        envelope = await self._store(project_id, key, after)
        carried = None if known is None else _carried(known, after, gone, new)
        if carried is not None:
            self._keys.known.places.put(project_id, envelope, carried)

    async def rows_where(self, *conditions: Any) -> list[Result[*tuple[Any, ...]]]:  # noqa: ANN401 - conditions
        """Return the folders that the conditions find, as `change` takes them."""
        return list((await self._connection.execute(folders_where(*conditions))).all())

    async def environments_where(self, *conditions: Any) -> list[Result[*tuple[Any, ...]]]:  # noqa: ANN401 - conditions
        """Return the environments that the conditions find, as `change` takes them."""
        return list((await self._connection.execute(_ENVIRONMENTS.where(*conditions))).all())

    async def seal_all(self, project_id: ProjectId, key: SealingKey, *, is_bound: bool) -> None:
        """Take all places as they are into a sum of this key: for a project that wasn't under marks before."""
        tally = Tally.of(_marks_of(key, await self._rows(project_id)))
        await self._store(project_id, key, PlaceTally(tally, is_bound))

    async def reseal(self, project_id: ProjectId, key: SealingKey, *, is_bound: bool) -> None:
        """Seal the sum with another key; one that isn't right stays so.

        Raises:
            UnsealError: the envelope doesn't open.
        """
        envelope = await self.envelope(project_id)
        if envelope is None:
            return
        former, tally = await self._opened(project_id, envelope)
        rows = await self._rows(project_id)
        changed = tally.places.changed(_marks_of(former, rows), _marks_of(key, rows))
        await self._store(project_id, key, PlaceTally(changed, is_bound))

    async def _looked_through(self, project_id: ProjectId, places: bytes | None) -> KnownPlaces:
        if places is None:
            key, tally = await self._keys.newest(project_id), PlaceTally()
        else:
            key, tally = await self._opened(project_id, places)
        rows = await self._rows(project_id)
        if Tally.of(_marks_of(key, rows)) != tally.places:
            raise await self._altered(project_id, places)
        folders = [row for row in rows if not _is_environment(row)]
        return KnownPlaces(
            key,
            tally,
            {row.place_id: _says(row) for row in folders},
            {row.id: row.slug for row in rows if _is_environment(row)},
            {(row.environment_id, row.place_path) for row in folders},
        )

    async def _rows(self, project_id: ProjectId) -> list[Result[*tuple[Any, ...]]]:
        return [
            *await self.environments_where(EnvironmentRow.project_id == project_id),
            *await self.rows_where(EnvironmentRow.project_id == project_id),
        ]

    async def _opened(self, project_id: str, places: bytes) -> tuple[SealingKey, PlaceTally]:
        name = key_name_of(places)
        try:
            key = (await self._keys.opened([name]))[name]
        except UnsealError:
            if await self.envelope(ProjectId(project_id)) != places:
                raise RaceError("the project was removed at the same moment; try again") from None
            raise
        try:
            content = key.open(Ciphertext(places), _identity(project_id))
        except UnsealError as error:
            raise AlteredDatabaseError(f"the seal of project {project_id} was edited") from error
        return key, PlaceTally.unpacked(content)

    async def _store(self, project_id: str, key: SealingKey, tally: PlaceTally) -> bytes:
        envelope = key.seal(Plaintext(tally.packed()), _identity(project_id))
        await self._connection.execute(
            update(ProjectRow).where(ProjectRow.id == project_id).values(places=envelope)
        )
        return envelope

    async def _altered(self, project_id: str, places: bytes | None) -> Exception:
        """Return what is wrong: rows that don't fit, unless another writer was just at it."""
        if await self.envelope(ProjectId(project_id)) != places:
            return RaceError("the folders of the project were changed at the same moment; try again")
        return AlteredDatabaseError(
            f"environments or folders of project {project_id} were changed by other hands than the service's"
        )


def _carried(
    known: KnownPlaces,
    tally: PlaceTally,
    gone: Sequence[_Place],
    new: Sequence[_Place],
) -> KnownPlaces | None:
    """Return the places after a change; None where a row isn't as it was known, or is known already.

    The former ones stay as they are, for those who read by them at this moment.
    """
    folders, environments, paths = dict(known.folders), dict(known.environments), set(known.paths)
    for row in gone:
        if _is_environment(row):
            if environments.pop(row.id, None) != row.slug:
                return None
            continue
        if folders.pop(row.place_id, None) != _says(row):
            return None
        paths.discard((row.environment_id, row.place_path))
    for row in new:
        if _is_environment(row):
            if environments.setdefault(row.id, row.slug) != row.slug:
                return None
            continue
        if row.place_id in folders:
            return None
        folders[row.place_id] = _says(row)
        paths.add((row.environment_id, row.place_path))
    return KnownPlaces(known.key, tally, folders, environments, paths)


def _identity(project_id: str) -> bytes:
    return associate("places", project_id)


def _is_environment(row: _Place) -> TypeGuard[Result[*tuple[Any, ...]]]:
    return not hasattr(row, "place_id")


def _says(row: _Place) -> KnownPlace:
    return KnownPlace(row.environment_id, row.parent_id, bool(row.is_reserved), row.name, row.place_path)


def _marks_of(key: SealingKey, rows: Iterable[_Place]) -> list[int]:
    return key.marks(map(_marked, rows))


def _marked(row: _Place) -> bytes:
    if _is_environment(row):
        return associate("environment", row.id, row.project_id, row.slug)
    return associate(
        "folder",
        row.place_id,
        row.environment_id,
        row.parent_id or "",
        row.is_reserved,
        row.name,
        row.place_path,
    )
