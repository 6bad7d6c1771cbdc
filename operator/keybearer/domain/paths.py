"""Folder paths as the service compares them: absolute, single slashes, none at the end."""

from __future__ import annotations

import re

from keybearer.base.ids import FolderPath
from keybearer.domain.errors import SchemaViolationError
from keybearer.wire.limits import FOLDER_DEPTH_MAX, FOLDER_NAME_MAX, FOLDER_PATH_MAX

__all__ = ["ROOT", "ancestors", "depth_between", "folder_name_of", "normalize_path", "parent_of"]

ROOT = FolderPath("/")
_NAME = re.compile(r"[a-zA-Z0-9_-]+")


def normalize_path(text: str, *, field: str = "path") -> FolderPath:
    """Return the path that a caller meant: `a//b/` is `/a/b`, and nothing at all is the root.

    Its depth is bounded here, before anything is asked about it: the grants of a member are weighed name by name.

    Raises:
        SchemaViolationError: it has too many names; `field` is what it is called in the request.
    """
    names = [part for part in text.strip().split("/") if part]
    if len(names) > FOLDER_DEPTH_MAX:
        raise SchemaViolationError(f"The path of a folder has at most {FOLDER_DEPTH_MAX} names", field=field)
    return FolderPath("/" + "/".join(names))


def ancestors(path: FolderPath) -> list[FolderPath]:
    """Return the path and all above it but the root, the highest first; each name is checked.

    Raises:
        SchemaViolationError: a name holds what no folder may be called, or the whole is too long.
    """
    names = path.strip("/").split("/") if path != ROOT else []
    if len(path) > FOLDER_PATH_MAX:
        raise SchemaViolationError(
            f"The path of a folder has at most {FOLDER_PATH_MAX} characters", field="path"
        )
    if any(len(name) > FOLDER_NAME_MAX for name in names):
        raise SchemaViolationError(
            f"The name of a folder has at most {FOLDER_NAME_MAX} characters", field="path"
        )
    if not all(_NAME.fullmatch(name) for name in names):
        # The text of wire.md section 2.9.
        raise SchemaViolationError(
            "Invalid folder name. Only alphanumeric characters, dashes, and underscores are allowed.",
            field="path",
        )
    return [FolderPath("/" + "/".join(names[: count + 1])) for count in range(len(names))]


def parent_of(path: FolderPath) -> FolderPath:
    """Return the path of the folder that holds this one; the root's is the root."""
    return FolderPath(path.rpartition("/")[0] or "/")


def folder_name_of(path: FolderPath) -> str:
    """Return the last name of the path, `root` for the root."""
    return path.rpartition("/")[2] or "root"


def depth_between(above: FolderPath, below: FolderPath) -> int:
    """Return how many folders deeper the second path lies under the first."""
    return below.count("/") + (below == ROOT) * -1 - (above.count("/") + (above == ROOT) * -1)
