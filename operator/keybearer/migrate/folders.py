"""Paths of other stores as folders of the service."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keybearer.migrate.findings import Notes

__all__ = ["folder_of"]

_NO_FOLDER = re.compile(r"[^A-Za-z0-9_-]+")


def folder_of(base: str, names: Sequence[str], field: str, notes: Notes) -> str:
    """Return the folder of that path below another one; hyphens replace what folders' names don't have, with a note.

    Args:
        base: the folder that stands for the root of the other store.
        names: the parts of the path.
        field: where the path stands in the manifest.
        notes: of the object.
    """
    clean = [_NO_FOLDER.sub("-", name).strip("-") or "-" for name in names]
    if clean != list(names):
        given = "/".join(names)
        notes.step(
            field,
            f"has characters that no folder's name has: the contents of {given[:253]} must be in "
            f"{'/'.join([base.rstrip('/'), *clean])[:253]}",
            "Bring them there: keybearer secrets import. Or correct secretPath.",
        )
    return "/".join([base.rstrip("/"), *clean]) or "/"
