"""Credentials made anew: by itself when it is time, or when somebody asks.

A rotation is three steps, each durable before the next: the remote makes new credentials; they are stored, with the
old ones beside them; the remote makes the old ones worthless. A process that dies in between leaves a connection
that works, and whoever comes next withdraws what is left over. One process at a time holds a connection.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from keybearer.base.clock import Clock
from keybearer.base.errors import KeybearerError
from keybearer.base.logs import get_logger
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import Catalogue
from keybearer.destinations.remote import RemoteError, RemoteUnavailableError
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.connections.credentials import (
    credentials_of,
    kept_form,
    method_of,
    model_of,
    retiring_of,
    shown_form,
)
from keybearer.domain.connections.lookup import AppConnectionView
from keybearer.domain.connections.proving import Proving, advice_of
from keybearer.domain.connections.rotation_terms import Terms, next_rotation
from keybearer.domain.connections.service import AppConnections
from keybearer.domain.errors import InvalidError
from keybearer.domain.syncs.queueing import queue_failed
from keybearer.store.app_connections import AppConnection, OpenedConnection
from keybearer.store.audit import AuditActor
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork
from keybearer.wire.credentials import Credentials

__all__ = ["ConnectionRotation"]

_BY_ITSELF = AuditActor(kind="machine", id=None, name="keybearer serve", organization_id=None)
_ROUND = timedelta(seconds=30)
_AT_ONCE = 20
_HELD = timedelta(minutes=5)
"""What one rotation may take at most; then whoever began it is taken for gone."""
_AGAIN = timedelta(hours=1)
"""After a failure; a person may ask for another try at once."""
_SUCCESS, _FAILED = "success", "failed"
_BUSY = "The credentials of this App Connection are being rotated already. Please try again shortly."
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Failure:
    """What went wrong, for whoever may see the connection."""

    message: str


class ConnectionRotation:
    """Rotates credentials of connections."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        connections: AppConnections,
        proving: Proving,
        clock: Clock,
    ) -> None:
        self._database = database
        self._catalogue = catalogue
        self._connections = connections
        self._proving = proving
        self._clock = clock

    async def run(self) -> None:
        """Rotate what is due, and look for more twice a minute, until cancelled."""
        while True:
            try:
                await self.rotate_due()
            except KeybearerError as error:
                _log.warning("connection_rotation_waits", kind=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - what nobody foresaw must not end the rounds for ever
                _log.error("connection_rotation_failed", kind=type(error).__name__)
            await asyncio.sleep(_ROUND.total_seconds())

    async def rotate_due(self) -> int:
        """Rotate what is due now, one after the other, and return how many that were."""
        async with self._database.reading() as unit:
            due = await unit.app_connections.due_for_rotation(self._clock.now(), _AT_ONCE)
        done = 0
        for connection_id in due:
            opened = await self._claim(connection_id, only_if_due=True)
            if opened is not None:
                await self._rotate(opened, _BY_ITSELF, is_asked_for=False)
                done += 1
        return done

    async def rotate(self, principal: Principal, app: App, connection_id: str) -> AppConnectionView:
        """Make the credentials anew now, and return the connection.

        Raises:
            NotFoundError: there is no such connection.
            ForbiddenError: the principal may not change it.
            InvalidError: its method has no rotation, somebody is at it, or the remote doesn't do it.
        """
        view = await self._connections.require(principal, app, connection_id, Action.EDIT)
        if not method_of(app, view.connection).is_rotatable:
            raise InvalidError(
                f"Rotation is not supported for {app.title} Connections with method {view.connection.method}"
            )
        opened = await self._claim(connection_id, only_if_due=False)
        if opened is None:
            raise InvalidError(_BUSY)
        failure = await self._rotate(opened, principal, is_asked_for=True)
        if failure is not None:
            raise InvalidError(f"Unable to rotate credentials: {failure.message}")
        return await self._connections.get(principal, app, connection_id)

    async def _claim(self, connection_id: str, *, only_if_due: bool) -> OpenedConnection | None:
        now = self._clock.now()
        async with self._database.writing() as unit:
            held = await unit.app_connections.hold_rotation(
                connection_id, now, now + _HELD, only_if_due=only_if_due
            )
            if not held:
                return None
            return await unit.app_connections.opened(connection_id)

    async def _rotate(
        self, opened: OpenedConnection, by: Principal | AuditActor, *, is_asked_for: bool
    ) -> _Failure | None:
        """Rotate a connection that is held; what goes wrong is noted in it, and returned."""
        try:
            model = model_of(self._catalogue, opened.connection)
            present, left_over = credentials_of(model, opened), retiring_of(model, opened)
            if left_over is not None:
                # An earlier rotation was cut off, or the remote was away at its end.
                await self._retire(opened.connection, model, left_over, present)
                if not is_asked_for and not _is_due(opened.connection, self._clock.now()):
                    await self._end(opened.connection, None)
                    return None
            await self._renew(opened, model, present, by)
        except (RemoteError, TimeoutError, InvalidError) as error:
            failure = _Failure(_message_of(error))
            await self._end(opened.connection, failure)
            _log.warning(
                "connection_not_rotated", connection_id=opened.connection.id, kind=type(error).__name__
            )
            return failure
        _log.info("connection_rotated", connection_id=opened.connection.id)
        return None

    async def _renew(
        self, opened: OpenedConnection, model: App, present: Credentials, by: Principal | AuditActor
    ) -> None:
        connection = opened.connection
        new = await self._proving.renewed(model, connection.organization_id, present)
        if not await self._stored(model, opened, present, new, by):
            # Somebody gave others meanwhile, which stay; nobody knows of ours.
            await self._proving.retired(model, connection.organization_id, new, present)
            raise InvalidError("the connection was changed meanwhile; what was new is withdrawn")
        await self._retire(connection, model, present, new)
        await self._end(connection, None)

    async def _stored(
        self,
        model: App,
        opened: OpenedConnection,
        old: Credentials,
        new: Credentials,
        by: Principal | AuditActor,
    ) -> bool:
        kept = kept_form(new)
        async with self._database.writing() as unit:
            connection = await unit.app_connections.get(opened.connection.id, for_change=True)
            if connection is None or connection.credentials_hash != opened.connection.credentials_hash:
                return False
            changed = replace(
                connection,
                shown=shown_form(method_of(model, connection), kept),
                version=connection.version + 1,
                updated_at=self._clock.now(),
            )
            await unit.app_connections.update(changed, kept)
            await unit.app_connections.set_retiring(connection.id, kept_form(old))
            await queue_failed(unit, connection.id, self._clock.now())
            await unit.audit(
                audited(
                    by,
                    EventType.ROTATE_APP_CONNECTION,
                    connection.project_id,
                    connectionId=connection.id,
                    name=connection.name,
                    app=connection.app,
                )
            )
        return True

    async def _retire(
        self, connection: AppConnection, model: App, old: Credentials, new: Credentials
    ) -> None:
        try:
            await self._proving.retired(model, connection.organization_id, old, new)
        except (RemoteError, TimeoutError) as error:
            raise _NotRetiredError(
                f"The new credentials are in use, but the former ones are not withdrawn yet: {_message_of(error)}"
            ) from error
        async with self._database.writing() as unit:
            await unit.app_connections.set_retiring(connection.id, None)

    async def _end(self, connection: AppConnection, failure: _Failure | None) -> None:
        """Note how it went and let others have the connection."""
        now = self._clock.now()
        async with self._database.writing() as unit:
            present = await unit.app_connections.get(connection.id, for_change=True)
            if present is None:
                return
            await self._note(unit, present, failure, now)

    async def _note(
        self, unit: UnitOfWork, present: AppConnection, failure: _Failure | None, now: datetime
    ) -> None:
        planned = next_rotation(Terms.of(present), now)
        if failure is not None and (
            planned is not None or await unit.app_connections.is_retiring(present.id)
        ):
            planned = now + _AGAIN if planned is None else min(planned, now + _AGAIN)
        await unit.app_connections.update(
            replace(
                present,
                rotation_status=_SUCCESS if failure is None else _FAILED,
                last_rotation_message=None if failure is None else failure.message,
                next_rotation_at=planned,
            )
        )
        await unit.app_connections.release_rotation(present.id)


class _NotRetiredError(RemoteUnavailableError):
    """The former credentials still work; the message says all there is to say."""


def _is_due(connection: AppConnection, now: datetime) -> bool:
    planned = connection.next_rotation_at
    return connection.is_auto_rotation_enabled and planned is not None and planned <= now


def _message_of(error: Exception) -> str:
    match error:
        case _NotRetiredError():
            return str(error)
        case RemoteError():
            return advice_of(error)
        case TimeoutError():
            return "the remote took too long to answer; try again later"
        case _:
            return str(error)
