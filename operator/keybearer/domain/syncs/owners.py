"""Shows and changes whose rights a sync has, and lists the syncs of an owner (an addition to interface.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, ProjectId
from keybearer.destinations.catalogue import Catalogue, OfferedDestination
from keybearer.domain.access import ProjectAccess, open_projects
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, OrganizationRole, Principal, Subject
from keybearer.domain.errors import DomainError, ForbiddenError, InvalidError, NotFoundError
from keybearer.domain.syncs.auditing import sync_event
from keybearer.domain.syncs.lookup import stored_sync, sync_of_id
from keybearer.domain.syncs.outcomes import failure_of
from keybearer.domain.syncs.queueing import queue
from keybearer.domain.syncs.rules import (
    existing_destination,
    place_of_sync,
    require_idle,
    require_may_import,
    require_source,
    usable_connection,
)
from keybearer.domain.syncs.source import access_as, folder_of, read_folder, read_source
from keybearer.domain.syncs.using import require_use
from keybearer.store.database import Database
from keybearer.store.records import Identity
from keybearer.store.secret_syncs import JobKind, SecretSync
from keybearer.store.unit import UnitOfWork

__all__ = ["SyncOwner", "SyncOwners"]


@dataclass(frozen=True, slots=True)
class SyncOwner:
    """Whose rights a sync has.

    Attributes:
        id: None where nobody knows the owner.
        name, kind: None where the owner is gone.
        message: why the sync can't read its source or use its connection with these rights; None if it can.
        can_read: whether it can read its source.
    """

    id: IdentityId | None
    name: str | None
    kind: str | None
    message: str | None
    can_read: bool = True


class SyncOwners:
    """Decides whose rights syncs have.

    Methods that take a destination raise NotFoundError if there is no such destination or sync, ForbiddenError if the
    principal has no permission, and InvalidError if the sync is of another destination.
    """

    def __init__(self, database: Database, catalogue: Catalogue, clock: Clock) -> None:
        self._database = database
        self._catalogue = catalogue
        self._clock = clock

    async def get(self, principal: Principal, destination: str, sync_id: str) -> SyncOwner:
        """Return the owner, to whoever may see the sync; the message is what a run would say now."""
        offered = existing_destination(self._catalogue, destination)
        async with self._database.reading() as unit:
            _, sync = await sync_of_id(unit, principal, offered, sync_id, Action.READ)
            owner_id = sync.record.owner_id
            owner = None if owner_id is None else await unit.identities.get(owner_id)
            to_read = await _obstacle_of(read_source(unit, sync, with_metadata=False))
            message = to_read or await _obstacle_of(_require_use(unit, offered, sync))
        if owner is None:
            return SyncOwner(owner_id, None, None, message, can_read=to_read is None)
        return SyncOwner(owner.id, owner.name, owner.kind, message, can_read=to_read is None)

    async def change(self, principal: Principal, destination: str, sync_id: str, owner_id: str) -> SyncOwner:
        """Have the sync act for another owner; with auto-sync, queue a run.

        Whoever may edit the sync may become its owner. An admin of the organization may name any member of the
        project. The new owner needs the rights that making the sync needs: to read its whole source, to use its
        connection, and to write what its first run brings back.

        Raises:
            ForbiddenError: as above, or the principal names somebody else, or lacks rights that the owner needs.
            InvalidError: as above; or the new owner is no member or lacks such rights, the folder is gone, or a job
                of the sync runs.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            _, sync = await sync_of_id(unit, principal, offered, sync_id, Action.EDIT)
            owner = await _candidate(unit, principal, sync, owner_id)
            await _require_rights(unit, principal, offered, sync, owner)
            await require_idle(unit, sync)
            former, now = sync.record.owner_id, self._clock.now()
            changed = replace(sync.record, owner_id=owner.id, version=sync.record.version + 1, updated_at=now)
            await unit.secret_syncs.update(changed)
            sync = await stored_sync(unit, changed.id)
            if changed.is_auto_sync_enabled:
                sync = await queue(unit, sync, JobKind.SYNC, {}, now, is_urgent=True)
            await unit.audit(
                sync_event(
                    principal,
                    EventType.UPDATE_SECRET_SYNC,
                    sync,
                    ownerId=owner.id,
                    formerOwnerId=former,
                )
            )
        return SyncOwner(owner.id, owner.name, owner.kind, None)

    async def owned(
        self, principal: Principal, owner_id: str, project_id: str | None = None
    ) -> Sequence[SecretSync]:
        """Return the syncs that act for an owner, by project and name: of those that the principal may see."""
        async with self._database.reading() as unit:
            found = await unit.secret_syncs.of_owner(
                principal.organization_id,
                IdentityId(owner_id),
                None if project_id is None else ProjectId(project_id),
            )
            projects = dict.fromkeys(sync.record.project_id for sync in found)
            seen = {
                access.project.id
                for access in await open_projects(unit, principal, ids=projects)
                if access.allows(Action.READ, Subject.SECRET_SYNCS)
            }
        return [sync for sync in found if sync.record.project_id in seen]


