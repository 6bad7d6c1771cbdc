"""The readings of the repository of secrets: opened on the way out; no envelope leaves this package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Row, Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.base.runs import in_chunks, in_runs
from keybearer.store.folder_seals import FolderSeals
from keybearer.store.folders import subtree
from keybearer.store.keys import Keys
from keybearer.store.place_seals import PlaceSeals
from keybearer.store.records import Secret
from keybearer.store.revisions import Changes
from keybearer.store.sealing.envelope import AlteredDatabaseError
from keybearer.store.secret_judgement import Judgement
from keybearer.store.secret_opening import Parameters, SecretOpening
from keybearer.store.secret_places import Location
from keybearer.store.secret_rows import former_of
from keybearer.store.secret_statements import (
    CHUNK,
    FOLDERS_HOLDING,
    FOLDERS_LISTED,
    HAS_PERSONAL,
    LISTED,
    LISTS,
    NAMED,
    NAMES_MAX,
    OF_FOLDERS,
    OF_IDS,
    OF_PLACE,
    OVERRIDES,
    REFERRING_NAMED,
    ROWS_NAMED,
    SIZES,
    VERSIONS,
    Finding,
    at_locations,
    finding,
    referring,
)
from keybearer.store.tables.secrets import SecretRow, SecretVersionRow

__all__ = ["LISTED_MAX_BYTES", "SecretReads", "TooLargeError"]

LISTED_MAX_BYTES = 64 * 1024 * 1024
"""Sealed bytes of what one request may have opened."""


class TooLargeError(KeybearerError):
    """More was asked for than one request may have opened; nothing was read."""


class SecretReads:
    """Reads of the repository of secrets; `secrets.Secrets` adds what changes them."""

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
        wanted = OVERRIDES[recursive]
        await self._require_within(wanted.sizes[True], place, LISTED_MAX_BYTES)
        folders = await self._opening.rows(FOLDERS_LISTED[recursive, with_values], place)
        rows = await self._opening.rows(wanted.rows[with_values], place)
        judgement = self._opening.judgement()
        await judgement.some(rows, folders)
        found = await self._opening.opened(rows, wanted.condition, place, judgement, with_values=with_values)
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
        places = {(one.environment, one.path) for one in named}
        if len(places) == 1 and len(named) <= CHUNK:
            return await self._named(project_id, named, owner, with_values=with_values, max_bytes=max_bytes)
        findings: list[tuple[Finding, Parameters]]
        if len(places) == 1:
            findings = [
                (OF_PLACE, _place_of(project_id, some, owner)) for some in in_chunks(named, NAMES_MAX)
            ]
        else:
            findings = [(finding(one), {}) for one in at_locations(project_id, named, owner)]
        judgement = self._opening.judgement()
        found = await self._all(findings, judgement, with_values=with_values, max_bytes=max_bytes)
        there = {Location(secret.environment, secret.path, secret.key) for secret in found}
        await judgement.require_missing(project_id, (one for one in named if one not in there), owner)
        return found

    async def referring_at(
        self, project_id: ProjectId, locations: Iterable[Location], *, max_bytes: int
    ) -> list[Secret]:
        """Return those of the shared secrets at these places whose texts name others; no other one is opened.

        Raises:
            TooLargeError: their envelopes hold more than `max_bytes`.
        """
        named = list(locations)
        if len({(one.environment, one.path) for one in named}) == 1:
            wanted = [
                (REFERRING_NAMED, _place_of(project_id, some, "")) for some in in_chunks(named, NAMES_MAX)
            ]
        else:
            wanted = [(referring(one), {}) for one in at_locations(project_id, named, "")]
        sizes: dict[str, int] = {}
        for statement, parameters in wanted:
            found = await self._connection.execute(statement, parameters)
            sizes.update((secret_id, size) for secret_id, size in found)
        _require_within(sum(sizes.values()), max_bytes)
        return await self.by_ids(sizes)

    async def of_folders(
        self, folder_ids: Sequence[str], *, key: str | None, with_values: bool, max_bytes: int
    ) -> list[Secret]:
        """Return the shared secrets of these folders, only those under the key if one is given.

        Raises:
            TooLargeError: their envelopes hold more than `max_bytes`.
        """
        named = {} if key is None else {"key": key}
        holding = FOLDERS_HOLDING[key is not None, with_values]
        folders: list[Row[*tuple[Any, ...]]] = []
        for some in in_chunks(folder_ids, NAMES_MAX):
            folders += await self._opening.rows(holding, {**named, "folders": some})
        _require_within(sum(folder.size or 0 for folder in folders), max_bytes)
        judgement = self._opening.judgement()
        if key is None:
            await judgement.whole(folders)
        else:
            await judgement.some((), folders)
        # Of a thousand folders, one or two hold the key.
        read = [folder.place_id for folder in folders if key is None or folder.size is not None]
        findings: list[tuple[Finding, Parameters]] = [
            (OF_FOLDERS[key is not None], {**named, "folders": some}) for some in in_chunks(read, CHUNK)
        ]
        found = await self._all(findings, judgement, with_values=with_values, max_bytes=None)
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
        findings = [(OF_IDS, {"ids": some}) for some in in_chunks(secret_ids, NAMES_MAX)]
        return await self._all(
            findings, self._opening.judgement(), with_values=with_values, max_bytes=max_bytes
        )

    async def in_bunches(
        self, secret_ids: Iterable[str], *, count_max: int, bytes_max: int
    ) -> list[list[str]]:
        """Return the ids of those that exist, in bunches that together hold so many sealed bytes at most.

        A larger secret is a bunch of its own.
        """
        sizes: list[tuple[str, int]] = []
        for some in in_chunks(secret_ids, NAMES_MAX):
            rows = await self._connection.execute(SIZES, {"ids": some})
            sizes += [(secret_id, size) for secret_id, size in rows]
        runs = in_runs(sizes, lambda one: one[1], count_max=count_max, weight_max=bytes_max)
        return [[secret_id for secret_id, _ in run] for run in runs]

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
        place = _place_of(project_id, locations, owner)
        if max_bytes is not None:
            await self._require_within(OF_PLACE.sizes[with_values], place, max_bytes)
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
        findings: Sequence[tuple[Finding, Parameters]],
        judgement: Judgement,
        *,
        with_values: bool,
        max_bytes: int | None,
    ) -> list[Secret]:
        """Return the secrets that any of these finds, once it is known that they are not too large."""
        if max_bytes is not None:
            for one, parameters in findings:
                max_bytes -= await self._require_within(one.sizes[with_values], parameters, max_bytes)
        found: list[Secret] = []
        for one, parameters in findings:
            rows = await self._opening.rows(one.rows[with_values], parameters)
            await judgement.some(rows)
            found.extend(
                await self._opening.read(rows, one.condition, parameters, judgement, with_values=with_values)
            )
        await judgement.require()
        return found


def _place_of(project_id: ProjectId, locations: Sequence[Location], owner: str) -> Parameters:
    """Return the parameters of `NAMED` for secrets of one folder."""
    return {
        "project": project_id,
        "environment": locations[0].environment,
        "path": locations[0].path,
        "owner": owner,
        "keys": [one.key for one in locations],
    }


def _require_within(found: int, limit: int) -> None:
    if found > limit:
        raise TooLargeError(f"{found} bytes are asked for at once, {limit} are allowed")


def _version_missing(secret: Secret) -> AlteredDatabaseError:
    return AlteredDatabaseError(
        f"Versions of secret {secret.id} were removed from the database without the service. "
        "Restore a backup; the present version can still be read"
    )
