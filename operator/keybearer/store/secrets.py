"""Secrets: sealed on the way in, opened on the way out; no envelope leaves this package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.base.runs import in_chunks
from keybearer.store.folder_seals import FolderSeals
from keybearer.store.folders import subtree
from keybearer.store.keys import Keys
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.records import Secret
from keybearer.store.revisions import ChangeKind, Changes, ListChange
from keybearer.store.sealing.envelope import AlteredDatabaseError
from keybearer.store.secret_judgement import Judgement
from keybearer.store.secret_marks import Head, head_of, heads_where
from keybearer.store.secret_opening import ENVELOPES, Parameters, SecretOpening
from keybearer.store.secret_places import Location
from keybearer.store.secret_rows import former_of, moved_row, row_of, version_of
from keybearer.store.secret_statements import (
    CHUNK,
    FOLDERS_LISTED,
    HAS_PERSONAL,
    LISTED,
    LISTS,
    NAMED,
    OVERRIDES,
    PERSONAL,
    PLACE_FIELDS,
    ROWS_NAMED,
    SIZE_NAMED,
    UPDATE,
    VERSIONS,
    at_locations,
    in_folders,
    on_top_of,
    places_of,
    rows_of,
    size_of,
    with_ids,
)
from keybearer.store.tables.secrets import SecretRow, SecretTagRow, SecretVersionRow

__all__ = ["LISTED_MAX_BYTES", "Secrets", "TooLargeError"]

LISTED_MAX_BYTES = 64 * 1024 * 1024
"""Sealed bytes of what one request may have opened."""


class TooLargeError(KeybearerError):
    """More was asked for than one request may have opened; nothing was read."""


class Secrets:
    """Repository of secrets."""

    def __init__(
        self,
        connection: AsyncConnection,
        keys: Keys,
        places: PlaceSeals,
        seals: FolderSeals,
        changes: Changes,
    ) -> None:
        self._connection = connection
        self._keys = keys
        self._places = places
        self._seals = seals
        self._changes = changes
        self._opening = SecretOpening(connection, keys, places, seals)

    async def listed(
        self,
        project_id: ProjectId,
        environment: EnvironmentSlug,
        path: FolderPath,
        *,
        recursive: bool,
        with_values: bool,
    ) -> list[Secret]:
        """Return the shared secrets of the folder, and of all under it if asked, with their tags.

        Raises:
            TooLargeError: their envelopes hold more than `LISTED_MAX_BYTES`.
        """
        condition = LISTED[recursive]
        place = {"project": project_id, "environment": environment, **subtree(path)}
        # Asked first: the rows themselves may be more than memory holds.
        folders = await self._opening.rows(FOLDERS_LISTED[recursive, with_values], place)
        _require_within(sum(folder.size for folder in folders), LISTED_MAX_BYTES)
        judgement = self._opening.judgement()
        await judgement.whole(folders)
        if recursive:
            await self._places.require_all(project_id, environment, path, folders)
        elif not folders:
            await self._places.require_absent(project_id, environment, path)
        rows = await self._opening.rows(LISTS[recursive, with_values], place)
        return await self._opening.opened(rows, condition, place, judgement, with_values=with_values)

    async def overrides(
        self,
        project_id: ProjectId,
        environment: EnvironmentSlug,
        path: FolderPath,
        owner: str,
        *,
        recursive: bool,
        with_values: bool,
    ) -> list[Secret]:
        """Return the owner's personal secrets of the folder, and of all under it if asked, with their tags.

        Raises:
            TooLargeError: their envelopes hold more than `LISTED_MAX_BYTES`.
        """
        place = {"project": project_id, "environment": environment, "owner": owner, **subtree(path)}
        condition = OVERRIDES[recursive]
        await self._require_within(size_of(condition, with_values=True), place, LISTED_MAX_BYTES)
        folders = await self._opening.rows(FOLDERS_LISTED[recursive, with_values], place)
        rows = await self._opening.rows(rows_of(condition, with_values=with_values), place)
        judgement = self._opening.judgement()
        await judgement.some(rows, folders)
        found = await self._opening.opened(rows, condition, place, judgement, with_values=with_values)
        await judgement.require_all_of(owner, found)
        return found

    async def has_overrides(self, owner: str) -> bool:
        """Return whether the owner has any personal secret: most have none, and need no second look."""
        return (await self._connection.execute(HAS_PERSONAL, {"owner": owner})).first() is not None

    async def exists_in(self, folder_id: str) -> bool:
        """Return whether the folder itself holds a shared secret."""
        statement = select(SecretRow.id).where(SecretRow.folder_id == folder_id, SecretRow.owner == "")
        return (await self._connection.execute(statement.limit(1))).first() is not None

    async def at(
        self,
        project_id: ProjectId,
        locations: Iterable[Location],
        *,
        with_values: bool = True,
        max_bytes: int | None = None,
        owner: str = "",
    ) -> list[Secret]:
        """Return the secrets at these places, those that exist, with their tags: shared ones, or an owner's.

        Raises:
            TooLargeError: their envelopes hold more than `max_bytes`, where that is given.
        """
        named = list(locations)
        if len(named) <= CHUNK and len({(one.environment, one.path) for one in named}) == 1:
            return await self._named(project_id, named, owner, with_values=with_values, max_bytes=max_bytes)
        conditions = at_locations(project_id, named, owner)
        judgement = self._opening.judgement()
        found = await self._all(conditions, judgement, with_values=with_values, max_bytes=max_bytes)
        there = {Location(secret.environment, secret.path, secret.key) for secret in found}
        await judgement.require_missing(project_id, (one for one in named if one not in there), owner)
        return found

    async def of_folders(
        self, folder_ids: Sequence[str], *, key: str | None, with_values: bool, max_bytes: int
    ) -> list[Secret]:
        """Return the shared secrets of these folders, only those under the key if one is given.

        Raises:
            TooLargeError: their envelopes hold more than `max_bytes`.
        """
        conditions = in_folders(folder_ids, key)
        judgement = self._opening.judgement()
        folders = await judgement.read_folders(folder_ids)
        if key is None:
            await judgement.whole(folders)
        else:
            await judgement.some((), folders)
        found = await self._all(conditions, judgement, with_values=with_values, max_bytes=max_bytes)
        if key is not None:
            there = {secret.folder_id for secret in found}
            await judgement.require_missing_in((one for one in folder_ids if one not in there), key)
        return found

    async def by_ids(
        self, secret_ids: Iterable[str], *, with_values: bool = True, max_bytes: int | None = None
    ) -> list[Secret]:
        """Return the secrets of these ids, those that exist.

        Raises:
            TooLargeError: their envelopes hold more than `max_bytes`, where that is given.
        """
        return await self._all(
            with_ids(secret_ids), self._opening.judgement(), with_values=with_values, max_bytes=max_bytes
        )

    async def version(self, secret: Secret, version: int) -> Secret | None:
        """Return the secret as it was at that version, or None where it had no such version.

        Raises:
            AlteredDatabaseError: it had one, which was removed without the service.
        """
        found = await self._versions(secret, VERSIONS.where(SecretVersionRow.version == version))
        if not found and 0 < version <= secret.version:
            raise _version_missing(secret)
        return found[0] if found else None

    async def versions(self, secret: Secret, *, offset: int, limit: int) -> list[Secret]:
        """Return the secret as it was at its versions, the newest first.

        Raises:
            AlteredDatabaseError: some were removed without the service.
        """
        statement = VERSIONS.order_by(SecretVersionRow.version.desc())
        found = await self._versions(secret, statement.offset(offset).limit(limit))
        newest = secret.version - offset
        if [one.version for one in found] != list(range(newest, max(newest - limit, 0), -1)):
            raise _version_missing(secret)
        return found

    async def _versions(self, secret: Secret, statement: Select[*tuple[Any, ...]]) -> list[Secret]:
        of_secret = statement.where(SecretVersionRow.secret_id == secret.id)
        rows = (await self._connection.execute(of_secret)).all()
        keys = await self._opening.keys([(row.value, row.details) for row in rows], {secret.project_id})
        return [former_of(row, keys, secret) for row in rows]

    async def insert(self, project_id: ProjectId, secrets: Sequence[Secret]) -> None:
        """Store new secrets of the project, each with its first version and tags."""
        key = await self._keys.active(project_id)
        rows = [row_of(secret, key) for secret in secrets]
        await self._seals.change(project_id, (), map(head_of, secrets), is_edit=True)
        await self._connection.execute(insert(SecretRow), rows)
        await self._connection.execute(insert(SecretVersionRow), [version_of(row) for row in rows])
        await self._add_tags(secrets)
        self._changes.folders += [_change(ChangeKind.CREATED, secret) for secret in secrets]

    async def update(self, project_id: ProjectId, secrets: Sequence[Secret]) -> None:
        """Store a new version of each secret; the former ones stay readable by `version`."""
        key = await self._keys.active(project_id)
        places, heads = await self._places_of(ChangeKind.DELETED, [s.id for s in secrets])
        before = dict.fromkeys(places)
        await self._seals.change(project_id, heads, map(head_of, secrets), is_edit=True)
        rows = [row_of(secret, key) for secret in secrets]
        for secret in secrets:
            before.pop(_change(ChangeKind.DELETED, secret), None)
        await self._connection.execute(UPDATE, [{**row, "secret_id": row["id"]} for row in rows])
        await self._connection.execute(insert(SecretVersionRow), [version_of(row) for row in rows])
        for some in in_chunks(secrets, CHUNK):
            await self._connection.execute(
                delete(SecretTagRow).where(SecretTagRow.secret_id.in_([secret.id for secret in some]))
            )
        await self._add_tags(secrets)
        # What was renamed or moved is gone from where it was.
        self._changes.folders += before
        self._changes.folders += [_change(ChangeKind.UPDATED, secret) for secret in secrets]

    async def move_overrides(self, old: Secret, new: Secret) -> None:
        """Have the personal secrets on top of a shared one follow it to its new key and folder."""
        at_old = and_(SecretRow.folder_id == old.folder_id, SecretRow.key == old.key, SecretRow.owner != "")
        moved = list((await self._connection.execute(select(SecretRow.id).where(at_old))).scalars())
        if not moved:
            return
        gone, before = await self._places_of(ChangeKind.DELETED, moved)
        key = await self._keys.active(old.project_id)
        for some in in_chunks(moved, CHUNK):
            rows = (await self._connection.execute(rows_of(SecretRow.id.in_(some), with_values=True))).all()
            keys = await self._opening.keys(map(ENVELOPES, rows), {old.project_id})
            for row in rows:
                changed = moved_row(keys, key, row, new)
                await self._connection.execute(
                    update(SecretRow).where(SecretRow.id == row.id).values(changed)
                )
                await self._connection.execute(
                    update(SecretVersionRow)
                    .where(SecretVersionRow.secret_id == row.id, SecretVersionRow.version == row.version)
                    .values(changed)
                )
        created, after = await self._places_of(ChangeKind.CREATED, moved)
        await self._seals.change(old.project_id, before, after)
        self._changes.folders += [*gone, *created]

    async def delete(self, secret_ids: Iterable[str]) -> None:
        """Remove the secrets with all their versions, and with a shared one the personal ones on top of it."""
        for some in in_chunks(secret_ids, CHUNK):
            going = [*some, *(await self._connection.execute(on_top_of(some))).scalars()]
            places, heads = await self._places_of(ChangeKind.DELETED, going)
            self._changes.folders += places
            await self._change_each(heads)
            for part in in_chunks(going, CHUNK):
                await self._connection.execute(delete(SecretRow).where(SecretRow.id.in_(part)))

    async def projects_of_owner(self, owner: str) -> set[ProjectId]:
        """Return the ids of the projects that hold personal secrets of a user, member or not."""
        found = await self._connection.execute(
            select(SecretRow.project_id).where(PERSONAL).distinct(), {"owner": owner}
        )
        return {ProjectId(project_id) for project_id in found.scalars()}

    async def delete_of_owner(self, owner: str) -> None:
        """Remove all personal secrets of a user, with all their versions; their projects must have been moved."""
        heads = await self._connection.execute(heads_where(PERSONAL), {"owner": owner})
        await self._change_each([Head(*row) for row in heads])
        await self._connection.execute(delete(SecretRow).where(PERSONAL), {"owner": owner})

    async def _places_of(
        self, kind: ChangeKind, secret_ids: Sequence[str]
    ) -> tuple[list[ListChange], list[Head]]:
        """Return where the secrets are now, as changes of this kind, and their heads."""
        found: list[ListChange] = []
        heads: list[Head] = []
        for some in in_chunks(secret_ids, CHUNK):
            for row in await self._connection.execute(places_of(some)):
                found.append(ListChange(kind, *row[:PLACE_FIELDS]))
                heads.append(Head(*row[PLACE_FIELDS:]))
        return found, heads

    async def _change_each(self, gone: Sequence[Head]) -> None:
        """Take heads of any project out of the sums of their folders."""
        of_project: dict[ProjectId, list[Head]] = {}
        for head in gone:
            of_project.setdefault(head.project_id, []).append(head)
        for project_id in sorted(of_project):
            await self._seals.change(project_id, of_project[project_id], ())

    async def _require_within(
        self, size: Select[*tuple[Any, ...]], parameters: Parameters, limit: int
    ) -> int:
        found: int = (await self._connection.execute(size, parameters)).scalar_one()
        _require_within(found, limit)
        return found

    async def _named(
        self,
        project_id: ProjectId,
        locations: Sequence[Location],
        owner: str,
        *,
        with_values: bool,
        max_bytes: int | None,
    ) -> list[Secret]:
        """Return the secrets of one folder at these places, as `at` does."""
        place: Parameters = {
            "project": project_id,
            "environment": locations[0].environment,
            "path": locations[0].path,
            "owner": owner,
            "keys": [one.key for one in locations],
        }
        if max_bytes is not None:
            await self._require_within(SIZE_NAMED[with_values], place, max_bytes)
        joined = await self._opening.rows(ROWS_NAMED[with_values], place)
        rows = [row for row in joined if row.id is not None]
        judgement = self._opening.judgement()
        await judgement.some(rows, joined)
        found = await self._opening.opened(rows, NAMED, place, judgement, with_values=with_values)
        if len(found) < len(set(locations)):
            keys = {secret.key for secret in found}
            missing = [one for one in locations if one.key not in keys]
            await judgement.require_missing(project_id, missing, owner)
        return found

    async def _all(
        self,
        conditions: Sequence[ColumnElement[bool]],
        judgement: Judgement,
        *,
        with_values: bool,
        max_bytes: int | None,
    ) -> list[Secret]:
        """Return the secrets that any of the conditions finds, once it is known that they are not too large."""
        if max_bytes is not None:
            for condition in conditions:
                size = size_of(condition, with_values=with_values)
                max_bytes -= await self._require_within(size, {}, max_bytes)
        found: list[Secret] = []
        for condition in conditions:
            rows = await self._opening.rows(rows_of(condition, with_values=with_values), {})
            await judgement.some(rows)
            found.extend(await self._opening.read(rows, condition, {}, judgement, with_values=with_values))
        await judgement.require()
        return found

    async def _add_tags(self, secrets: Sequence[Secret]) -> None:
        rows = [{"secret_id": secret.id, "tag_id": tag.id} for secret in secrets for tag in secret.tags]
        if rows:
            await self._connection.execute(insert(SecretTagRow), rows)


def _require_within(found: int, limit: int) -> None:
    if found > limit:
        raise TooLargeError(f"{found} bytes are asked for at once, {limit} are allowed")


def _version_missing(secret: Secret) -> AlteredDatabaseError:
    return AlteredDatabaseError(
        f"Versions of secret {secret.id} were removed from the database without the service. "
        "Restore a backup; the present version can still be read"
    )


def _change(kind: ChangeKind, secret: Secret) -> ListChange:
    return ListChange(kind, secret.project_id, secret.environment, secret.path, secret.key, secret.owner)
