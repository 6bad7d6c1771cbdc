"""Conversion of projects of earlier versions: they come under marks, some folders at a time, while the service works.

A project without a strict data key has no sum of its places, and its rows aren't checked. First, each folder gets the
sum of its secrets; from then on, every write keeps it right. The transaction that finds no folder without a sum seals
the sum of the places and makes a strict key: from then on every row is checked. The usual rotation then seals
everything with the strict key, bound to key and folder. At its end the former data key is deleted, and whatever it
sealed is refused.

The format in which a data key is wrapped says that its project is under marks. Nobody without the root key can change
that, and a former key opens nothing that was sealed since. Until the strict key exists, secrets are sealed in the
format of earlier versions, for their replicas that may still serve. `advance` must not be called while one does.
"""

from __future__ import annotations

from sqlalchemy import and_, func, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from keybearer.base.ids import ProjectId
from keybearer.store.folder_seals import FolderSeals
from keybearer.store.keys import Keys, keys_altered
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.resealing import Resealing
from keybearer.store.sealing.envelope import BOUND
from keybearer.store.tables.keys import DataKeyRow, KeyRotationRow
from keybearer.store.tables.projects import EnvironmentRow, FolderRow

__all__ = ["SealConversion"]

_FOLDERS_AT_ONCE = 100

_STRICT = aliased(DataKeyRow)
# One strict key is enough: adding a key of an earlier version must not make the service accept the rows as they are.
_WITHOUT_MARKS = (
    select(DataKeyRow.project_id)
    .distinct()
    .outerjoin(
        _STRICT,
        and_(
            _STRICT.project_id == DataKeyRow.project_id,
            func.substr(_STRICT.wrapped, 1, 1) == bytes([BOUND]),
        ),
    )
    .outerjoin(KeyRotationRow, KeyRotationRow.project_id == DataKeyRow.project_id)
    .where(_STRICT.id.is_(None), KeyRotationRow.project_id.is_(None))
)


class SealConversion:
    """Repository of the conversion of projects."""

    def __init__(
        self,
        connection: AsyncConnection,
        keys: Keys,
        places: PlaceSeals,
        seals: FolderSeals,
        resealing: Resealing,
    ) -> None:
        self._connection = connection
        self._keys = keys
        self._places = places
        self._seals = seals
        self._resealing = resealing

    async def projects(self) -> list[ProjectId]:
        """Return the projects that aren't under marks yet, except those whose data key is being rotated."""
        found = await self._connection.execute(_WITHOUT_MARKS.order_by(DataKeyRow.project_id))
        return [ProjectId(project_id) for project_id in found.scalars()]

    async def advance(self, project_id: ProjectId, limit: int) -> bool:
        """Seal the sums of folders with about `limit` secrets in all; return whether more is to be done.

        A folder is never split: a larger one is done alone.

        Raises:
            AlteredDatabaseError: the project was under marks before.
        """
        if not await self._resealing.lock(project_id):
            return False
        waiting = _WITHOUT_MARKS.where(DataKeyRow.project_id == project_id)
        if (await self._connection.execute(waiting)).first() is None:
            return False
        if await self._keys.is_strict(project_id):
            raise keys_altered(project_id)
        key = await self._keys.active(project_id)
        statement = (
            select(FolderRow.id)
            .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
            .where(EnvironmentRow.project_id == project_id, FolderRow.seal.is_(None))
            .order_by(FolderRow.id)
            .limit(_FOLDERS_AT_ONCE)
        )
        taken = 0
        folders = list((await self._connection.execute(statement)).scalars())
        for folder_id in folders:
            taken += await self._seals.seal(project_id, folder_id, key)
            if taken >= limit:
                break
        if folders:
            return True
        await self._resealing.begin(project_id, is_strict=True)
        await self._places.seal_all(project_id, await self._keys.active(project_id), is_bound=False)
        return False
