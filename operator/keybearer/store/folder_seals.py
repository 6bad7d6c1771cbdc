"""Checks that the secrets of a folder are those that the service stored, each at its newest version.

`folders.seal` holds the sum of the marks of their rows (see `sealing.tally`). A list of the whole folder adds up the
marks of the rows that it read, and compares the sums. A read of some secrets compares their marks with remembered
ones: this process read the whole folder before, checked its sum, and remembers the marks until the seal changes.
A change takes the marks of the former rows out of the sum, and adds those of the new rows.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Row as Result
from sqlalchemy import Update, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.base.runs import in_chunks
from keybearer.base.slices import SLICE, in_slices
from keybearer.store.failures import RaceError
from keybearer.store.keys import Keys
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.root_keys import key_name_column
from keybearer.store.sealing.envelope import (
    AlteredDatabaseError,
    Ciphertext,
    KeyName,
    Plaintext,
    SealingKey,
    UnsealError,
    associate,
)
from keybearer.store.sealing.known_sets import KnownFolder, KnownPlaces, shortened
from keybearer.store.sealing.tally import EMPTY, FolderTallies, Tally
from keybearer.store.secret_marks import KEY, OWNER, Head, heads_where, marks_of, marks_of_listed
from keybearer.store.tables.projects import FolderRow
from keybearer.store.tables.secrets import SecretRow

__all__ = ["FolderSeals", "JudgedFolder"]

_CHUNK = 400
_MET = "the secrets of the folder were changed at the same moment; try again"
_Row = Result[*tuple[Any, ...]]
# Built once, like those of `_storing`: each change of a secret asks for them.
_LOCK_SEALS = (
    select(FolderRow.id, FolderRow.seal)
    .where(FolderRow.id.in_(bindparam("folders", expanding=True)))
    .order_by(FolderRow.id)
    .with_for_update(key_share=True)
)
_HEADS = {
    False: heads_where(SecretRow.folder_id.in_(bindparam("folders", expanding=True)), SecretRow.owner == ""),
    True: heads_where(SecretRow.folder_id.in_(bindparam("folders", expanding=True)), SecretRow.owner != ""),
}


class JudgedFolder:
    """A folder whose secrets are being read, and what they are compared with.

    `known` is None if the project isn't under marks yet; every row passes then.
    """

    def __init__(self, folder_id: str, seal: bytes | None, known: KnownFolder | None) -> None:
        self.id = folder_id
        self.seal = seal
        self.known = known
        self._count = 0
        self._total = 0

    def add(self, rows: Sequence[_Row]) -> None:
        """Add rows that begin with `LISTED_COLUMNS` to the sum of what was read."""
        if self.known is not None:
            self._count += len(rows)
            for mark in marks_of_listed(self.known.key, rows):
                self._total ^= mark

    @property
    def is_whole(self) -> bool:
        """Whether the added rows are all shared secrets of the folder, and no others."""
        return self.known is None or Tally(self._count, self._total) == self.known.tallies.shared

    def holds(self, rows: Sequence[_Row]) -> bool:
        """Return whether the remembered marks hold each of these rows; call `look_through` first."""
        if self.known is None:
            return True
        marks = marks_of_listed(self.known.key, rows)
        return all(
            self._mark(row[KEY], row[OWNER]) == shortened(mark) for row, mark in zip(rows, marks, strict=True)
        )

    @property
    def may_hold_personal(self) -> bool:
        """Whether the folder has personal secrets, by its sum."""
        return self.known is not None and self.known.tallies.personal != EMPTY

    def keys_of(self, owner: str) -> set[str]:
        """Return the keys of the owner's personal secrets; call `look_through` for personal ones first."""
        personal = {} if self.known is None else self.known.personal or {}
        return {key for key, of in personal if of == owner}

    def lacks(self, key: str, owner: str) -> bool:
        """Return whether the folder has no such secret; call `look_through` first."""
        return self.known is None or self._mark(key, owner) is None

    def _mark(self, key: str, owner: str) -> int | None:
        if self.known is None:
            return None
        if owner:
            return (self.known.personal or {}).get((key, owner))
        return (self.known.shared or {}).get(key)


