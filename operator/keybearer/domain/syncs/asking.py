"""What people have done for a sync, apart from its changes: push, bring back, remove (wire.md section 3.3)."""

from __future__ import annotations

from keybearer.base.clock import Clock
from keybearer.destinations.catalogue import Catalogue
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.errors import InvalidError
from keybearer.domain.syncs.auditing import asked_event
from keybearer.domain.syncs.lookup import sync_of_id
from keybearer.domain.syncs.queueing import DELETES_SYNC, IMPORT_BEHAVIOR, REMOVES_FOREIGN, queue
from keybearer.domain.syncs.rules import (
    existing_destination,
    require_idle,
    require_may_import,
    require_removable,
    require_source,
)
from keybearer.store.database import Database
from keybearer.store.secret_syncs import JobKind, SecretSync
from keybearer.wire.destination_forms import ImportBehavior

__all__ = ["SyncRequests"]


class SyncRequests:
    """Queues what is asked for; the engine does it.

    Every method raises NotFoundError for a sync that isn't there, ForbiddenError where the principal may not, and
    InvalidError for a sync of another destination, one whose folder is gone, and one of which a job runs.
    """

    def __init__(self, database: Database, catalogue: Catalogue, clock: Clock) -> None:
        self._database = database
        self._catalogue = catalogue
        self._clock = clock

    async def sync(
        self, principal: Principal, destination: str, sync_id: str, *, removes_foreign: bool = False
    ) -> SecretSync:
        """Have the sync pushed, after a look at what the remote holds.

        Args:
            principal: who asks.
            destination: the sync's.
            sync_id: its id.
            removes_foreign: whether names of others that the key schema makes are removed too, this once.

        Raises:
            InvalidError: as above, or the destination's secrets can't be removed.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            _, sync = await sync_of_id(unit, principal, offered, sync_id, Action.EDIT)
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
        """Have what the destination holds brought into the folder.

        Raises:
            InvalidError: as above, or the destination's secrets can't be read back.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            access, sync = await sync_of_id(unit, principal, offered, sync_id, Action.EDIT)
            if not offered.can_import:
                raise InvalidError(f"{offered.title} does not support importing secrets.")
            require_may_import(access, require_source(sync), behavior)
            await require_idle(unit, sync)
            parameters = {IMPORT_BEHAVIOR: behavior.value}
            sync = await queue(unit, sync, JobKind.IMPORT, parameters, self._clock.now(), is_urgent=True)
            await unit.audit(asked_event(principal, sync, JobKind.IMPORT, **parameters))
            return sync

    async def remove(self, principal: Principal, destination: str, sync_id: str) -> SecretSync:
        """Have what was pushed removed from the destination; the sync stays, unless it is to go already.

        Raises:
            InvalidError: as above, or the destination's secrets can't be removed.
        """
        offered = existing_destination(self._catalogue, destination)
        async with self._database.writing() as unit:
            _, sync = await sync_of_id(unit, principal, offered, sync_id, Action.EDIT)
            require_removable(offered)
            require_source(sync)
            waiting = await require_idle(unit, sync)
            goes = any(job.kind == JobKind.REMOVE and job.parameters.get(DELETES_SYNC) for job in waiting)
            sync = await queue(
                unit, sync, JobKind.REMOVE, {DELETES_SYNC: goes}, self._clock.now(), is_urgent=True
            )
            await unit.audit(asked_event(principal, sync, JobKind.REMOVE))
            return sync
