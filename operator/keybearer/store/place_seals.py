"""Checks that the places of a project, its environments and folders, are those that the service made.

`projects.places` holds the sum of the marks of their rows (see `sealing.tally`). This process reads all places of a
project, checks the sum, and remembers them. A read of secrets compares the folders that it uses with the remembered
ones. When another process changes a place, all places are read and checked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, select, update
from sqlalchemy import Row as Result
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.store.failures import RaceError
from keybearer.store.keys import Keys
from keybearer.store.place_marks import (
    ENVIRONMENTS,
    Place,
    carried,
    folder_of_row,
    folders_where,
    is_known,
    marks_of_places,
)
from keybearer.store.sealing.envelope import (
    AlteredDatabaseError,
    Ciphertext,
    Plaintext,
    SealingKey,
    UnsealError,
    associate,
)
from keybearer.store.sealing.known_sets import KnownPlaces, PlacedEnvironment, PlacedFolder
from keybearer.store.sealing.tally import PlaceTally, Tally
from keybearer.store.tables.projects import EnvironmentRow, ProjectRow

__all__ = ["PlaceSeals"]

# Built once: each folder that is made or renamed asks for them.
_PLACES = select(ProjectRow.places).where(ProjectRow.id == bindparam("project"))
_LOCK_PLACES = _PLACES.with_for_update(key_share=True)
_STORE = update(ProjectRow).where(ProjectRow.id == bindparam("project")).values(places=bindparam("envelope"))


class PlaceSeals:
    """Repository of the sums of places."""

    def __init__(self, connection: AsyncConnection, keys: Keys) -> None:
        self._connection = connection
        self._keys = keys
        self._held: dict[ProjectId, bytes | None] = {}

    def hold(self, project_id: ProjectId, places: bytes | None) -> None:
        """Remember the envelope of a project whose row this unit has locked, so that nobody else changes it."""
        self._held.setdefault(project_id, places)

    async def known(self, project_id: ProjectId, places: bytes | None) -> KnownPlaces | None:
        """Return the project's places, checked; None for a project that isn't under marks yet.

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
        """Check that these folders (rows of `PLACED`) are unchanged; return their projects' places.

        Raises:
            AlteredDatabaseError: one was moved, renamed or added without the service.
        """
        known: dict[str, KnownPlaces | None] = {}
        for row in folders:
            project_id = row.place_project_id
            if project_id not in known:
                known[project_id] = await self.known(project_id, row.places)
            places = known[project_id]
            if places is not None and not is_known(places, row):
                raise await self._altered(project_id, row.places)
        return known

    async def require_absent(
        self, project_id: ProjectId, environment: EnvironmentSlug, path: FolderPath
    ) -> None:
        """Check that the service has no folder there, after none was found.

        Raises:
            AlteredDatabaseError: it has one, which was removed, moved or renamed without it.
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
        """Check that these projects may still hold what earlier versions sealed: their conversion isn't over.

        Raises:
            AlteredDatabaseError: it is over for one of them.
        """
        for project_id in map(ProjectId, project_ids):
            places = await self.known(project_id, await self.envelope(project_id))
            if places is not None and places.tally.is_bound:
                raise AlteredDatabaseError(
                    f"A value in project {project_id} was put back without the service, from before the upgrade that "
                    "protects values against that, so the service refuses it. Restore a backup"
                )

    async def require_all(
        self,
        project_id: ProjectId,
        environment: EnvironmentSlug,
        path: FolderPath,
        folders: Sequence[Result[*tuple[Any, ...]]],
    ) -> None:
        """Check that these are all folders of the subtree; reserved ones may be missing.

        Raises:
            AlteredDatabaseError: others are missing.
        """
        envelope = folders[0].places if folders else await self.envelope(project_id)
        places = await self.known(project_id, envelope)
        if places is None:
            return
        there = {row.place_id for row in folders}
        for environment_id, slug in places.environments.items():
            if slug == environment and not there.issuperset(places.within(environment_id, path)):
                raise await self._altered(project_id, envelope)

    async def envelope(self, project_id: ProjectId) -> bytes | None:
        """Return the envelope with the sum of the project's places; None if it has none."""
        return (await self._connection.execute(_PLACES, {"project": project_id})).scalar_one_or_none()

    async def key(self, project_id: ProjectId) -> SealingKey:
        """Return the key that seals the sum of the project's places; it isn't deleted before this unit ends."""
        places = await self._waited_for(project_id)
        if places is None:
            return await self._keys.active(project_id)
        known = self._keys.known.places.get(project_id, places)
        return (await self._opened(project_id, places))[0] if known is None else known.key

    async def change(self, project_id: ProjectId, gone: Sequence[Place], new: Sequence[Place]) -> None:
        """Take former places out of the project's sum, and add new ones; wait for other writers of the project."""
        places = await self._waited_for(project_id)
        if places is None and not await self._keys.is_strict(project_id):
            return  # the conversion (`seal_conversion`) adds all of them at its end
        known = None
        if places is None:
            key, tally = await self._keys.active(project_id), PlaceTally()
        else:
            known = self._keys.known.places.get(project_id, places)
            key, tally = await self._opened(project_id, places) if known is None else (known.key, known.tally)
        changed = tally.places.changed(marks_of_places(key, gone), marks_of_places(key, new))
        after = PlaceTally(changed, tally.is_bound)
        envelope = await self._store(project_id, key, after)
        now_known = None if known is None else carried(known, after, gone, new)
        if now_known is not None:
            self._keys.known.places.put(project_id, envelope, now_known)

    async def environments_where(self, *conditions: ColumnElement[bool]) -> list[PlacedEnvironment]:
        """Return the environments that the conditions find, as `change` takes them."""
        rows = await self._connection.execute(ENVIRONMENTS.where(*conditions))
        return [PlacedEnvironment(*row) for row in rows]

    async def folders_where(self, *conditions: ColumnElement[bool]) -> list[PlacedFolder]:
        """Return the folders that the conditions find, as `change` takes them."""
        return await self.folders_of(folders_where(*conditions), {})

    async def folders_of(
        self, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, str]
    ) -> list[PlacedFolder]:
        """Return the folders that a statement on `PLACED` finds, as `change` takes them."""
        return list(map(folder_of_row, await self._connection.execute(statement, parameters)))

    async def seal_all(self, project_id: ProjectId, key: SealingKey, *, is_bound: bool) -> None:
        """Seal the sum of all places as they are now, for a project that wasn't under marks before."""
        tally = Tally.of(marks_of_places(key, await self._present(project_id)))
        await self._store(project_id, key, PlaceTally(tally, is_bound))

    async def reseal(self, project_id: ProjectId, key: SealingKey, *, is_bound: bool = False) -> None:
        """Seal the sum with another key. A sum that is wrong stays wrong, and `is_bound` stays true once it is.

        Raises:
            UnsealError: the envelope doesn't open.
        """
        envelope = await self.envelope(project_id)
        if envelope is None:
            return
        former, tally = await self._opened(project_id, envelope)
        present = await self._present(project_id)
        changed = tally.places.changed(marks_of_places(former, present), marks_of_places(key, present))
        await self._store(project_id, key, PlaceTally(changed, is_bound or tally.is_bound))

    async def _looked_through(self, project_id: ProjectId, places: bytes | None) -> KnownPlaces:
        if places is None:
            key, tally = await self._keys.newest(project_id), PlaceTally()
        else:
            key, tally = await self._opened(project_id, places)
        present = await self._present(project_id)
        if Tally.of(marks_of_places(key, present)) != tally.places:
            raise await self._altered(project_id, places)
        folders = [place for place in present if isinstance(place, PlacedFolder)]
        return KnownPlaces(
            key,
            tally,
            {folder.id: folder for folder in folders},
            {place.id: place.slug for place in present if isinstance(place, PlacedEnvironment)},
            {(folder.environment_id, folder.path) for folder in folders},
        )

    async def _present(self, project_id: ProjectId) -> list[Place]:
        return [
            *await self.environments_where(EnvironmentRow.project_id == project_id),
            *await self.folders_where(EnvironmentRow.project_id == project_id),
        ]

    async def _waited_for(self, project_id: ProjectId) -> bytes | None:
        """Return the envelope, locked: nobody else changes it before this unit ends."""
        if project_id not in self._held:
            found = await self._connection.execute(_LOCK_PLACES, {"project": project_id})
            self._held[project_id] = found.scalar_one_or_none()
        return self._held[project_id]

    async def _opened(self, project_id: str, places: bytes) -> tuple[SealingKey, PlaceTally]:
        try:
            key = await self._keys.key_of(places)
        except UnsealError:
            if await self.envelope(ProjectId(project_id)) != places:
                raise RaceError("the project was removed at the same moment; try again") from None
            raise
        try:
            content = key.open(Ciphertext(places), _identity(project_id))
        except UnsealError as error:
            raise _altered(project_id) from error
        return key, PlaceTally.unpacked(content)

    async def _store(self, project_id: ProjectId, key: SealingKey, tally: PlaceTally) -> bytes:
        envelope = key.seal(Plaintext(tally.packed()), _identity(project_id))
        await self._connection.execute(_STORE, {"project": project_id, "envelope": envelope})
        self._held[project_id] = envelope
        return envelope

    async def _altered(self, project_id: str, places: bytes | None) -> Exception:
        """Return what to raise if rows don't fit: RaceError if another writer changed the project meanwhile."""
        if await self.envelope(ProjectId(project_id)) != places:
            return RaceError("the folders of the project were changed at the same moment; try again")
        return _altered(project_id)


def _altered(project_id: str) -> AlteredDatabaseError:
    return AlteredDatabaseError(
        f"Environments or folders of project {project_id} were changed in the database without the service, so it "
        "can't tell where secrets belong, and refuses them. Restore a backup"
    )


def _identity(project_id: str) -> bytes:
    return associate("places", project_id)
