"""App connections as callers see them (interface.md sections 4.3 and 4.4, wire.md section 4).

The remote is asked whether it takes credentials before anything is stored, and with no transaction open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import OrganizationId, ProjectId, new_uuid
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import Catalogue
from keybearer.domain.access import ProjectRef, open_project, open_projects
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import (
    Action,
    Principal,
    Subject,
    require_organization,
)
from keybearer.domain.connections.credentials import kept_form, method_of, shown_form
from keybearer.domain.connections.lookup import (
    AppConnectionView,
    of_app,
    open_connection,
    place_of_connections,
)
from keybearer.domain.connections.proving import Proving
from keybearer.domain.connections.requests import AppConnectionChange, NewAppConnection
from keybearer.domain.connections.rotation_terms import Terms, next_rotation
from keybearer.domain.connections.use import may_use, may_use_anywhere
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.syncs.queueing import queue_failed
from keybearer.domain.user_login import require_user
from keybearer.store.app_connections import AppConnection, SyncOfConnection
from keybearer.store.attempts import repeated
from keybearer.store.audit import AuditEvent
from keybearer.store.database import Database
from keybearer.store.records import Project
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import APP_CONNECTIONS_MAX

__all__ = ["AppConnections", "ProjectUse"]

_IN_USE = (
    "Cannot delete App Connection with existing connections. Remove all existing connections and try again."
)


@dataclass(frozen=True, slots=True)
class ProjectUse:
    """What uses a connection in one project."""

    project: Project
    syncs: tuple[SyncOfConnection, ...]


class AppConnections:
    """Decides about app connections.

    Every method raises NotFoundError for a project or connection that isn't there, ForbiddenError where the
    principal may not, and InvalidError for a connection to another app than the path names.
    """

    def __init__(self, database: Database, catalogue: Catalogue, proving: Proving, clock: Clock) -> None:
        self._database = database
        self._catalogue = catalogue
        self._proving = proving
        self._clock = clock

    async def create(self, principal: Principal, new: NewAppConnection) -> AppConnectionView:
        """Make a connection whose credentials the remote takes.

        Raises:
            InvalidError: it doesn't take them or can't be asked, the name is taken, or there are too many.
        """
        method = new.app.methods[new.method]
        if new.rotation.is_asked_for and not method.is_rotatable:
            raise _not_rotatable(new.app, new.method)
        kept_form(new.credentials)  # refuses what is too large before anybody is asked
        now = self._clock.now()
        first_rotation = next_rotation(new.rotation, now)
        async with self._database.reading() as unit:
            # A code is good for one exchange: what forbids the connection anyway is said before.
            await self._require_place(unit, principal, new)
        credentials = await self._proving.proven(new.app, principal.organization_id, new.credentials)
        kept = kept_form(credentials)
        connection = AppConnection(
            id=new_uuid(),
            organization_id=principal.organization_id,
            project_id=None if new.project_id is None else ProjectId(new.project_id),
            name=new.name,
            description=new.description,
            app=new.app.name,
            method=new.method,
            credentials_hash="",
            shown=shown_form(method, kept),
            version=1,
            is_auto_rotation_enabled=new.rotation.is_automatic,
            rotation_interval_days=new.rotation.interval_days,
            rotation_hour=new.rotation.hour,
            rotation_minute=new.rotation.minute,
            rotation_status=None,
            last_rotation_message=None,
            next_rotation_at=first_rotation,
            created_at=now,
            updated_at=now,
        )

        async def store() -> AppConnectionView:
            async with self._database.writing() as unit:
                project = await self._require_place(unit, principal, new)
                stored = await unit.app_connections.add(connection, kept)
                await unit.audit(_event(principal, EventType.CREATE_APP_CONNECTION, stored))
                return AppConnectionView(stored, project)

        # Another one of that name may come first; then it is told so without asking the remote again.
        return await repeated(store)

    async def get(self, principal: Principal, app: App, connection_id: str) -> AppConnectionView:
        """Return one connection by its id."""
        return await self.require(principal, app, connection_id, Action.READ)

    async def require(
        self, principal: Principal, app: App, connection_id: str, action: Action
    ) -> AppConnectionView:
        """Return a connection to which the principal may do that."""
        async with self._database.reading() as unit:
            return await open_connection(unit, principal, app, connection_id, action)

    async def by_name(
        self, principal: Principal, app: App, name: str, project_id: str | None
    ) -> AppConnectionView:
        """Return one connection by its name: of the project, or without one of the organization."""
        async with self._database.reading() as unit:
            project = await place_of_connections(unit, principal, project_id, Action.READ)
            found = await unit.app_connections.named(
                principal.organization_id, None if project is None else project.id, name
            )
            if found is None:
                raise NotFoundError(f"Could not find App Connection with name {name}")
            return AppConnectionView(of_app(found, app), project)

    async def list(
        self, principal: Principal, project_id: str | None, app: App | None = None
    ) -> Sequence[AppConnectionView]:
        """Return connections by name: of the project, or without one of the organization."""
        async with self._database.reading() as unit:
            project = await place_of_connections(unit, principal, project_id, Action.READ)
            found = await _listed(unit, principal.organization_id, project, app)
            return [AppConnectionView(one, project) for one in found]

    async def available(
        self, principal: Principal, app: App, project_id: str | None
    ) -> Sequence[AppConnection]:
        """Return connections that the principal may use in the project, its own and the organization's, by name.

        Without a project, those of the organization that some project may use.
        """
        async with self._database.reading() as unit:
            found = await _listed(unit, principal.organization_id, None, app)
            if project_id is None:
                require_organization(principal, Action.READ, Subject.APP_CONNECTIONS)
                found = [one for one in found if may_use_anywhere(principal, one)]
            else:
                access = await open_project(unit, principal, ProjectRef(id=project_id))
                access.require(Action.READ, Subject.APP_CONNECTIONS)
                found += await _listed(unit, principal.organization_id, access.project, app)
                found = [one for one in found if may_use(access, one)]
        return sorted(found, key=lambda one: (one.name, one.id))

    async def update(
        self, principal: Principal, app: App, connection_id: str, change: AppConnectionChange
    ) -> AppConnectionView:
        """Change a connection; new credentials only if the remote takes them. They set its failed syncs off.

        Raises:
            InvalidError: it doesn't take them or can't be asked, they are of another method, or the name is taken.
        """
        async with self._database.reading() as unit:
            former = (await open_connection(unit, principal, app, connection_id, Action.EDIT)).connection
        kept = None
        if change.credentials is not None:
            given = change.credentials.get(former.method)
            if given is None:
                raise InvalidError(
                    f"Invalid credential format for {app.title} Connection with method {former.method}"
                )
            kept = kept_form(await self._proving.proven(app, former.organization_id, given))

        async def store() -> AppConnectionView:
            async with self._database.writing() as unit:
                view = await open_connection(
                    unit, principal, app, connection_id, Action.EDIT, for_change=True
                )
                changed = await self._changed(unit, app, view.connection, change)
                if kept is not None:
                    changed = replace(changed, shown=shown_form(method_of(app, changed), kept))
                    # Whoever gives new ones takes over; what the old ones made is no longer ours to withdraw.
                    await unit.app_connections.set_retiring(changed.id, None)
                stored = await unit.app_connections.update(changed, kept)
                await unit.audit(_event(principal, EventType.UPDATE_APP_CONNECTION, stored))
                if kept is not None:
                    await queue_failed(unit, stored.id, self._clock.now())
                return AppConnectionView(stored, view.project)

        return await repeated(store)

    async def delete(self, principal: Principal, app: App, connection_id: str) -> AppConnectionView:
        """Remove a connection and return what it was.

        Raises:
            InvalidError: a sync uses it.
        """
        async with self._database.writing() as unit:
            view = await open_connection(unit, principal, app, connection_id, Action.DELETE, for_change=True)
            if await unit.app_connections.is_used(connection_id):
                raise InvalidError(_IN_USE)
            await unit.app_connections.delete(connection_id)
            await unit.audit(_event(principal, EventType.DELETE_APP_CONNECTION, view.connection))
            return view

    async def usage(self, principal: Principal, app: App, connection_id: str) -> Sequence[ProjectUse]:
        """Return what uses the connection, in the projects where a user may see syncs.

        Raises:
            ForbiddenError: the principal is no user, or may not read the connection.
        """
        require_user(principal)
        async with self._database.reading() as unit:
            await open_connection(unit, principal, app, connection_id, Action.READ)
            syncs = await unit.app_connections.users(connection_id)
            accesses = await open_projects(unit, principal, ids={sync.project_id for sync in syncs})
        shown = [access.project for access in accesses if access.allows(Action.READ, Subject.SECRET_SYNCS)]
        return [
            ProjectUse(project, tuple(sync for sync in syncs if sync.project_id == project.id))
            for project in sorted(shown, key=lambda project: (project.name, project.id))
        ]

    def options(self) -> Sequence[App]:
        """Return the apps that connections can be made to, by title."""
        return sorted(self._catalogue.apps, key=lambda app: app.title.lower())

    async def _require_place(
        self, unit: UnitOfWork, principal: Principal, new: NewAppConnection
    ) -> Project | None:
        project = await place_of_connections(unit, principal, new.project_id, Action.CREATE)
        project_id = None if project is None else project.id
        await _require_free_name(unit, principal.organization_id, project_id, new.name)
        if await unit.app_connections.number(principal.organization_id, project_id) >= APP_CONNECTIONS_MAX:
            owner = "An organization" if project is None else "A project"
            raise InvalidError(f"{owner} has at most {APP_CONNECTIONS_MAX} app connections")
        return project

    async def _changed(
        self, unit: UnitOfWork, app: App, former: AppConnection, change: AppConnectionChange
    ) -> AppConnection:
        name = former.name if change.name is None else change.name
        if name != former.name:
            await _require_free_name(unit, former.organization_id, former.project_id, name)
        now = self._clock.now()
        changed = replace(
            former,
            name=name,
            description=former.description if change.description is None else change.description[0],
            version=former.version + 1,
            updated_at=now,
        )
        if change.is_auto_rotation_enabled is None and change.rotation is None:
            return changed
        present = Terms.of(former)
        terms = replace(
            change.rotation or present,
            is_automatic=present.is_automatic
            if change.is_auto_rotation_enabled is None
            else change.is_auto_rotation_enabled,
        )
        if terms.is_asked_for and not method_of(app, former).is_rotatable:
            raise _not_rotatable(app, former.method)
        is_same = terms == present
        return replace(
            changed,
            is_auto_rotation_enabled=terms.is_automatic,
            rotation_interval_days=terms.interval_days,
            rotation_hour=terms.hour,
            rotation_minute=terms.minute,
            next_rotation_at=former.next_rotation_at if is_same else next_rotation(terms, now),
        )


async def _listed(
    unit: UnitOfWork, organization_id: OrganizationId, project: Project | None, app: App | None
) -> list[AppConnection]:
    return await unit.app_connections.listed(
        organization_id, None if project is None else [project.id], None if app is None else app.name
    )


async def _require_free_name(
    unit: UnitOfWork, organization_id: OrganizationId, project_id: ProjectId | None, name: str
) -> None:
    if await unit.app_connections.named(organization_id, project_id, name) is not None:
        raise InvalidError(f'An App Connection with the name "{name}" already exists')


def _not_rotatable(app: App, method: str) -> InvalidError:
    return InvalidError(f"Rotation is not supported for {app.title} Connections with method {method}")


def _event(principal: Principal, kind: EventType, connection: AppConnection) -> AuditEvent:
    return audited(
        principal,
        kind,
        connection.project_id,
        connectionId=connection.id,
        name=connection.name,
        app=connection.app,
        method=connection.method,
    )
