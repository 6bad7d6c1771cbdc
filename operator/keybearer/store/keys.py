"""Wrapped keys in the database, unwrapped on the way out."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID, uuid4

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.clock import Clock
from keybearer.base.errors import ConfigurationError
from keybearer.base.ids import ProjectId
from keybearer.store.root_keys import RootKeyring
from keybearer.store.sealing.envelope import (
    KeyName,
    SealingKey,
    UnsealError,
    WrappedKey,
    key_id_of,
    key_name,
    new_key_material,
)
from keybearer.store.sealing.keyring import Keyring, data_key_identity, server_key_identity
from keybearer.store.tables.keys import DataKeyRow, ServerKeyRow

__all__ = ["Keys"]


class Keys:
    """Data keys of projects and keys of the service."""

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

    async def any_wrapped(self) -> bool:
        """Return whether a root key was used on this database before. Needs no keyring."""
        return (await self._connection.execute(select(ServerKeyRow.name).limit(1))).first() is not None

    async def server_key(self, name: str) -> bytes:
        """Return the service's key of that name, made at the first call (in a writing unit)."""
        return (await self.server_sealing_key(name)).material

    async def server_sealing_key(self, name: str) -> SealingKey:
        """Return the same, to seal with what belongs to no project."""
        row = (
            await self._connection.execute(
                select(ServerKeyRow.id, ServerKeyRow.wrapped).where(ServerKeyRow.name == name)
            )
        ).one_or_none()
        if row is not None:
            roots, wrapped = self._keyring.roots, WrappedKey(row.wrapped)
            return roots.unwrap(wrapped, key_name(UUID(row.id), 1), server_key_identity(name))
        key_id = uuid4()
        key = SealingKey(key_name(key_id, 1), new_key_material())
        wrapped = (await self._roots.active()).wrap(key, server_key_identity(name))
        await self._connection.execute(
            insert(ServerKeyRow).values(
                name=name, id=str(key_id), wrapped=wrapped, created_at=self._clock.now()
            )
        )
        return key

    async def create(self, project_id: ProjectId) -> SealingKey:
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
        key = SealingKey(key_name(key_id, version), new_key_material())
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
        row = (
            await self._connection.execute(
                select(DataKeyRow.id, DataKeyRow.version, DataKeyRow.wrapped)
                .where(DataKeyRow.project_id == project_id)
                .order_by(DataKeyRow.version.desc())
                .limit(1)
                .with_for_update(read=True)
            )
        ).one_or_none()
        if row is None:
            raise UnsealError(f"project {project_id} has no data key; the database is damaged")
        return self._keyring.unwrap(key_name(UUID(row.id), row.version), WrappedKey(row.wrapped), project_id)

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
