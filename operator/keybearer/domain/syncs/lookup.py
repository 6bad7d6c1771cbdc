"""Finds syncs by id or name for a principal, and checks its permissions."""

from __future__ import annotations

from keybearer.destinations.catalogue import OfferedDestination
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.unit import UnitOfWork

__all__ = ["stored_sync", "sync_of_id", "sync_of_name"]


async def sync_of_id(
    unit: UnitOfWork,
    principal: Principal,
    destination: OfferedDestination,
    sync_id: str,
    action: Action,
) -> tuple[ProjectAccess, SecretSync]:
    """Return a sync for this action, and the principal's access to its project.

    Unless the action is to read, the sync is locked: no job of it is claimed until the unit ends.

    Raises:
        NotFoundError: the organization has no such sync.
        ForbiddenError: the principal may not do this with syncs of its project.
        InvalidError: it is of another destination.
    """
    sync = await unit.secret_syncs.get(sync_id, for_change=action is not Action.READ)
    if sync is None or sync.organization_id != principal.organization_id:
        raise NotFoundError(f'Could not find {destination.title} Sync with ID "{sync_id}"')
    access = await open_project(unit, principal, ProjectRef(id=sync.record.project_id))
    access.require(action, Subject.SECRET_SYNCS)
    if sync.record.destination != destination.name:
        raise InvalidError(f'Secret sync with ID "{sync_id}" is not configured for {destination.title}')
    return access, sync


async def stored_sync(unit: UnitOfWork, sync_id: str) -> SecretSync:
    """Return a sync that this unit wrote."""
    sync = await unit.secret_syncs.get(sync_id)
    if sync is None:
        raise AssertionError("a sync that this unit wrote is gone")
    return sync


async def sync_of_name(
    unit: UnitOfWork, principal: Principal, destination: OfferedDestination, project_id: str, name: str
) -> SecretSync:
    """Return the project's sync to the destination of that name.

    Raises:
        NotFoundError: the organization has no such project, or the project no such sync.
        ForbiddenError: the principal may not see syncs of the project.
        InvalidError: it is of another destination.
    """
    access = await open_project(unit, principal, ProjectRef(id=project_id))
    access.require(Action.READ, Subject.SECRET_SYNCS)
    sync = await unit.secret_syncs.named(access.project.id, name)
    if sync is None:
        raise NotFoundError(f'Could not find {destination.title} Sync with name "{name}"')
    if sync.record.destination != destination.name:
        raise InvalidError(
            f'Secret sync with ID "{sync.record.id}" is not configured for {destination.title}'
        )
    return sync
