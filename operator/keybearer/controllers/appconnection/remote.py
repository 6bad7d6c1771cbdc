"""The connections of the service, as one identity sees them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from keybearer.client import AppConnection, AsyncKeybearer, NotFound
from keybearer.client import RotationTerms as GivenRotation
from keybearer.controllers.appconnection.plan import (
    DesiredConnection,
    PresentConnection,
    RotationTerms,
    UpdateConnection,
)
from keybearer.controllers.appconnection.reasons import Reason
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import marked
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.resource_fields import told_instant
from keybearer.controllers.service_session import ServiceSession

__all__ = ["RemoteConnections"]

_T = TypeVar("_T")
_ALLOWS = "--allow-outbound"
"""The flag that the service names where an address is one that it doesn't call."""
_FORBIDDEN_ADDRESS = Remedy(
    f"Have the service started with {_ALLOWS} and the address, or correct the address in spec.credentials.",
    turn=Turn.SERVICE_ADMINISTRATOR,
    about="spec.credentials",
)


class RemoteConnections:
    """Finds and changes connections through a session."""

    def __init__(self, session: ServiceSession) -> None:
        self._session = session

    async def find(
        self, app: str, name: str, project_id: str | None, connection_id: str | None
    ) -> PresentConnection | None:
        """Return the connection of the id, where it is there still, else the one of the name, or None.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        if connection_id is not None:
            found = await self._known(lambda client: client.app_connections.get(connection_id, app=app))
            if found is not None:
                return found
        return await self._known(
            lambda client: client.app_connections.get_by_name(name, app=app, project_id=project_id)
        )

    async def create(self, desired: DesiredConnection) -> PresentConnection:
        """Create a connection; the service has the app judge the credentials first.

        Raises:
            ReconcileError: the service or the app refuses, or can't be asked.
        """
        return _present(
            await self._perform(
                lambda client: client.app_connections.create(
                    desired.name,
                    app=desired.app,
                    method=desired.method,
                    credentials=desired.credentials,
                    description=marked(desired.description, desired.mark),
                    project_id=desired.project_id,
                    is_auto_rotation_enabled=desired.rotation is not None,
                    rotation=_given(desired.rotation),
                ),
                f"create connection {desired.name}",
                Reason.CONNECTION_REFUSED,
            )
        )

    async def update(self, change: UpdateConnection) -> PresentConnection:
        """Change a connection.

        Raises:
            ReconcileError: the service or the app refuses, or can't be asked.
        """
        desired = change.desired
        return _present(
            await self._perform(
                lambda client: client.app_connections.update(
                    change.id,
                    app=desired.app,
                    name=desired.name,
                    description=marked(desired.description, desired.mark),
                    credentials=desired.credentials if change.with_credentials else None,
                    is_auto_rotation_enabled=desired.rotation is not None,
                    rotation=_given(desired.rotation),
                ),
                f"change connection {desired.name}",
                Reason.CONNECTION_REFUSED,
            )
        )

    async def delete(self, present: PresentConnection) -> None:
        """Delete a connection; it may be gone already.

        Raises:
            ReconcileError: syncs use it still, or the service can't be asked.
        """
        try:
            await self._perform(
                lambda client: client.app_connections.delete(present.id, app=present.app),
                f"delete connection {present.name}",
                Reason.IN_USE,
            )
        except NotFound:
            return

    async def _known(
        self, act: Callable[[AsyncKeybearer], Awaitable[AppConnection]]
    ) -> PresentConnection | None:
        try:
            return _present(await self._session.perform(act, "look up connections"))
        except NotFound:
            return None

    async def _perform(self, act: Callable[[AsyncKeybearer], Awaitable[_T]], what: str, reason: Reason) -> _T:
        try:
            return await self._session.perform(act, what)
        except StalledError as error:
            if error.reason == "ServiceRefused":
                remedy = _FORBIDDEN_ADDRESS if _ALLOWS in error.message else None
                raise StalledError(reason, error.message, remedy=remedy) from error
            raise


def _given(rotation: RotationTerms | None) -> GivenRotation | None:
    return (
        None
        if rotation is None
        else GivenRotation(interval_days=rotation.days, hours=rotation.hours, minutes=rotation.minutes)
    )


def _present(found: AppConnection) -> PresentConnection:
    told = found.rotation
    terms = None
    if found.is_auto_rotation_enabled and told is not None and told.rotate_at_utc is not None:
        at = told.rotate_at_utc
        terms = RotationTerms(int(told.rotation_interval or 0), at.hours, at.minutes)
    return PresentConnection(
        id=found.id,
        name=found.name,
        app=found.app,
        method=found.method,
        description=found.description or None,
        project_id=found.project_id,
        credentials_hash=found.credentials_hash,
        version=found.version,
        rotation=terms,
        rotation_status=None if told is None else told.rotation_status,
        rotation_message=None if told is None else told.last_rotation_message,
        next_rotation_at=None if told is None else told_instant(told.next_rotation_at),
    )
