"""Wrapped keys in the database, unwrapped on the way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Row, Select, bindparam, delete, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.clock import Clock
from keybearer.base.errors import ConfigurationError
from keybearer.base.ids import ProjectId
from keybearer.store.root_keys import RootKeyring
from keybearer.store.sealing.envelope import (
    AlteredDatabaseError,
    KeyName,
    SealingKey,
    UnsealError,
    WrappedKey,
    key_id_of,
    key_name,
    key_name_of,
    new_key_material,
)
from keybearer.store.sealing.keyring import Keyring, data_key_identity, server_key_identity
from keybearer.store.sealing.known_sets import KnownSets
from keybearer.store.tables.keys import DataKeyRow, ServerKeyRow

__all__ = ["Keys", "LineKey", "keys_altered"]


@dataclass(frozen=True, slots=True)
class LineKey:
    """A key of a line of keys of the service; of each line the latest seals, the former ones only open."""

    id: str
    name: KeyName
    created_at: datetime


_DATA_KEYS: Select[*tuple[str, int, bytes]] = select(DataKeyRow.id, DataKeyRow.version, DataKeyRow.wrapped)
# Each change of a secret or a folder asks for one: their statements are built once.
_NEWEST = (
    _DATA_KEYS.where(DataKeyRow.project_id == bindparam("project"))
    .order_by(DataKeyRow.version.desc())
    .limit(1)
)
_ACTIVE = _NEWEST.with_for_update(read=True)
_SERVER_KEYS: Select[*tuple[str, str, bytes]] = select(
    ServerKeyRow.name, ServerKeyRow.id, ServerKeyRow.wrapped
)


class Keys:
    """Data keys of projects and keys of the service: single ones, and lines of them that are rotated."""

    def __init__(
        self, connection: AsyncConnection, keyring: Keyring | None, roots: RootKeyring, clock: Clock
    ) -> None:
        self._connection = connection
        self._roots = roots
        self._keyring_or_none = keyring
        self._clock = clock

    @property
    def _keyring(self) -> Keyring:
        if self._keyring_or_none is None:
            raise ConfigurationError("the database is not unlocked yet")
        return self._keyring_or_none

    @property
    def known(self) -> KnownSets:
        """The sets of rows that were read and checked with these keys."""
        return self._keyring.known

    async def any_wrapped(self) -> bool:
        """Return whether a root key was used on this database before. Needs no keyring."""
        return (await self._connection.execute(select(ServerKeyRow.name).limit(1))).first() is not None

    async def server_key(self, name: str) -> bytes:
        """Return the service's key of that name, made at the first call (in a writing unit)."""
        found = await self.found_server_key(name)
        return (await self._create_server_key(name)).material if found is None else found

    async def found_server_key(self, name: str) -> bytes | None:
        """Return the service's key of that name, or None where there is none."""
        row = (await self._connection.execute(_SERVER_KEYS.where(ServerKeyRow.name == name))).one_or_none()
        return None if row is None else self._unwrapped(*row).material

    async def line(self, line: str) -> list[LineKey]:
        """Return the keys of a line, the latest first."""
        statement = select(ServerKeyRow.name, ServerKeyRow.id, ServerKeyRow.created_at).where(_in_line(line))
        rows = (await self._connection.execute(statement)).all()
        return [
            LineKey(row.id, key_name(UUID(row.id), 1), row.created_at)
            for row in sorted(rows, key=lambda row: _place_in(line, row.name), reverse=True)
        ]

    async def create_in_line(self, line: str) -> None:
        """Make the line's next key; what is written from now on is sealed with it."""
        names = await self._connection.execute(select(ServerKeyRow.name).where(_in_line(line)))
        latest = max((_place_in(line, name) for name in names.scalars()), default=0)
        await self._create_server_key(f"{line} {latest + 1}" if latest else line)

    async def active_in_line(self, line: str) -> SealingKey:
        """Return the latest key of a line, to seal with in this writing unit; until its end it isn't deleted.

        The first of a line is made at the first call.
        """
        statement = _SERVER_KEYS.where(_in_line(line)).with_for_update(read=True)
        # Who waited for the end of a rotation finds the key it saw gone, and the latest when it looks again.
        rows = (await self._connection.execute(statement)).all() or (
            await self._connection.execute(statement)
        ).all()
        if not rows:
            return await self._create_server_key(line)
        return self._unwrapped(*max(rows, key=lambda row: _place_in(line, row.name)))

    async def opened_in_line(self, line: str, name: KeyName) -> SealingKey:
        """Return the key of the line that has this name.

        Raises:
            UnsealError: there is none; the database is damaged.
        """
        statement = _SERVER_KEYS.where(_in_line(line), ServerKeyRow.id == str(key_id_of(name)))
        row = (await self._connection.execute(statement)).one_or_none()
        if row is None:
            raise UnsealError("a credential names a key that is gone; the database is damaged")
        return self._unwrapped(*row)

    async def hold(self, key_ids: Iterable[str]) -> None:
        """Wait for those who seal with these keys of the service; until the unit ends nobody else does."""
        statement = select(ServerKeyRow.id).where(ServerKeyRow.id.in_(list(key_ids)))
        await self._connection.execute(statement.with_for_update())

    async def delete_of_line(self, key_ids: Iterable[str]) -> None:
        """Remove keys of the service that nothing is sealed with any more."""
        await self._connection.execute(delete(ServerKeyRow).where(ServerKeyRow.id.in_(list(key_ids))))

    def _unwrapped(self, name: str, key_id: str, wrapped: bytes) -> SealingKey:
        named, identity = key_name(UUID(key_id), 1), server_key_identity(name)
        return self._keyring.roots.unwrap(WrappedKey(wrapped), named, identity)

    async def _create_server_key(self, name: str) -> SealingKey:
        key_id = uuid4()
        key = SealingKey(key_name(key_id, 1), new_key_material())
        wrapped = (await self._roots.active()).wrap(key, server_key_identity(name))
        await self._connection.execute(
            insert(ServerKeyRow).values(
                name=name, id=str(key_id), wrapped=wrapped, created_at=self._clock.now()
            )
        )
        return key

    async def create(self, project_id: ProjectId, *, is_strict: bool = True) -> SealingKey:
        """Make the project's next data key; what is written from now on is sealed with it."""
        newest = (
            await self._connection.execute(
                select(DataKeyRow.version)
                .where(DataKeyRow.project_id == project_id)
                .order_by(DataKeyRow.version.desc())
                .limit(1)
            )
        ).scalar_one_or_none()
        key_id, version = uuid4(), (newest or 0) + 1
        key = SealingKey(key_name(key_id, version), new_key_material(), is_strict)
        wrapped = (await self._roots.active()).wrap(key, data_key_identity(project_id))
        await self._connection.execute(
            insert(DataKeyRow).values(
                id=str(key_id),
                project_id=project_id,
                version=version,
                wrapped=wrapped,
                created_at=self._clock.now(),
            )
        )
        return key

    async def active(self, project_id: ProjectId) -> SealingKey:
        """Return the project's newest data key, to seal with in this writing unit; until its end it isn't deleted.

        Raises:
            UnsealError: the project has none; the database is damaged.
        """
        of_project = {"project": project_id}
        # Who waited for the end of a rotation finds the key it saw gone, and the latest when it looks again.
        row = (await self._connection.execute(_ACTIVE, of_project)).one_or_none() or (
            await self._connection.execute(_ACTIVE, of_project)
        ).one_or_none()
        if row is None:
            raise _without_key(project_id)
        return self._data_key(row, project_id)

    async def is_strict(self, project_id: ProjectId) -> bool:
        """Return whether the project has a strict data key; false if it has no key, or doesn't exist.

        All its keys are unwrapped, because somebody who edits the database may add a later one, or change a row.

        Raises:
            AlteredDatabaseError: one doesn't open.
        """
        statement = _DATA_KEYS.where(DataKeyRow.project_id == project_id)
        rows = (await self._connection.execute(statement)).all()
        try:
            keys = [self._data_key(row, project_id) for row in rows]
        except UnsealError as error:
            raise keys_altered(project_id) from error
        return any(key.is_strict for key in keys)

    async def newest(self, project_id: ProjectId) -> SealingKey:
        """Return the project's newest data key, to read with; see `active` for writing.

        Raises:
            UnsealError: the project has none; the database is damaged.
        """
        row = (await self._connection.execute(_NEWEST, {"project": project_id})).one_or_none()
        if row is None:
            raise _without_key(project_id)
        return self._data_key(row, project_id)

    def _data_key(self, row: Row[str, int, bytes], project_id: str) -> SealingKey:
        name = key_name(UUID(row.id), row.version)
        return self._keyring.unwrap(name, WrappedKey(row.wrapped), project_id)

    async def hold_former(self, project_id: ProjectId, latest: KeyName) -> None:
        """Wait for those who seal with a former data key of the project; until the unit ends nobody else does."""
        statement = select(DataKeyRow.id).where(
            DataKeyRow.project_id == project_id, DataKeyRow.id != str(key_id_of(latest))
        )
        await self._connection.execute(statement.with_for_update())

    async def key_of(self, envelope: bytes) -> SealingKey:
        """Return the data key that sealed an envelope.

        Raises:
            UnsealError: the key is unknown, or the bytes are no envelope; the database is damaged.
        """
        name = key_name_of(envelope)
        return (await self.opened([name]))[name]

    async def opened(self, names: Iterable[KeyName]) -> dict[KeyName, SealingKey]:
        """Return the data keys of these names, from memory where they are there.

        Raises:
            UnsealError: a name is unknown; the database is damaged.
        """
        wanted = set(names)
        found: dict[KeyName, SealingKey] = {}
        for name in wanted:
            key = self._keyring.cached(name)
            if key is not None:
                found[name] = key
        missing = wanted - found.keys()
        if missing:
            statement = select(
                DataKeyRow.id, DataKeyRow.version, DataKeyRow.wrapped, DataKeyRow.project_id
            ).where(DataKeyRow.id.in_([str(key_id_of(name)) for name in missing]))
            for row in await self._connection.execute(statement):
                name = key_name(UUID(row.id), row.version)
                found[name] = self._keyring.unwrap(name, WrappedKey(row.wrapped), row.project_id)
        if wanted - found.keys():
            raise UnsealError("a value names a data key that is gone; the database is damaged")
        return found


def keys_altered(project_id: str) -> AlteredDatabaseError:
    """Return what to raise if the data keys of a project aren't those that the service made."""
    return AlteredDatabaseError(
        f"Data keys of project {project_id} were changed in the database without the service, so it refuses all "
        "secrets of the project. Restore a backup"
    )


def _without_key(project_id: ProjectId) -> UnsealError:
    return UnsealError(f"project {project_id} has no data key; the database is damaged")


def _in_line(line: str) -> ColumnElement[bool]:
    return or_(ServerKeyRow.name == line, ServerKeyRow.name.like(f"{line} %"))


def _place_in(line: str, name: str) -> int:
    """Return which key of its line that is: the first has the line's name, the others a number behind it."""
    return 1 if name == line else int(name.removeprefix(f"{line} "))
