"""App connections; their credentials leave and enter the database sealed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson
from pydantic import JsonValue
from sqlalchemy import ColumnElement, and_, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import OrganizationId, ProjectId
from keybearer.store.auth_methods import CREDENTIALS
from keybearer.store.columns import select_record
from keybearer.store.keys import Keys
from keybearer.store.sealing.envelope import Ciphertext, Plaintext, associate, key_name_of
from keybearer.store.tables.app_connections import AppConnectionRow
from keybearer.store.tables.secret_syncs import FormerPlaceRow, SecretSyncRow

__all__ = [
    "CONNECTION_CREDENTIALS",
    "RETIRING_CREDENTIALS",
    "AppConnection",
    "AppConnections",
    "OpenedConnection",
    "SyncOfConnection",
]

CONNECTION_CREDENTIALS, RETIRING_CREDENTIALS = "app connection", "retiring app connection"
"""What each is bound to when it is sealed, beside its record."""


@dataclass(frozen=True, slots=True)
class AppConnection:
    """A connection, without its credentials.

    Attributes:
        project_id: None for one of the whole organization.
        app: in interface.md's words; so is `method`.
        shown: what of the credentials is no secret, as it is answered.
        credentials_hash: changes with every write by a person or rotation.
        rotation_interval_days: with hour and minute (UTC) of the day; None where it was never set.
        rotation_status: `success` or `failed` of the last rotation; None before the first.
        allowed_project_ids: the projects that may use one of the organization. None: each one, but only by who may
            connect in the organization.
        allowed_places: patterns of the places that syncs over it may write to; None for every place.
    """

    id: str
    organization_id: OrganizationId
    project_id: ProjectId | None
    name: str
    description: str | None
    app: str
    method: str
    credentials_hash: str
    shown: Mapping[str, JsonValue]
    version: int
    is_auto_rotation_enabled: bool
    rotation_interval_days: int | None
    rotation_hour: int | None
    rotation_minute: int | None
    rotation_status: str | None
    last_rotation_message: str | None
    next_rotation_at: datetime | None
    created_at: datetime
    updated_at: datetime
    allowed_project_ids: tuple[str, ...] | None = None
    allowed_places: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class OpenedConnection:
    """A connection with its credentials, as JSON objects."""

    connection: AppConnection
    credentials: Mapping[str, JsonValue] = field(repr=False)
    retiring: Mapping[str, JsonValue] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SyncOfConnection:
    """A sync that uses a connection."""

    project_id: ProjectId
    id: str
    name: str


_CONNECTIONS = select_record(AppConnectionRow, AppConnection)
# Each run of a sync asks for these: they are built once.
_IS_IT = AppConnectionRow.id == bindparam("connection_id")
_ONE = _CONNECTIONS.where(_IS_IT)
_LOCKED = _ONE.with_for_update()
_SEALED = select(AppConnectionRow.credentials, AppConnectionRow.retiring).where(_IS_IT)


class AppConnections:
    """Repository of app connections."""

    def __init__(self, connection: AsyncConnection, keys: Keys) -> None:
        self._connection = connection
        self._keys = keys

    async def add(self, new: AppConnection, credentials: Mapping[str, JsonValue]) -> AppConnection:
        """Store a new connection; return it with the hash of its credentials."""
        sealed = await self._seal(CONNECTION_CREDENTIALS, new.id, credentials)
        stored = replace(new, credentials_hash=_hash(sealed))
        await self._connection.execute(
            insert(AppConnectionRow).values({**_values(stored), "credentials": sealed, "retiring": None})
        )
        return stored

    async def update(
        self, changed: AppConnection, credentials: Mapping[str, JsonValue] | None = None
    ) -> AppConnection:
        """Store the present fields, and new credentials where given; return it with the hash of them.

        New credentials may lead to another account: syncs of the connection look at it before they go on.
        """
        values = _values(changed)
        if credentials is not None:
            sealed = await self._seal(CONNECTION_CREDENTIALS, changed.id, credentials)
            changed = replace(changed, credentials_hash=_hash(sealed))
            values |= {"credentials": sealed, "credentials_hash": changed.credentials_hash}
            await self._connection.execute(
                update(SecretSyncRow).where(SecretSyncRow.connection_id == changed.id).values(listed_at=None)
            )
        await self._connection.execute(
            update(AppConnectionRow).where(AppConnectionRow.id == changed.id).values(values)
        )
        return changed

    async def set_retiring(self, connection_id: str, credentials: Mapping[str, JsonValue] | None) -> None:
        """Keep credentials that have still to be made worthless at the remote; None: they are."""
        sealed = None
        if credentials is not None:
            sealed = await self._seal(RETIRING_CREDENTIALS, connection_id, credentials)
        await self._connection.execute(
            update(AppConnectionRow).where(AppConnectionRow.id == connection_id).values(retiring=sealed)
        )

    async def get(self, connection_id: str, *, for_change: bool = False) -> AppConnection | None:
        """Return the connection of that id, or None; for a change it is kept from other writers."""
        statement = _LOCKED if for_change else _ONE
        row = (await self._connection.execute(statement, {"connection_id": connection_id})).one_or_none()
        return None if row is None else AppConnection(*row)

    async def named(
        self, organization_id: OrganizationId, project_id: ProjectId | None, name: str
    ) -> AppConnection | None:
        """Return the connection of that name of the organization itself, or of one of its projects."""
        statement = _CONNECTIONS.where(
            AppConnectionRow.organization_id == organization_id,
            _of_project(project_id),
            AppConnectionRow.name == name,
        )
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else AppConnection(*row)

    async def listed(
        self, organization_id: OrganizationId, project_ids: Sequence[ProjectId] | None, app: str | None = None
    ) -> list[AppConnection]:
        """Return connections by name, whatever its case: of these projects, or for None of the organization."""
        statement = _CONNECTIONS.where(AppConnectionRow.organization_id == organization_id)
        statement = statement.where(
            AppConnectionRow.project_id.is_(None)
            if project_ids is None
            else AppConnectionRow.project_id.in_(project_ids)
        )
        if app is not None:
            statement = statement.where(AppConnectionRow.app == app)
        statement = statement.order_by(func.lower(AppConnectionRow.name), AppConnectionRow.id)
        return [AppConnection(*row) for row in await self._connection.execute(statement)]

    async def opened(self, connection_id: str) -> OpenedConnection | None:
        """Return the connection with its credentials, or None.

        Raises:
            UnsealError: they don't open; the database is damaged.
        """
        found = await self.get(connection_id)
        if found is None:
            return None
        sealed, retiring = (await self._connection.execute(_SEALED, {"connection_id": connection_id})).one()
        return OpenedConnection(
            found,
            await self._open(CONNECTION_CREDENTIALS, found.id, sealed),
            None if retiring is None else await self._open(RETIRING_CREDENTIALS, found.id, retiring),
        )

    async def due_for_rotation(self, now: datetime, limit: int) -> list[str]:
        """Return the ids of connections that have a rotation to begin, or one to end that was cut off."""
        row = AppConnectionRow
        statement = (
            select(row.id)
            .where(_is_due(now), _is_free(now))
            .order_by(row.next_rotation_at, row.id)
            .limit(limit)
        )
        return list((await self._connection.execute(statement)).scalars())

    async def hold_rotation(
        self, connection_id: str, now: datetime, until: datetime, *, only_if_due: bool
    ) -> bool:
        """Keep others from rotating the connection until then; return False where another does that.

        With `only_if_due` also where another has done it since it was found due.
        """
        conditions = [AppConnectionRow.id == connection_id, _is_free(now)]
        if only_if_due:
            conditions.append(_is_due(now))
        held = (
            update(AppConnectionRow)
            .where(*conditions)
            .values(rotation_held_until=until)
            .returning(AppConnectionRow.id)
        )
        return (await self._connection.execute(held)).first() is not None

    async def release_rotation(self, connection_id: str) -> None:
        """Let anybody rotate the connection."""
        await self._connection.execute(
            update(AppConnectionRow)
            .where(AppConnectionRow.id == connection_id)
            .values(rotation_held_until=None)
        )

    async def is_retiring(self, connection_id: str) -> bool:
        """Return whether credentials have still to be made worthless."""
        statement = select(AppConnectionRow.id).where(
            AppConnectionRow.id == connection_id, AppConnectionRow.retiring.is_not(None)
        )
        return (await self._connection.execute(statement)).first() is not None

    async def number(self, organization_id: OrganizationId, project_id: ProjectId | None) -> int:
        """Return how many there are of the organization itself, or of one of its projects."""
        statement = (
            select(func.count())
            .select_from(AppConnectionRow)
            .where(AppConnectionRow.organization_id == organization_id, _of_project(project_id))
        )
        return (await self._connection.execute(statement)).scalar_one()

    async def users(self, connection_id: str) -> list[SyncOfConnection]:
        """Return the syncs that use the connection, by project and name."""
        row = SecretSyncRow
        statement = select(row.project_id, row.id, row.name).where(_uses(connection_id))
        found = await self._connection.execute(statement.order_by(row.project_id, row.name))
        return [SyncOfConnection(ProjectId(project_id), sync_id, name) for project_id, sync_id, name in found]

    async def is_used(self, connection_id: str) -> bool:
        """Return whether any sync uses the connection."""
        statement = select(SecretSyncRow.id).where(_uses(connection_id)).limit(1)
        return (await self._connection.execute(statement)).first() is not None

    async def delete(self, connection_id: str) -> None:
        """Remove the connection; none that a sync uses."""
        await self._connection.execute(delete(AppConnectionRow).where(AppConnectionRow.id == connection_id))

    async def _seal(self, purpose: str, record_id: str, credentials: Mapping[str, JsonValue]) -> Ciphertext:
        key = await self._keys.active_in_line(CREDENTIALS)
        return key.seal(Plaintext(orjson.dumps(dict(credentials))), associate(purpose, record_id))

    async def _open(self, purpose: str, record_id: str, envelope: bytes) -> Mapping[str, JsonValue]:
        ciphertext = Ciphertext(envelope)
        key = await self._keys.opened_in_line(CREDENTIALS, key_name_of(ciphertext))
        opened: dict[str, JsonValue] = orjson.loads(key.open(ciphertext, associate(purpose, record_id)))
        return opened


def _is_due(now: datetime) -> ColumnElement[bool]:
    row = AppConnectionRow
    # Whoever ends one says so; a hold that ran out is of somebody who didn't get that far.
    cut_off = and_(row.retiring.is_not(None), row.rotation_held_until.is_not(None))
    return or_(row.next_rotation_at <= now, cut_off)


def _is_free(now: datetime) -> ColumnElement[bool]:
    held_until = AppConnectionRow.rotation_held_until
    return or_(held_until.is_(None), held_until <= now)


def _uses(connection_id: str) -> ColumnElement[bool]:
    # A sync needs it as well for what it has still to remove at a place that it left.
    left = select(FormerPlaceRow.sync_id).where(FormerPlaceRow.connection_id == connection_id)
    return or_(SecretSyncRow.connection_id == connection_id, SecretSyncRow.id.in_(left))


def _of_project(project_id: ProjectId | None) -> ColumnElement[bool]:
    column = AppConnectionRow.project_id
    return column.is_(None) if project_id is None else column == project_id


def _values(record: AppConnection) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__dataclass_fields__}
    return {**values, "shown": dict(record.shown)}


def _hash(sealed: Ciphertext) -> str:
    return hashlib.sha256(sealed).hexdigest()