class FolderSeals:
    """Repository of the sums of folders."""

    def __init__(self, connection: AsyncConnection, keys: Keys, places: PlaceSeals) -> None:
        self._connection = connection
        self._keys = keys
        self._places = places
        self._seen: dict[str, bytes] = {}
        """Seals that this unit read or wrote last, by folder. They aren't locked: `_store` writes over no other."""

    async def opened(self, folders: Sequence[_Row]) -> dict[str, JudgedFolder]:
        """Return these folders (rows of `PLACED`) with what their secrets are compared with, by their ids.

        Raises:
            AlteredDatabaseError: one isn't where the service put it, or its seal was edited.
        """
        places = await self._places.require(folders)
        judged: dict[str, JudgedFolder] = {}
        for row in folders:
            folder_id, seal = row.place_id, row.seal
            if folder_id in judged:
                continue
            if seal is not None:
                self._seen[folder_id] = seal
            known = None if seal is None else self._keys.known.folders.get(folder_id, seal)
            if known is not None and places[row.place_project_id] is not None:
                judged[folder_id] = JudgedFolder(folder_id, seal, known)
            else:
                judged[folder_id] = await self._opened(row, places[row.place_project_id])
        return judged

    async def look_through(self, folders: Iterable[JudgedFolder], *, personal: bool) -> None:
        """Read and check the heads of folders whose marks aren't remembered yet, and remember them.

        Raises:
            AlteredDatabaseError: the secrets of one aren't those that the service stored.
            RaceError: another writer changed one meanwhile.
        """
        unknown = {
            folder.id: folder
            for folder in folders
            if folder.known is not None
            and (folder.known.personal if personal else folder.known.shared) is None
        }
        for some in in_chunks(unknown, _CHUNK):
            rows: dict[str, list[_Row]] = {folder_id: [] for folder_id in some}
            found = await self._connection.execute(_HEADS[personal], {"folders": some})
            for part in found.partitions(SLICE):
                for row in part:
                    rows[row.folder_id].append(row)
                await asyncio.sleep(0)
            for folder_id in some:
                await self._learn(unknown[folder_id], rows[folder_id], personal=personal)

    async def _learn(self, folder: JudgedFolder, rows: Sequence[_Row], *, personal: bool) -> None:
        known = folder.known
        if known is None:
            return
        marks: list[int] = []
        async for some in in_slices(rows):
            marks.extend(marks_of(known.key, some))
        if Tally.of(marks) != (known.tallies.personal if personal else known.tallies.shared):
            raise await self.altered(folder)
        short = list(map(shortened, marks))
        if personal:
            known.personal = {(row.key, row.owner): mark for row, mark in zip(rows, short, strict=True)}
        else:
            known.shared = {row.key: mark for row, mark in zip(rows, short, strict=True)}
        if folder.seal is not None:
            self._keys.known.folders.put(folder.id, folder.seal, known)

    async def altered(self, folder: JudgedFolder) -> Exception:
        """Return what to raise if rows don't fit: RaceError if another writer changed the folder meanwhile."""
        if await self._seal_of(folder.id) != folder.seal:
            return RaceError(_MET)
        return _altered(folder.id)

    async def change(
        self,
        project_id: ProjectId,
        gone: Iterable[Head],
        new: Iterable[Head],
        *,
        is_edit: bool = False,
    ) -> None:
        """Take former heads of the project out of the sums of their folders, and add new ones.

        Args:
            project_id: of the folders.
            gone: former heads.
            new: heads.
            is_edit: also store the newest `updated_at` of a folder's new heads as its `last_secret_modified`.

        Raises:
            RaceError: another writer changed one of the folders meanwhile.
        """
        changes: dict[str, tuple[list[Head], list[Head]]] = defaultdict(lambda: ([], []))
        for head in gone:
            changes[head.folder_id][0].append(head)
        for head in new:
            changes[head.folder_id][1].append(head)
        for some in in_chunks(sorted(changes), _CHUNK):
            await self._change(
                project_id, {folder_id: changes[folder_id] for folder_id in some}, is_edit=is_edit
            )

    async def first(self, project_id: ProjectId, folder_id: str) -> bytes:
        """Return the seal of a new, empty folder."""
        key = await self._places.key(project_id)
        seal = key.seal(Plaintext(FolderTallies().packed()), _identity(project_id, folder_id))
        # Nobody has to look for its secrets: it has none. If the unit is undone, no folder has this seal.
        self._keys.known.folders.put(folder_id, seal, KnownFolder(key, FolderTallies(), {}, {}))
        return seal

    async def seal(self, project_id: ProjectId, folder_id: str, key: SealingKey) -> int:
        """Seal the folder's sum with this key; return how many secrets the folder holds.

        A sum that is wrong stays wrong. A folder without a sum is accepted as it is, unless the key is strict: then a
        missing sum counts as the sum of no secrets.

        Raises:
            UnsealError: the seal doesn't open.
            AlteredDatabaseError: the folder has no seal although it was under marks before.
            RaceError: another writer changed the folder meanwhile.
        """
        seal = (await self._locked([folder_id])).get(folder_id)
        rows = (await self._connection.execute(heads_where(SecretRow.folder_id == folder_id))).all()
        shared = [row for row in rows if not row.owner]
        personal = [row for row in rows if row.owner]
        if seal is None and not key.is_strict:
            await self._require_unmarked(folder_id)
            tallies = FolderTallies(Tally.of(marks_of(key, shared)), Tally.of(marks_of(key, personal)))
        else:
            former, before = key, FolderTallies()
            if seal is not None:
                former, before = await self._unsealed(project_id, folder_id, seal)
            tallies = FolderTallies(
                before.shared.changed(marks_of(former, shared), marks_of(key, shared)),
                before.personal.changed(marks_of(former, personal), marks_of(key, personal)),
            )
        sealed = key.seal(Plaintext(tallies.packed()), _identity(project_id, folder_id))
        await self._store(folder_id, seal, {"seal": sealed})
        return len(rows)

    async def _require_unmarked(self, folder_id: str) -> None:
        sealing = select(key_name_column(SecretRow.value)).where(SecretRow.folder_id == folder_id).distinct()
        names = [KeyName(bytes(name)) for name in (await self._connection.execute(sealing)).scalars()]
        # Also from memory: who removes a strict key from the database must not have the folder accepted as it is.
        if any(key.is_strict for key in (await self._keys.opened(names)).values()):
            raise _altered(folder_id)

    async def _change(
        self,
        project_id: ProjectId,
        changes: dict[str, tuple[list[Head], list[Head]]],
        *,
        is_edit: bool,
    ) -> None:
        seals = await self._seals_of(changes)
        for folder_id, change in changes.items():
            seal = seals.get(folder_id)
            values: dict[str, object] = {}
            if is_edit and change[1]:
                values["last_secret_modified"] = max(head.updated_at for head in change[1])
            known = None if folder_id not in seals else await self._known(project_id, folder_id, seal)
            if known is not None:
                known = _changed(known, *change)
                values["seal"] = new = known.key.seal(
                    Plaintext(known.tallies.packed()), _identity(project_id, folder_id)
                )
                self._keys.known.folders.put(folder_id, new, known)
            if values:
                await self._store(folder_id, seal, values)

    async def _seals_of(self, folder_ids: Collection[str]) -> dict[str, bytes | None]:
        """Return the seals by folder, None where it isn't sealed yet; folders that don't exist are left out."""
        seals: dict[str, bytes | None] = {
            folder_id: self._seen[folder_id] for folder_id in folder_ids if folder_id in self._seen
        }
        unseen = [folder_id for folder_id in folder_ids if folder_id not in seals]
        return seals | await self._locked(unseen) if unseen else seals

    async def _locked(self, folder_ids: Collection[str]) -> dict[str, bytes | None]:
        """Return the same, as they are stored, and keep these folders from other writers."""
        rows = await self._connection.execute(_LOCK_SEALS, {"folders": list(folder_ids)})
        return {row.id: row.seal for row in rows}

    async def _known(self, project_id: ProjectId, folder_id: str, seal: bytes | None) -> KnownFolder | None:
        """Return the folder as it was sealed; None while it is left to the conversion (`seal_conversion`)."""
        if seal is not None:
            known = self._keys.known.folders.take(folder_id, seal)
            return known or KnownFolder(*await self._unsealed(project_id, folder_id, seal))
        if await self._keys.is_strict(project_id):
            return KnownFolder(await self._keys.active(project_id), FolderTallies())
        return None

    async def _store(self, folder_id: str, former: bytes | None, values: Mapping[str, object]) -> None:
        """Store a seal, and what else is to be stored, where the folder still has its former seal.

        Raises:
            RaceError: it has another one by now.
        """
        statement = _storing(*values, was_sealed=former is not None)
        given = {"folder": folder_id, "former": former, **values}
        stored = await self._connection.execute(statement, given)
        if stored.rowcount != 1:
            raise RaceError(_MET)
        seal = values.get("seal", former)
        if isinstance(seal, bytes):
            self._seen[folder_id] = seal

    async def _seal_of(self, folder_id: str) -> bytes | None:
        statement = select(FolderRow.seal).where(FolderRow.id == folder_id)
        return (await self._connection.execute(statement)).scalar_one_or_none()

    async def _opened(self, row: _Row, places: KnownPlaces | None) -> JudgedFolder:
        if places is None:
            return JudgedFolder(row.place_id, row.seal, None)
        if row.seal is None:
            return JudgedFolder(row.place_id, None, KnownFolder(places.key, FolderTallies()))
        known = KnownFolder(*await self._unsealed(row.place_project_id, row.place_id, row.seal))
        # A list of a thousand folders opens as many seals, and most are the same at the next list.
        self._keys.known.folders.put(row.place_id, row.seal, known)
        return JudgedFolder(row.place_id, row.seal, known)

    async def _unsealed(
        self, project_id: str, folder_id: str, seal: bytes
    ) -> tuple[SealingKey, FolderTallies]:
        try:
            key = await self._keys.key_of(seal)
        except UnsealError:
            if await self._seal_of(folder_id) != seal:
                raise RaceError("the folder was removed at the same moment; try again") from None
            raise
        try:
            content = key.open(Ciphertext(seal), _identity(project_id, folder_id))
        except UnsealError as error:
            raise _altered(folder_id) from error
        return key, FolderTallies.unpacked(content)


