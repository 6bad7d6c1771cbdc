"""The folder that a request about secrets names."""

from __future__ import annotations

from keybearer.domain.access import ProjectAccess
from keybearer.domain.errors import NotFoundError
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.store.records import Folder
from keybearer.store.unit import UnitOfWork

__all__ = ["folder_at", "folder_missing"]


async def folder_at(unit: UnitOfWork, access: ProjectAccess, at: SecretsAt, *, name: str) -> Folder:
    """Return the folder.

    Args:
        unit: a transaction that is under way.
        access: to the folder's project.
        at: the folder, as the request names it.
        name: of the operation, told where there is no such folder.

    Raises:
        NotFoundError: the folder or its environment doesn't exist.
    """
    folder = await unit.folders.at(access.project.id, at.environment, at.path)
    if folder is None:
        raise folder_missing(at, name=name)
    return folder


def folder_missing(at: SecretsAt, *, name: str) -> NotFoundError:
    """Return the refusal for a folder or environment that doesn't exist, under the name of the operation."""
    return NotFoundError(
        f"Folder with path '{at.path}' in environment with slug '{at.environment}' not found", name=name
    )
