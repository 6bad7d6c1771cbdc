"""Reads what a sync pushes: the secrets of its folder and its imports, references replaced (wire.md 3.4, rule 1).

A sync reads with the rights of its owner: who created it, or last changed what it pushes. What the owner may not read
is pushed to nobody, whoever wrote the import or the reference that leads there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keybearer.base.ids import IdentityId
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.authorization import Action, ActorKind, OrganizationRole, Principal, Subject, Where
from keybearer.domain.errors import ForbiddenError, InvalidError
from keybearer.domain.secrets.expansion import expand_all
from keybearer.domain.secrets.imported import imported_blocks
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.domain.secrets.reading import revisions_of
from keybearer.domain.syncs.plan import Wanted
from keybearer.store.records import Identity, Secret
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.unit import UnitOfWork

__all__ = [
    "Source",
    "access_as",
    "access_of",
    "actor_of",
    "folder_of",
    "read_folder",
    "read_source",
    "require_may_push",
]


@dataclass(frozen=True, slots=True)
class Source:
    """What was read.

    Attributes:
        secrets: each key once.
        reached: revisions of all that was read, by the id of the project or organization.
        access: with which it was read.
    """

    secrets: tuple[Wanted, ...] = field(repr=False)
    reached: Mapping[str, int]
    access: ProjectAccess

    @property
    def values(self) -> dict[str, str]:
        """The values by key."""
        return {secret.key: secret.value for secret in self.secrets}


def actor_of(sync: SecretSync) -> Principal:
    """Return the actor of what the sync does by itself, for the audit log."""
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
    """Return its owner's access to the sync's project; personal secrets are not among what it reaches.

    Raises:
        InvalidError: it has no owner, or that is gone.
        NotFoundError: the project is gone.
    """
    owner_id = sync.record.owner_id
    owner = None if owner_id is None else await unit.identities.get(owner_id)
    if owner is None or owner.organization_id != sync.organization_id:
        raise InvalidError(
            "The sync has no owner whose rights it could read with; give it one, or save its options or its "
            "source anew, as they are"
        )
    return await access_as(unit, owner, sync)


async def access_as(unit: UnitOfWork, owner: Identity, sync: SecretSync) -> ProjectAccess:
    """Return the access to the sync's project that the sync has with this owner; without personal secrets.

    Raises:
        NotFoundError: the project is gone, or it is of another organization.
    """
    principal = Principal(
        identity_id=owner.id,
        organization_id=owner.organization_id,
        organization_role=owner.role,
        permission_revision=owner.permission_revision,
        token_id="",
        kind=ActorKind.MACHINE,  # whatever it is: personal secrets are pushed to nobody
        name=owner.name,
    )
    return await open_project(unit, principal, ProjectRef(id=sync.record.project_id))


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
        ForbiddenError: its owner may not read all of it.
        InvalidError: the folder or the owner is gone, or it holds more than is read at once.
    """
    at, access = folder_of(sync), await access_of(unit, sync)
    try:
        return await read_folder(unit, access, at, with_metadata=with_metadata)
    except ForbiddenError as error:
        raise ForbiddenError(
            f"The sync reads with the rights of its owner, {access.principal.name}: {error.message}; grant that, "
            "or give the sync another owner",
            details=error.details,
            denial=error.denial,
        ) from error


async def read_folder(
    unit: UnitOfWork, access: ProjectAccess, at: SecretsAt, *, with_metadata: bool = False
) -> Source:
    """Return all that a sync of the folder would push, as the principal reads it; nothing is left out.

    Raises:
        ForbiddenError: the principal may not read the folder, or what its imports and references lead to.
        InvalidError: it holds more than is read at once.
    """
    require_may_push(access, Where(at.environment, at.path))
    try:
        direct = await unit.secrets.listed(
            access.project.id, at.environment, at.path, recursive=False, with_values=True
        )
    except TooLargeError as error:
        raise InvalidError(
            f"The secrets of the folder hold more than {LISTED_MAX_BYTES >> 20} MiB, more than a sync carries"
        ) from error
    room = LISTED_MAX_BYTES - sum(len(secret.value or "") for secret in direct)
    blocks = await imported_blocks(
        unit, access, at, recursive=False, with_values=True, max_bytes=room, strict=True
    )
    by_key: dict[str, Secret] = {}
    for block in blocks:
        by_key.update((secret.key, secret) for secret in block.secrets)
    by_key.update((secret.key, secret) for secret in direct)
    # A secret that is imported several times is expanded once.
    expanded = await expand_all(
        unit,
        access,
        {secret.id: secret for secret in by_key.values()}.values(),
        single=False,
        # What nobody could mean when it was written is carried nowhere, whatever has the name now.
        only_bound=True,
    )
    secrets = tuple(
        Wanted(key, expanded.values[secret.id], _metadata(secret) if with_metadata else ())
        for key, secret in sorted(by_key.items())
    )
    return Source(secrets, await revisions_of(unit, access, expanded.reach), access)


def require_may_push(access: ProjectAccess, where: Where) -> None:
    """Check that the principal may read the values that will leave the service.

    Raises:
        ForbiddenError: it may not.
    """
    if not access.allows(Action.READ_VALUE, Subject.SECRETS, where):
        message = f"You do not have permission to read secrets at path {where.path}"
        raise access.refusal(message, Action.READ_VALUE, Subject.SECRETS, where)


def _metadata(secret: Secret) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((item.key, item.value) for item in secret.details.metadata))
