"""Taking a project of an earlier version under marks: so many folders at a time, while the service works.

A project without a strict data key has no sum of its places, and nothing of it is judged. Each folder gets
the sum of its secrets first; whoever writes keeps it from then on. In the transaction that finds no folder without
one, the places get theirs, and a strict key is made: from then on everything is judged. A rotation seals with that
key, bound to name and folder, what is sealed already; at its end the former key is given up, and what it sealed is
refused.

That a project is under marks is said by the form in which its data key is wrapped. Nobody can edit that, and a former
key opens nothing that was sealed since. Until then secrets are sealed as earlier versions do it, for replicas
of them that may still serve; whoever calls `advance` sees to it that there are none.
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
# One strict key is enough: else who adds a key of an earlier version could have the project taken as it is.
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
    """Repository of the conversion."""

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
        """Return the projects that aren't under marks yet; one whose key is being rotated comes when that is over."""
        found = await self._connection.execute(_WITHOUT_MARKS.order_by(DataKeyRow.project_id))
        return [ProjectId(project_id) for project_id in found.scalars()]

    async def advance(self, project_id: ProjectId, limit: int) -> bool:
        """Take folders of about so many secrets under marks; return whether more is to be done.

        A folder is never taken in parts: one that is larger is taken by itself.

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