async def _obstacle_of(trial: Awaitable[object]) -> str | None:
    try:
        await trial
    except DomainError as error:
        return failure_of(error, ()).message
    return None


async def _require_use(unit: UnitOfWork, offered: OfferedDestination, sync: SecretSync) -> None:
    connection = await unit.app_connections.get(sync.record.connection_id)
    if connection is not None:
        await require_use(unit, sync, connection, place_of_sync(offered, sync))


async def _candidate(unit: UnitOfWork, principal: Principal, sync: SecretSync, owner_id: str) -> Identity:
    """Return who is to be the owner, if the principal may name it.

    Raises:
        ForbiddenError: the principal names somebody else, and is no admin of the organization.
        InvalidError: the organization has no such identity, or it is no member of the project.
    """
    by_admin = principal.organization_role == OrganizationRole.ADMIN
    if owner_id != principal.identity_id and not by_admin:
        raise ForbiddenError(
            "Only an admin of the organization makes somebody else the owner of a sync; you can become its owner "
            f'yourself, with your own ID "{principal.identity_id}"'
        )
    owner = await unit.identities.get(IdentityId(owner_id))
    if owner is None or owner.organization_id != sync.organization_id:
        raise InvalidError(f'The organization has no identity or user with ID "{owner_id}"')
    is_member = await unit.projects.membership(sync.record.project_id, owner.id) is not None
    if not is_member and owner.role != OrganizationRole.ADMIN:
        raise InvalidError(f"{owner.name} is no member of the sync's project; add it to the project first")
    return owner


async def _require_rights(
    unit: UnitOfWork,
    principal: Principal,
    offered: OfferedDestination,
    sync: SecretSync,
    owner: Identity,
) -> None:
    """Check that the new owner has the rights that making the sync needs.

    Raises:
        ForbiddenError: the principal is to be the owner, and lacks some.
        InvalidError: somebody else is to be, and lacks some; or the folder is gone.
    """
    require_source(sync)
    access = await access_as(unit, owner, sync)
    try:
        await _require_rights_of(unit, access, offered, sync)
    except (ForbiddenError, NotFoundError) as error:
        if owner.id == principal.identity_id:
            raise
        # Not the principal is refused: it would read that it lacks the right itself.
        message = failure_of(error, ()).message
        raise InvalidError(
            f"{owner.name} lacks rights that the owner of the sync needs: {message}"
        ) from error


async def _require_rights_of(
    unit: UnitOfWork, access: ProjectAccess, offered: OfferedDestination, sync: SecretSync
) -> None:
    await usable_connection(unit, access, sync.record.connection_id, offered, place_of_sync(offered, sync))
    behavior = sync.record.sync_options.get("initialSyncBehavior")
    if isinstance(behavior, str):
        require_may_import(access, require_source(sync), behavior)
    await read_folder(unit, access, folder_of(sync))
