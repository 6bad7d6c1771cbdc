"""Marks of places: the parts of the rows of environments and folders that their project's sum covers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy import Row as Result

from keybearer.store.records import Environment, Folder
from keybearer.store.sealing.envelope import SealingKey, associate
from keybearer.store.sealing.known_sets import KnownPlaces, PlacedEnvironment, PlacedFolder
from keybearer.store.sealing.tally import PlaceTally
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, ProjectRow

__all__ = [
    "ENVIRONMENTS",
    "PLACED",
    "Place",
    "carried",
    "folder_of_row",
    "folders_where",
    "is_known",
    "marks_of_places",
    "placed_environment",
    "placed_folder",
]

Place = PlacedFolder | PlacedEnvironment

_FOLDER_FIELDS = len(PlacedFolder._fields)
PLACED = (
    # In the order of the fields of PlacedFolder.
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
"""The columns that a check of a folder needs."""
# Compared as a tuple, which is quicker than making a PlacedFolder of each row.
_AS_PLACED = attrgetter("place_id", "environment_id", "parent_id", "is_reserved", "name", "place_path")

ENVIRONMENTS = select(EnvironmentRow.id, EnvironmentRow.project_id, EnvironmentRow.slug)
"""Environments in the order of the fields of PlacedEnvironment."""


def folders_where(
    *conditions: ColumnElement[bool], beside: Sequence[ColumnElement[int]] = ()
) -> Select[*tuple[Any, ...]]:
    """Select the columns `PLACED` of folders, and the columns `beside`."""
    return (
        select(*PLACED, *beside)
        .select_from(FolderRow)
        .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
        .join(ProjectRow, ProjectRow.id == EnvironmentRow.project_id)
        .where(*conditions)
    )


def placed_folder(folder: Folder) -> PlacedFolder:
    """Return the part of a folder that its mark covers."""
    return PlacedFolder(
        folder.id, folder.environment_id, folder.parent_id, folder.is_reserved, folder.name, folder.path
    )


def folder_of_row(row: Result[*tuple[Any, ...]]) -> PlacedFolder:
    """Return the part of a folder that its mark covers, from a row that begins with `PLACED`."""
    return PlacedFolder(*row[:_FOLDER_FIELDS])


def placed_environment(environment: Environment) -> PlacedEnvironment:
    """Return the part of an environment that its mark covers."""
    return PlacedEnvironment(environment.id, environment.project_id, environment.slug)


def is_known(places: KnownPlaces, row: Result[*tuple[Any, ...]]) -> bool:
    """Return whether the folder of a row that holds `PLACED` is one of these places, unchanged."""
    return (
        places.folders.get(row.place_id) == _AS_PLACED(row)
        and places.environments.get(row.environment_id) == row.place_environment
    )


def marks_of_places(key: SealingKey, places: Iterable[Place]) -> list[int]:
    """Return the mark of each place."""
    return key.marks(map(_marked, places))


def carried(
    known: KnownPlaces, tally: PlaceTally, gone: Sequence[Place], new: Sequence[Place]
) -> KnownPlaces | None:
    """Return the places after a change; None if a former one isn't as it was known, or a new one is known already.

    They are a copy: other tasks may be reading by the former ones.
    """
    folders, environments, paths = dict(known.folders), dict(known.environments), set(known.paths)
    for place in gone:
        if isinstance(place, PlacedEnvironment):
            if environments.pop(place.id, None) != place.slug:
                return None
            continue
        if folders.pop(place.id, None) != place:
            return None
        paths.discard((place.environment_id, place.path))
    for place in new:
        if isinstance(place, PlacedEnvironment):
            if environments.setdefault(place.id, place.slug) != place.slug:
                return None
            continue
        if folders.setdefault(place.id, place) is not place:
            return None
        paths.add((place.environment_id, place.path))
    order = known.order_after(
        [place for place in gone if isinstance(place, PlacedFolder)],
        [place for place in new if isinstance(place, PlacedFolder)],
    )
    return KnownPlaces(known.key, tally, folders, environments, paths, order)


def _marked(place: Place) -> bytes:
    if isinstance(place, PlacedEnvironment):
        return associate("environment", *place)
    folder_id, environment_id, parent_id, is_reserved, name, path = place
    return associate("folder", folder_id, environment_id, parent_id or "", is_reserved, name, path)
