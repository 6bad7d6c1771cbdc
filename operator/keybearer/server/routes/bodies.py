"""From bodies and queries to what the domain asks for: the several names of a project, paths, pairs."""

from __future__ import annotations

from typing import Protocol

from keybearer.base.ids import EnvironmentSlug
from keybearer.domain.access import ProjectRef
from keybearer.domain.folders import FoldersAt
from keybearer.domain.paths import normalize_path
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.server.errors import BadRequestError
from keybearer.wire.secret_type import SecretType

__all__ = ["folders_at", "is_personal", "metadata_pairs", "project_ref", "secrets_at", "tag_slugs"]

_MAX_PAIRS = 10


class _NamesProject(Protocol):
    @property
    def project_id(self) -> str | None: ...
    @property
    def workspace_id(self) -> str | None: ...


class _NamesSecrets(_NamesProject, Protocol):
    @property
    def project_slug(self) -> str | None: ...
    @property
    def workspace_slug(self) -> str | None: ...
    @property
    def environment(self) -> str | None: ...
    @property
    def secret_path(self) -> str: ...


class _NamesFolder(_NamesProject, Protocol):
    @property
    def environment(self) -> str: ...
    @property
    def path(self) -> str: ...


def project_ref(named: _NamesProject, slug: str | None = None) -> ProjectRef:
    """Return the project that is named by the new or the older word.

    Raises:
        BadRequestError: none is named.
    """
    ref = ProjectRef(named.project_id or named.workspace_id, slug)
    if not ref.id and not ref.slug:
        raise BadRequestError("Missing project id or environment")
    return ref


def secrets_at(named: _NamesSecrets) -> SecretsAt:
    """Return the folder that a body or query about secrets names.

    Raises:
        BadRequestError: project or environment is missing (the texts of wire.md section 2.2).
    """
    ref = project_ref(named, named.project_slug or named.workspace_slug)
    if not named.environment:
        raise BadRequestError("Missing environment")
    return SecretsAt(
        ref, EnvironmentSlug(named.environment), normalize_path(named.secret_path, field="secretPath")
    )


def folders_at(named: _NamesFolder) -> FoldersAt:
    """Return the folder that a body or query about folders names.

    Raises:
        BadRequestError: the project is missing.
    """
    return FoldersAt(project_ref(named), EnvironmentSlug(named.environment), normalize_path(named.path))


def is_personal(kind: SecretType) -> bool:
    """Return whether a user's own override is meant."""
    return kind is SecretType.PERSONAL


def tag_slugs(text: str) -> tuple[str, ...]:
    """Return the slugs of a list parted by commas."""
    return tuple(slug for part in text.split(",") if (slug := part.strip()))


def metadata_pairs(text: str) -> tuple[tuple[str | None, str | None], ...]:
    """Return the pairs of a `metadataFilter`: `key=a,value=b|key=c` (wire.md section 2.2).

    Raises:
        BadRequestError: it is written otherwise, or holds too many pairs.
    """
    if not text:
        return ()
    pairs = []
    for written in text.split("|"):
        fields = dict(part.strip().partition("=")[::2] for part in written.split(","))
        if not fields.keys() <= {"key", "value"} or not any(fields.values()):
            raise BadRequestError("metadataFilter is written key=a,value=b|key=c")
        pairs.append((fields.get("key"), fields.get("value")))
    if len(pairs) > _MAX_PAIRS:
        raise BadRequestError(f"metadataFilter holds at most {_MAX_PAIRS} pairs")
    return tuple(pairs)
