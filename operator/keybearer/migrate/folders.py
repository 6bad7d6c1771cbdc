"""Paths of other stores as folders of the service."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keybearer.migrate.findings import Notes

__all__ = ["folder_of"]

_NO_FOLDER = re.compile(r"[^A-Za-z0-9_-]+")


def folder_of(base: str, names: Sequence[str], field: str, notes: Notes) -> str:
    """Return the folder of that path below another one; where a name can't be a folder's, it is changed and noted.

    Args:
        base: the folder that stands for the root of the other store.
        names: the parts of the path.
        field: where the path stands in the manifest.
        notes: of the object.
    """
    clean = [_NO_FOLDER.sub("-", name).strip("-") or "-" for name in names]
    if clean != list(names):
        notes.assumed(
            field,
            "has characters that no folder's name has; they are taken for hyphens",
            "Give the folder that name, or correct secretPath.",
        )
    return "/".join([base.rstrip("/"), *clean]) or "/"
