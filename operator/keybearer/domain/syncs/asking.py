"""Requests to push, import or remove the secrets of a sync (wire.md section 3.3)."""

from __future__ import annotations

from keybearer.base.clock import Clock
from keybearer.destinations.catalogue import Catalogue, OfferedDestination
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.errors import InvalidError
from keybearer.domain.syncs.auditing import asked_event
from keybearer.domain.syncs.lookup import sync_of_id
from keybearer.domain.syncs.queueing import DELETES_SYNC, IMPORT_BEHAVIOR, REMOVES_FOREIGN, queue
from keybearer.domain.syncs.rules import (
    existing_destination,
    place_of_sync,
    require_idle,
    require_may_import,
    require_removable,
    require_source,
    usable_connection,
)
from keybearer.domain.syncs.source import folder_of, read_folder
from keybearer.store.database import Database
from keybearer.store.secret_syncs import JobKind, SecretSync
from keybearer.store.unit import UnitOfWork
from keybearer.wire.destination_forms import ImportBehavior

__all__ = ["SyncRequests"]


class SyncRequests:
    """Queues the jobs that people request; the engine runs them.

    Every method raises NotFoundError if there is no such sync, and ForbiddenError if the principal has no permission
    or may not use the connection of the sync. It raises InvalidError if the sync has another destination, its folder
    is gone, or one of its jobs is running.
    """

    def __init__(self, database: Database, catalogue: Catalogue, clock: Clock) -> None:
        self._database = database
        self._catalogue = catalogue
        self._clock = clock

    async def sync(
        self, principal: Principal, destination: str, sync_id: str, *, removes_foreign: bool = False
    ) -> SecretSync:
        """Queue a push, which lists the destination first.

        Args:
            principal: who asks.
            destination: the sync's.
            sync_id: its id.
            removes_foreign: whether foreign names that match the key schema are removed too, this once.

        Raises:
            InvalidError: as above, or the destination's secrets can't be removed.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            access, sync = await sync_of_id(unit, principal, offered, sync_id, Action.EDIT)
            await _require_use(unit, access, offered, sync)
            if removes_foreign:
                require_removable(offered)
            require_source(sync)
            await require_idle(unit, sync)
            parameters = {REMOVES_FOREIGN: True} if removes_foreign else {}
            sync = await queue(unit, sync, JobKind.SYNC, parameters, self._clock.now(), afresh=True)
            await unit.audit(asked_event(principal, sync, JobKind.SYNC, **parameters))
            return sync

    async def bring_back(
        self, principal: Principal, destination: str, sync_id: str, behavior: ImportBehavior
    ) -> SecretSync:
        """Queue an import of what the destination holds into the folder.

        Raises:
            InvalidError: as above, or the destination's secrets can't be read back.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            access, sync = await sync_of_id(unit, principal, offered, sync_id, Action.EDIT)
            if not offered.can_import:
                raise InvalidError(f"{offered.title} does not support importing secrets.")
            await _require_use(unit, access, offered, sync)
            require_may_import(access, require_source(sync), behavior)
            await read_folder(unit, access, folder_of(sync))
            await require_idle(unit, sync)
            parameters = {IMPORT_BEHAVIOR: behavior.value}
            sync = await queue(unit, sync, JobKind.IMPORT, parameters, self._clock.now(), is_urgent=True)
            await unit.audit(asked_event(principal, sync, JobKind.IMPORT, **parameters))
            return sync

    async def remove(self, principal: Principal, destination: str, sync_id: str) -> SecretSync:
        """Queue the removal of what was pushed. The sync stays, unless its deletion is already queued.

        Raises:
            InvalidError: as above, or the destination's secrets can't be removed.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            access, sync = await sync_of_id(unit, principal, offered, sync_id, Action.EDIT)
            await _require_use(unit, access, offered, sync)
            require_removable(offered)
            require_source(sync)
            waiting = await require_idle(unit, sync)
            goes = any(job.kind == JobKind.REMOVE and job.parameters.get(DELETES_SYNC) for job in waiting)
            sync = await queue(
                unit, sync, JobKind.REMOVE, {DELETES_SYNC: goes}, self._clock.now(), is_urgent=True
            )
            await unit.audit(asked_event(principal, sync, JobKind.REMOVE))
            return sync


async def _require_use(
    unit: UnitOfWork, access: ProjectAccess, offered: OfferedDestination, sync: SecretSync
) -> None:
    await usable_connection(unit, access, sync.record.connection_id, offered, place_of_sync(offered, sync))
