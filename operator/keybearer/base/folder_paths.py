"""Folders of a project by their paths, as texts: `/`, `/db`, `/db/prod`."""

from __future__ import annotations

__all__ = ["lies_within", "parent_and_name"]


def lies_within(path: str, folder: str) -> bool:
    """Tell whether the path is the folder, or one below it. A slash at an end counts for nothing."""
    return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")


def parent_and_name(path: str) -> tuple[str, str]:
    """Return the path of the folder above, and the name of this one; the root is its own parent, without a name."""
    parent, _, name = f"/{path.strip('/')}".rpartition("/")
    return parent or "/", name