@cache
def _storing(*names: str, was_sealed: bool) -> Update:
    """Return the statement that stores these columns of a `folder` where it has the seal `former`, or none."""
    unchanged = FolderRow.seal == bindparam("former") if was_sealed else FolderRow.seal.is_(None)
    return (
        update(FolderRow)
        .where(FolderRow.id == bindparam("folder"), unchanged)
        .values({name: bindparam(name) for name in names})
    )


def _changed(known: KnownFolder, gone: Sequence[Head], new: Sequence[Head]) -> KnownFolder:
    """Return the folder after a change, as a copy: other tasks may be reading by the former one."""
    sums = {False: known.tallies.shared, True: known.tallies.personal}
    shared = None if known.shared is None else dict(known.shared)
    personal = None if known.personal is None else dict(known.personal)
    for head, mark in zip(gone, marks_of(known.key, gone), strict=True):
        is_personal = bool(head.owner)
        sums[is_personal] = sums[is_personal].changed((mark,), ())
        if is_personal and personal is not None:
            personal.pop((head.key, head.owner), None)
        elif not is_personal and shared is not None:
            shared.pop(head.key, None)
    for head, mark in zip(new, marks_of(known.key, new), strict=True):
        is_personal = bool(head.owner)
        sums[is_personal] = sums[is_personal].changed((), (mark,))
        if is_personal and personal is not None:
            personal[head.key, head.owner] = shortened(mark)
        elif not is_personal and shared is not None:
            shared[head.key] = shortened(mark)
    return KnownFolder(known.key, FolderTallies(sums[False], sums[True]), shared, personal)


def _altered(folder_id: str) -> AlteredDatabaseError:
    return AlteredDatabaseError(
        f"Secrets of folder {folder_id} were changed in the database without the service, so it refuses all of them. "
        "Restore a backup, or delete the folder and create it again"
    )


def _identity(project_id: str, folder_id: str) -> bytes:
    return associate("folder", project_id, folder_id)
