"""Sealing a project's values anew with its latest data key: so many at a time, the place kept in the database.

Every batch takes the project's row first, as whoever writes a secret does: no value can change under it, and what
is written while a rotation goes on is sealed with the latest key already. Keys of certificates are written without
the project's row; who seals one holds the data key for sharing, and the end waits for those who hold a former one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import Row as Result
from sqlalchemy import Select, and_, delete, func, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.folder_seals import FolderSeals
from keybearer.store.keys import Keys
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.project_resealing import ProjectKeyResealing
from keybearer.store.root_keys import key_name_column
from keybearer.store.sealing.envelope import KeyName, SealingKey, key_name_of
from keybearer.store.secret_codec import Sealed, reseal
from keybearer.store.tables.keys import DataKeyRow, KeyRotationRow
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, ProjectRow
from keybearer.store.tables.secrets import SecretRow, SecretVersionRow

__all__ = ["DataKeyRotation", "Resealing"]

_FOLDERS_AT_ONCE = 100


class _Phase(StrEnum):
    """What is sealed anew, in this order."""

    SECRETS = "secrets"
    VERSIONS = "versions"
    FOLDERS = "folders"
    KEYS = "keys"


@dataclass(frozen=True, slots=True)
class DataKeyRotation:
    """A project whose values are being sealed anew."""

    project_id: ProjectId
    phase: str
    after: str
    resealed: int
    started_at: datetime


_ROTATIONS = select_record(KeyRotationRow, DataKeyRotation)


class Resealing:
    """Repository of rotations of data keys."""

    def __init__(
        self,
        connection: AsyncConnection,
        keys: Keys,
        places: PlaceSeals,
        seals: FolderSeals,
        clock: Clock,
    ) -> None:
        self._connection = connection
        self._keys = keys
        self._places = places
        self._seals = seals
        self._clock = clock
        self._project_keys = ProjectKeyResealing(connection, keys)

    async def begin(self, project_id: ProjectId, *, is_strict: bool | None = None) -> bool:
        """Give the project a new data key and note that its values are to be sealed with it; whether it exists.

        A rotation that is under way starts over, with this key. By default, the new key is strict if the former one
        is: a project under marks stays so. Only `seal_conversion` asks for a strict key, when it brings a project
        under marks.
        """
        if not await self.lock(project_id):
            return False
        if is_strict is None:
            is_strict = await self._keys.is_strict(project_id)
        await self._keys.create(project_id, is_strict=is_strict)
        await self._connection.execute(delete(KeyRotationRow).where(KeyRotationRow.project_id == project_id))
        await self._connection.execute(
            insert(KeyRotationRow).values(
                project_id=project_id,
                phase=_Phase.SECRETS,
                after="",
                resealed=0,
                started_at=self._clock.now(),
            )
        )
        return True

    async def under_way(self) -> list[DataKeyRotation]:
        """Return the rotations that are not over, those that began first in front."""
        statement = _ROTATIONS.order_by(KeyRotationRow.started_at, KeyRotationRow.project_id)
        return [DataKeyRotation(*row) for row in await self._connection.execute(statement)]

    async def projects(self) -> list[ProjectId]:
        """Return the ids of all projects."""
        found = await self._connection.execute(select(ProjectRow.id).order_by(ProjectRow.id))
        return [ProjectId(project_id) for project_id in found.scalars()]

    async def data_keys(self) -> int:
        """Return how many data keys there are."""
        count: int = (
            await self._connection.execute(select(func.count()).select_from(DataKeyRow))
        ).scalar_one()
        return count

    async def advance(self, project_id: ProjectId, limit: int) -> bool:
        """Seal up to `limit` values of the project anew, and note the progress; return whether more is to be done.

        At the end the former data keys are deleted: nothing is sealed with them any more.
        """
        if not await self.lock(project_id):
            return False
        statement = _ROTATIONS.where(KeyRotationRow.project_id == project_id)
        row = (await self._connection.execute(statement)).one_or_none()
        if row is None:
            return False  # another process did the rest
        rotation = DataKeyRotation(*row)
        key = await self._keys.active(project_id)
        match rotation.phase:
            case _Phase.SECRETS:
                rows = await self._next_secrets(rotation, limit)
                done = await self._reseal_secrets(rows, key)
                after = rows[-1].id if rows else ""
                await self._note(rotation, done, _Phase.SECRETS if rows else _Phase.VERSIONS, after)
            case _Phase.VERSIONS:
                rows = await self._next_versions(rotation, limit)
                done = await self._reseal_versions(rows, key)
                after = f"{rows[-1].secret_id}:{rows[-1].version}" if rows else ""
                await self._note(rotation, done, _Phase.VERSIONS if rows else _Phase.FOLDERS, after)
            case _Phase.FOLDERS:
                more = await self._reseal_folders(project_id, key, limit)
                if not more:
                    await self._places.reseal(project_id, key)
                await self._note(rotation, 0, _Phase.FOLDERS if more else _Phase.KEYS, "")
            case _:  # keys; after an edit in the database too, since the end looks for what was left out
                done = await self._project_keys.advance(project_id, key, limit)
                if not done:
                    return await self._finish(rotation, key)
                await self._note(rotation, done, _Phase.KEYS, "")
        return True

    async def lock(self, project_id: ProjectId) -> bool:
        """Wait for whoever writes to the project; return whether it exists."""
        statement = select(ProjectRow.id).where(ProjectRow.id == project_id)
        locked = await self._connection.execute(statement.with_for_update(key_share=True))
        return locked.first() is not None

    async def _note(self, rotation: DataKeyRotation, done: int, phase: _Phase, after: str) -> None:
        await self._connection.execute(
            update(KeyRotationRow)
            .where(KeyRotationRow.project_id == rotation.project_id)
            .values(phase=phase, after=after, resealed=rotation.resealed + done)
        )

    async def _next_secrets(self, rotation: DataKeyRotation, limit: int) -> list[Result[*tuple[Any, ...]]]:
        statement = (
            select(
                SecretRow.id,
                SecretRow.project_id,
                SecretRow.folder_id,
                SecretRow.key,
                SecretRow.version,
                SecretRow.value,
                SecretRow.details,
            )
            .where(SecretRow.project_id == rotation.project_id, SecretRow.id > rotation.after)
            .order_by(SecretRow.id)
            .limit(limit)
        )
        return list((await self._connection.execute(statement)).all())

    async def _next_versions(self, rotation: DataKeyRotation, limit: int) -> list[Result[*tuple[Any, ...]]]:
        secret_id, _, version = rotation.after.partition(":")
        statement = (
            select(
                SecretVersionRow.secret_id,
                SecretRow.project_id,
                SecretVersionRow.version,
                SecretVersionRow.key,
                # An earlier version bound no folder: its versions are bound to the present one from now on.
                func.coalesce(SecretVersionRow.folder_id, SecretRow.folder_id).label("folder_id"),
                SecretVersionRow.value,
                SecretVersionRow.details,
            )
            .join(SecretRow, SecretRow.id == SecretVersionRow.secret_id)
            .where(
                SecretRow.project_id == rotation.project_id,
                or_(
                    SecretVersionRow.secret_id > secret_id,
                    and_(
                        SecretVersionRow.secret_id == secret_id,
                        SecretVersionRow.version > int(version or 0),
                    ),
                ),
            )
            .order_by(SecretVersionRow.secret_id, SecretVersionRow.version)
            .limit(limit)
        )
        return list((await self._connection.execute(statement)).all())

    async def _reseal_secrets(self, rows: Iterable[Result[*tuple[Any, ...]]], key: SealingKey) -> int:
        old = [row for row in rows if _is_old(row, key)]
        keys = await self._keys.opened(_names(old))
        for row in old:
            sealed = Sealed(row.project_id, row.id, row.version, row.folder_id, row.key)
            value, details = reseal(keys, key, sealed, row.value, row.details)
            await self._connection.execute(
                update(SecretRow).where(SecretRow.id == row.id).values(value=value, details=details)
            )
        return len(old)

    async def _reseal_versions(self, rows: Iterable[Result[*tuple[Any, ...]]], key: SealingKey) -> int:
        old = [row for row in rows if _is_old(row, key)]
        keys = await self._keys.opened(_names(old))
        for row in old:
            sealed = Sealed(row.project_id, row.secret_id, row.version, row.folder_id, row.key)
            value, details = reseal(keys, key, sealed, row.value, row.details)
            await self._connection.execute(
                update(SecretVersionRow)
                .where(SecretVersionRow.secret_id == row.secret_id, SecretVersionRow.version == row.version)
                .values(folder_id=row.folder_id, value=value, details=details)
            )
        return len(old)

    async def _reseal_folders(self, project_id: ProjectId, key: SealingKey, limit: int) -> bool:
        """Seal the sums of folders with about `limit` secrets anew; return whether others may be left.

        Folders that are made meanwhile use the key of the project's sum, which is sealed anew last.
        """
        statement = _former_seals(project_id, key.name).limit(_FOLDERS_AT_ONCE)
        folder_ids = list((await self._connection.execute(statement)).scalars())
        sealed = 0
        for number, folder_id in enumerate(folder_ids, start=1):
            sealed += await self._seals.seal(project_id, folder_id, key)
            if sealed >= limit and number < len(folder_ids):
                return True
        return len(folder_ids) == _FOLDERS_AT_ONCE

    async def _finish(self, rotation: DataKeyRotation, key: SealingKey) -> bool:
        await self._keys.hold_former(rotation.project_id, key.name)
        if await self._is_left(rotation.project_id, key.name):
            # Whatever it is: never delete what it is sealed with.
            await self._note(rotation, 0, _Phase.SECRETS, "")
            return True
        if key.is_strict:
            await self._places.reseal(rotation.project_id, key, is_bound=True)
        await self._connection.execute(
            delete(DataKeyRow).where(
                DataKeyRow.project_id == rotation.project_id, DataKeyRow.id != str(UUID(bytes=key.name[:16]))
            )
        )
        await self._connection.execute(
            delete(KeyRotationRow).where(KeyRotationRow.project_id == rotation.project_id)
        )
        return False

    async def _is_left(self, project_id: ProjectId, name: KeyName) -> bool:
        """Return whether anything of the project is sealed with another key."""
        present = literal(bytes(name))
        for table in (SecretRow, SecretVersionRow):
            statement = select(SecretRow.id).where(
                SecretRow.project_id == project_id,
                or_(
                    key_name_column(table.value) != present,
                    and_(table.details.is_not(None), key_name_column(table.details) != present),
                ),
            )
            if table is SecretVersionRow:
                statement = statement.join(SecretVersionRow, SecretVersionRow.secret_id == SecretRow.id)
            if (await self._connection.execute(statement.limit(1))).first() is not None:
                return True
        of_places = select(ProjectRow.id).where(
            ProjectRow.id == project_id,
            ProjectRow.places.is_not(None),
            key_name_column(ProjectRow.places) != present,
        )
        for sums in (_former_seals(project_id, name), of_places):
            if (await self._connection.execute(sums.limit(1))).first() is not None:
                return True
        return await self._project_keys.is_left(project_id, name)


def _former_seals(project_id: ProjectId, present: KeyName) -> Select[*tuple[str]]:
    """Select the folders of the project whose sums are sealed with another key than the present one."""
    return (
        select(FolderRow.id)
        .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
        .where(
            EnvironmentRow.project_id == project_id,
            FolderRow.seal.is_not(None),
            key_name_column(FolderRow.seal) != literal(bytes(present)),
        )
    )


def _is_old(row: Result[*tuple[Any, ...]], key: SealingKey) -> bool:
    return any(key_name_of(envelope) != key.name for envelope in _envelopes(row))


def _names(rows: Iterable[Result[*tuple[Any, ...]]]) -> set[KeyName]:
    return {key_name_of(envelope) for row in rows for envelope in _envelopes(row)}


def _envelopes(row: Result[*tuple[Any, ...]]) -> list[bytes]:
    return [envelope for envelope in (row.value, row.details) if envelope is not None]
