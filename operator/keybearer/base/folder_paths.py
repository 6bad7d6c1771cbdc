"""Folders of a project by their paths, as texts: `/`, `/db`, `/db/prod`."""

from __future__ import annotations

__all__ = ["lies_within"]


def lies_within(path: str, folder: str) -> bool:
    """Tell whether the path is the folder, or one below it. A slash at an end counts for nothing."""
    return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")
