"""Where secrets are, and what stored texts name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from keybearer.base.ids import EnvironmentSlug, FolderPath

__all__ = ["Location", "ReferenceTarget", "folder_digest"]


@dataclass(frozen=True, slots=True)
class Location:
    """Where a secret lives within its project, and its key."""

    environment: EnvironmentSlug
    path: FolderPath
    key: str


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    """What a stored text names; an empty project slug means the secret's own project."""

    project_slug: str
    location: Location


def folder_digest(project_slug: str, environment: EnvironmentSlug, path: FolderPath) -> str:
    """Return what `SecretReferenceRow.folder` holds for this folder."""
    named = f"{project_slug}\0{environment}\0{path}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]
