"""What is asked about secrets, and how it is answered."""

from __future__ import annotations

from dataclasses import dataclass, field

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.access import ProjectRef
from keybearer.store.audit import AuditEvent
from keybearer.store.records import Secret

__all__ = [
    "GetSecret",
    "ListSecrets",
    "NotModified",
    "Reached",
    "SecretListing",
    "SecretsAt",
    "ShownImport",
    "ShownSecret",
]


@dataclass(frozen=True, slots=True)
class SecretsAt:
    """A folder, as a request names it."""

    project: ProjectRef
    environment: EnvironmentSlug
    path: FolderPath


@dataclass(frozen=True, slots=True)
class ListSecrets:
    """A list, all defaults applied. Metadata pairs must all hold; a None value asks for the key alone.

    `personal_overrides` puts the values of the user who asks in the place of shared ones, and of those that texts
    refer to.
    """

    at: SecretsAt
    recursive: bool
    expand: bool
    view_value: bool
    include_imports: bool
    tag_slugs: tuple[str, ...] = ()
    metadata: tuple[tuple[str | None, str | None], ...] = ()
    personal_overrides: bool = False


@dataclass(frozen=True, slots=True)
class GetSecret:
    """One secret, all defaults applied; `version` None means the present one."""

    at: SecretsAt
    key: str
    personal: bool
    version: int | None
    expand: bool
    view_value: bool
    include_imports: bool


@dataclass(frozen=True, slots=True)
class ShownSecret:
    """A secret with the value that the caller gets to see: expanded, masked or as it is stored."""

    secret: Secret
    value: str = field(repr=False)
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class ShownImport:
    """The secrets that one import of the folder brings."""

    environment: EnvironmentSlug
    path: FolderPath
    folder_id: str | None
    secrets: tuple[ShownSecret, ...]


@dataclass(frozen=True, slots=True)
class Reached:
    """What an answer depends on: revisions by project id; by organization id where slugs were looked up."""

    revisions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SecretListing:
    """The answer to a list, sorted by key and path."""

    secrets: tuple[ShownSecret, ...]
    imports: tuple[ShownImport, ...]
    tag: str
    reached: Reached
    read: AuditEvent | None = None
    """What the audit log says of this answer; None where it shows no value."""


@dataclass(frozen=True, slots=True)
class NotModified:
    """The caller has the present answer already."""

    tag: str
    reached: Reached
