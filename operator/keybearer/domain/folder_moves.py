"""What it takes that a folder goes elsewhere with all it holds, and what follows it there."""

from __future__ import annotations

from collections.abc import Sequence

from keybearer.base.folder_paths import lies_within
from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Subject, Where
from keybearer.domain.errors import InvalidError
from keybearer.domain.paths import ROOT
from keybearer.domain.secrets.carried import require_readable_folders
from keybearer.domain.secrets.stored_references import follow_folders
from keybearer.store.records import Folder
from keybearer.store.revisions import ChangeKind, ListChange
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import FOLDER_PATH_MAX

__all__ = [
    "follow_rename",
    "require_movable",
    "require_moving",
    "require_moving_away",
    "require_moving_contents",
    "require_moving_to_expected",
    "require_room",
]

_CARRIED = (Subject.SECRETS, Subject.FOLDERS)


def require_movable(folder: Folder) -> None:
    """Let pass a folder that may be renamed or deleted.

    Raises:
        InvalidError: it is the root or a reserved one.
    """
    if folder.path == ROOT or folder.is_reserved:
        raise InvalidError("The root folder and reserved folders can't be changed")


def require_moving(access: ProjectAccess, old: Where, new: Where) -> None:
    """Let pass who may take a folder with all it holds from one place to the other.

    Whoever is bound to places could otherwise bring what is hidden from it to where it may read.

    Raises:
        ForbiddenError: the principal may not.
    """
    access.require(Action.EDIT, Subject.FOLDERS, old)
    if old != new:
        require_moving_contents(access, old, new)


def require_moving_contents(
    access: ProjectAccess, old: Where, new: Where, carried: Sequence[Subject] = _CARRIED
) -> None:
    """Let pass who may take all that lies at one place and beneath it to the other; `carried` is what lies there.

    Raises:
        ForbiddenError: the principal may not.
    """
    require_moving_away(access, old, carried)
    access.permissions.require_all_beneath([Action.CREATE], carried, new)


def require_moving_away(access: ProjectAccess, old: Where, carried: Sequence[Subject] = _CARRIED) -> None:
    """Let pass who may take all that lies at a place and beneath it away from there.

    Raises:
        ForbiddenError: the principal may not.
    """
    permissions = access.permissions
    permissions.require_all_beneath([Action.READ, Action.READ_VALUE], [Subject.SECRETS], old)
    permissions.require_all_beneath([Action.EDIT, Action.DELETE], carried, old)


async def require_moving_to_expected(
    unit: UnitOfWork,
    access: ProjectAccess,
    environment: EnvironmentSlug,
    folders: Sequence[Folder],
    path: FolderPath,
) -> None:
    """Let pass a new path, unless texts or imports name it, or one beneath, and the folders lead to what is denied.

    The path is for the first of the folders; the others are all that are under it. Texts and imports wait for what
    comes there: whoever brings it decides what they lead to.

    Raises:
        ForbiddenError: the principal may not read all that the folders lead to.
    """
    former = len(folders[0].path)
    places = [(environment, FolderPath(path + folder.path[former:])) for folder in folders]
    if await unit.imports.importers(access.project.id, places) or await unit.references.are_named(
        access.project, places
    ):
        await require_readable_folders(unit, access, folders)


async def require_room(unit: UnitOfWork, folder: Folder, path: FolderPath) -> None:
    """Let pass a new path under which all that lie under the folder have one that isn't too long.

    Raises:
        InvalidError: one of them would be.
    """
    longest = await unit.folders.longest_path_beneath(folder)
    if longest and longest - len(folder.path) + len(path) > FOLDER_PATH_MAX:
        raise InvalidError(
            f"The paths of folders under it would have more than {FOLDER_PATH_MAX} characters; "
            "choose a shorter name"
        )


async def follow_rename(
    unit: UnitOfWork,
    access: ProjectAccess,
    environment: EnvironmentSlug,
    folders: Sequence[Folder],
    new: Folder,
) -> None:
    """Have the project's references and imports name a folder, and those under it, by the new path.

    The first of the folders gets it; the others are all that are under it.
    """
    old = folders[0]

    def moved(of_environment: EnvironmentSlug, path: FolderPath) -> tuple[EnvironmentSlug, FolderPath]:
        if of_environment == environment and lies_within(path, old.path):
            return of_environment, FolderPath(new.path + path[len(old.path) :])
        return of_environment, path

    paths = [folder.path for folder in folders]
    await follow_folders(unit, access, environment, paths, moved, new.updated_at)
    project_id = access.project.id
    importers = await unit.imports.importers(project_id, [(environment, path) for path in paths])
    unit.changes.folders += [ListChange(ChangeKind.IMPORTS, project_id, *place) for place in importers]
    await unit.imports.follow_rename(old, new)
