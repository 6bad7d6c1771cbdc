"""Connections, and the places where they are, as far as a principal may have to do with them."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.destinations.app import App
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.authorization import Action, Principal, Subject, require_organization
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.store.app_connections import AppConnection
from keybearer.store.records import Project
from keybearer.store.unit import UnitOfWork

__all__ = ["AppConnectionView", "of_app", "open_connection", "place_of_connections"]


@dataclass(frozen=True, slots=True)
class AppConnectionView:
    """A connection with the project that it is of."""

    connection: AppConnection
    project: Project | None


async def place_of_connections(
    unit: UnitOfWork, principal: Principal, project_id: str | None, action: Action
) -> Project | None:
    """Return the project, or None for the organization itself, where the principal may do that to connections.

    Raises:
        NotFoundError: the project isn't there, or can't be seen.
        ForbiddenError: the principal may not.
    """
    if project_id is None:
        require_organization(principal, action, Subject.APP_CONNECTIONS)
        return None
    access = await open_project(unit, principal, ProjectRef(id=project_id))
    access.require(action, Subject.APP_CONNECTIONS)
    return access.project


async def open_connection(
    unit: UnitOfWork,
    principal: Principal,
    app: App,
    connection_id: str,
    action: Action,
    *,
    for_change: bool = False,
) -> AppConnectionView:
    """Return the connection of that id, to which the principal may do that.

    Raises:
        NotFoundError: there is none, or its project can't be seen.
        ForbiddenError: the principal may not.
        InvalidError: it is to another app.
    """
    found = await unit.app_connections.get(connection_id, for_change=for_change)
    if found is None or found.organization_id != principal.organization_id:
        raise NotFoundError(f"Could not find App Connection with ID {connection_id}")  # wire.md section 4.4
    if found.project_id is None:
        require_organization(principal, action, Subject.APP_CONNECTIONS)
        return AppConnectionView(of_app(found, app), None)
    access: ProjectAccess = await open_project(unit, principal, ProjectRef(id=found.project_id))
    access.require(action, Subject.APP_CONNECTIONS)
    return AppConnectionView(of_app(found, app), access.project)


def of_app(connection: AppConnection, app: App) -> AppConnection:
    """Return the connection if it is to that app.

    Raises:
        InvalidError: it isn't.
    """
    if connection.app != app.name:
        raise InvalidError(f'App Connection with ID {connection.id} is not for App "{app.name}"')
    return connection
