"""Reads what a sync pushes: the secrets of its folder and its imports, references replaced (wire.md 3.4, rule 1).

A sync reads with its own permissions, not with those of its creator: all of its own project that references and
imports lead to, and nothing of other projects. Otherwise people who may write to a folder could push secrets of other
projects that they can't read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keybearer.base.ids import IdentityId
from keybearer.domain.access import ProjectAccess, ProjectRef
from keybearer.domain.authorization import ActorKind, OrganizationRole, Principal, ProjectRole
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.permissions import Permissions
from keybearer.domain.secrets.expansion import expand_all
from keybearer.domain.secrets.imported import imported_blocks
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.domain.secrets.reading import revisions_of
from keybearer.domain.syncs.plan import Wanted
from keybearer.store.records import Secret
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.unit import UnitOfWork

__all__ = ["Source", "access_of", "folder_of", "read_source", "reader_of"]


@dataclass(frozen=True, slots=True)
class Source:
    """What was read.

    Attributes:
        secrets: each key once.
        reached: revisions of all that was read, by the id of the project or organization.
    """

    secrets: tuple[Wanted, ...] = field(repr=False)
    reached: Mapping[str, int]

    @property
    def values(self) -> dict[str, str]:
        """The values by key."""
        return {secret.key: secret.value for secret in self.secrets}


def reader_of(sync: SecretSync) -> Principal:
    """Return the principal that reads and writes for the sync: no identity, and no role in the organization."""
    return Principal(
        IdentityId(""),
        sync.organization_id,
        OrganizationRole.NO_ACCESS,
        0,
        "",
        ActorKind.MACHINE,
        f"secret sync {sync.record.name}",
    )


async def access_of(unit: UnitOfWork, sync: SecretSync) -> ProjectAccess:
    """Return access to the sync's project, with all permissions in it.

    Raises:
        NotFoundError: the project is gone.
    """
    projects = await unit.projects.by_ids([sync.record.project_id])
    if not projects:
        raise NotFoundError("The project of the sync is gone")
    permissions = Permissions((ProjectRole.ADMIN,), (), projects[0].id)
    return ProjectAccess(reader_of(sync), projects[0], permissions)


def folder_of(sync: SecretSync) -> SecretsAt:
    """Return the folder of the sync.

    Raises:
        InvalidError: it is gone.
    """
    if sync.environment_slug is None or sync.folder_path is None:
        raise InvalidError(
            "Invalid source configuration: folder no longer exists. "
            "Please configure a valid source and try again."
        )
    return SecretsAt(ProjectRef(id=sync.record.project_id), sync.environment_slug, sync.folder_path)


async def read_source(unit: UnitOfWork, sync: SecretSync, *, with_metadata: bool) -> Source:
    """Return what the sync pushes, from one snapshot.

    Raises:
        ForbiddenError: a secret refers to one of another project.
        InvalidError: the folder is gone, or it holds more than is read at once.
    """
    at = folder_of(sync)
    access = await access_of(unit, sync)
    try:
        direct = await unit.secrets.listed(
            access.project.id, at.environment, at.path, recursive=False, with_values=True
        )
    except TooLargeError as error:
        raise InvalidError(
            f"The secrets of the folder hold more than {LISTED_MAX_BYTES >> 20} MiB, more than a sync carries"
        ) from error
    room = LISTED_MAX_BYTES - sum(len(secret.value or "") for secret in direct)
    blocks = await imported_blocks(unit, access, at, recursive=False, with_values=True, max_bytes=room)
    by_key: dict[str, Secret] = {}
    for block in blocks:
        by_key.update((secret.key, secret) for secret in block.secrets)
    by_key.update((secret.key, secret) for secret in direct)
    # A secret that is imported several times is expanded once.
    expanded = await expand_all(
        unit, access, {secret.id: secret for secret in by_key.values()}.values(), single=False
    )
    secrets = tuple(
        Wanted(key, expanded.values[secret.id], _metadata(secret) if with_metadata else ())
        for key, secret in sorted(by_key.items())
    )
    return Source(secrets, await revisions_of(unit, access, expanded.reach))


def _metadata(secret: Secret) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((item.key, item.value) for item in secret.details.metadata))
