"""Where secrets are, and what stored texts name."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from keybearer.base.ids import EnvironmentSlug, FolderPath

__all__ = ["Location", "ReferenceTarget", "folder_digest"]


class Location(NamedTuple):
    """Where a secret is within its project, and its key. A tuple is made and compared faster than a dataclass."""

    environment: EnvironmentSlug
    path: FolderPath
    key: str


class ReferenceTarget(NamedTuple):
    """What a stored text names; an empty project slug means the secret's own project."""

    project_slug: str
    location: Location


def folder_digest(project_slug: str, environment: EnvironmentSlug, path: FolderPath) -> str:
    """Return what `SecretReferenceRow.folder` holds for this folder."""
    named = f"{project_slug}\0{environment}\0{path}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]
