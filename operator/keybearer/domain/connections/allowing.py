"""Shows and changes which projects may use an app connection, and for which places (an addition to interface.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import Catalogue
from keybearer.domain.access import open_projects
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.connections.lookup import open_connection
from keybearer.domain.connections.requests import AllowedUseChange
from keybearer.domain.connections.use import checked_place_patterns
from keybearer.domain.errors import DomainError, InvalidError
from keybearer.domain.syncs.queueing import queue_failed
from keybearer.domain.syncs.rules import existing_destination, place_of_sync
from keybearer.domain.syncs.using import require_use
from keybearer.domain.unchanged import Unchanged
from keybearer.store.app_connections import AppConnection, SyncOfConnection
from keybearer.store.database import Database
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.unit import UnitOfWork

__all__ = ["AllowedUse", "ChangedUse"]


@dataclass(frozen=True, slots=True)
class ChangedUse:
    """A connection after a change of what it allows, and the syncs over it that stop by that."""

    connection: AppConnection
    stopping: tuple[SyncOfConnection, ...]


class AllowedUse:
    """Decides what connections allow.

    Every method raises NotFoundError for a connection that isn't there, ForbiddenError if the principal has no
    permission, and InvalidError for a connection to another app than the path names.
    """

    def __init__(self, database: Database, catalogue: Catalogue, clock: Clock) -> None:
        self._database = database
        self._catalogue = catalogue
        self._clock = clock

    async def get(self, principal: Principal, app: App, connection_id: str) -> AppConnection:
        """Return the connection with what it allows, to whoever may read it."""
        async with self._database.reading() as unit:
            return (await open_connection(unit, principal, app, connection_id, Action.READ)).connection

    async def change(
        self, principal: Principal, app: App, connection_id: str, change: AllowedUseChange
    ) -> ChangedUse:
        """Change what a connection allows. Syncs over it that failed run again; others are judged when they next run.

        Those that won't pass any more are told of, if the principal may see them.

        Raises:
            InvalidError: as above; or projects are named for a connection of a project, or that the organization
                doesn't have, or places for an app that has none.
            SchemaViolationError: a place is no pattern.
        """
        async with self._database.writing() as unit:
            view = await open_connection(unit, principal, app, connection_id, Action.EDIT, for_change=True)
            former = changed = view.connection
            if not isinstance(change.project_ids, Unchanged):
                project_ids = await _checked_projects(unit, principal, changed, change.project_ids)
                changed = replace(changed, allowed_project_ids=project_ids)
            if not isinstance(change.places, Unchanged):
                kinds = [kind for kind in self._catalogue.kinds if kind.app.name == app.name]
                places = None if change.places is None else checked_place_patterns(change.places, kinds)
                changed = replace(changed, allowed_places=places)
            stored = await unit.app_connections.update(changed)
            await unit.audit(
                audited(
                    principal,
                    EventType.UPDATE_APP_CONNECTION_USE,
                    stored.project_id,
                    connectionId=stored.id,
                    name=stored.name,
                    projectIds=_listed(stored.allowed_project_ids),
                    places=_listed(stored.allowed_places),
                )
            )
            await queue_failed(unit, stored.id, self._clock.now())
        async with self._database.reading() as unit:
            return ChangedUse(stored, await self._stopping(unit, principal, former, stored))

    async def _stopping(
        self, unit: UnitOfWork, principal: Principal, former: AppConnection, changed: AppConnection
    ) -> tuple[SyncOfConnection, ...]:
        """Return the syncs that the former use let run, and the changed one doesn't."""
        using = await unit.app_connections.users(changed.id)
        accesses = await open_projects(unit, principal, ids=dict.fromkeys(one.project_id for one in using))
        seen = {one.project.id for one in accesses if one.allows(Action.READ, Subject.SECRET_SYNCS)}
        stopping = []
        for one in using:
            sync = await unit.secret_syncs.get(one.id) if one.project_id in seen else None
            if (
                sync is not None
                and sync.record.connection_id == changed.id
                and not await self._runs(unit, sync, changed)
                and await self._runs(unit, sync, former)
            ):
                stopping.append(one)
        return tuple(stopping)

    async def _runs(self, unit: UnitOfWork, sync: SecretSync, connection: AppConnection) -> bool:
        offered = existing_destination(self._catalogue, sync.record.destination)
        try:
            await require_use(unit, sync, connection, place_of_sync(offered, sync))
        except DomainError:
            return False
        return True


async def _checked_projects(
    unit: UnitOfWork, principal: Principal, connection: AppConnection, ids: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    if ids is None:
        return None
    if connection.project_id is not None:
        raise InvalidError(
            f"App Connection {connection.name} is of a project, and no other project can use it: it names no projects"
        )
    found = {access.project.id for access in await open_projects(unit, principal, ids=ids)}
    if missing := [one for one in ids if one not in found]:
        raise InvalidError(f'The organization has no project with ID "{missing[0]}"')
    return tuple(dict.fromkeys(ids))


def _listed(texts: tuple[str, ...] | None) -> list[str] | None:
    return None if texts is None else list(texts)
