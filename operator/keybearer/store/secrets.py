"""Secrets: sealed on the way in, opened on the way out; no envelope leaves this package."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    update,
)
from sqlalchemy import Row as Result
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.base.runs import in_runs
from keybearer.base.slices import SLICE, in_slices
from keybearer.store.columns import select_record
from keybearer.store.folders import WITHIN_SUBTREE, subtree
from keybearer.store.keys import Keys
from keybearer.store.records import Secret, Tag
from keybearer.store.revisions import ChangeKind, Changes, ListChange
from keybearer.store.sealing.envelope import KeyName, SealingKey, key_name_of
from keybearer.store.secret_codec import Sealed, open_details, open_value, seal_details, seal_value
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, TagRow
from keybearer.store.tables.secrets import SecretRow, SecretTagRow, SecretVersionRow

__all__ = ["LISTED_MAX_BYTES", "Location", "ReferenceTarget", "Secrets", "TooLargeError", "folder_digest"]

LISTED_MAX_BYTES = 64 * 1024 * 1024
"""Sealed bytes of what one request may have opened."""

_T = TypeVar("_T")
_NAMES_MAX = 2_000  # keys in one statement, however many places they are in
_CHUNK = 200  # names in one statement; SQLite and PostgreSQL both take over 30,000 parameters

_COLUMNS = (
    SecretRow.id,
    SecretRow.project_id,
    SecretRow.folder_id,
    EnvironmentRow.slug.label("environment"),
    FolderRow.path,
    SecretRow.key,
    SecretRow.owner,
    SecretRow.version,
    SecretRow.value,
    SecretRow.details,
    SecretRow.skip_multiline_encoding,
    SecretRow.created_at,
    SecretRow.updated_at,
    # Most projects have no tags, and then nobody looks for those of each secret.
    exists(select(TagRow.id).where(TagRow.project_id == SecretRow.project_id)).label("has_tags"),
)

# In the order of the fields of ListChange, after its kind.
_PLACE = (SecretRow.project_id, EnvironmentRow.slug, FolderRow.path, SecretRow.key, SecretRow.owner)

_HIDDEN = tuple(null().label("value") if column is SecretRow.value else column for column in _COLUMNS)

_VERSIONS: Select[*tuple[Any, ...]] = select(
    SecretVersionRow.version,
    SecretVersionRow.key,
    SecretVersionRow.value,
    SecretVersionRow.details,
    SecretVersionRow.skip_multiline_encoding,
    SecretVersionRow.updated_at,
)

# Both databases tell the length of a blob without reading it.
_DETAILS_BYTES = func.coalesce(func.sum(func.coalesce(func.length(SecretRow.details), 0)), 0)
_SEALED_BYTES = func.coalesce(func.sum(func.length(SecretRow.value)), 0) + _DETAILS_BYTES

# Lists are asked for all the time: their statements are built once.
_ENVIRONMENT = and_(
    EnvironmentRow.project_id == bindparam("project"), EnvironmentRow.slug == bindparam("environment")
)
_IN_ENVIRONMENT = and_(_ENVIRONMENT, SecretRow.owner == "")
_DIRECTLY = and_(_IN_ENVIRONMENT, FolderRow.path == bindparam("path"))
_BENEATH = and_(_IN_ENVIRONMENT, WITHIN_SUBTREE, FolderRow.is_reserved.is_(False))
_PERSONAL = and_(SecretRow.owner == bindparam("owner"), SecretRow.owner != "")  # as the index has it
_OWNERS = and_(_ENVIRONMENT, _PERSONAL)
_OVERRIDES = {False: and_(_OWNERS, FolderRow.path == bindparam("path")), True: and_(_OWNERS, WITHIN_SUBTREE)}
_OVERRIDE = aliased(SecretRow)


class TooLargeError(KeybearerError):
    """More was asked for than one request may have opened; nothing was read."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where a secret lives within its project, and its key."""

    environment: EnvironmentSlug
    path: FolderPath
    key: str


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    """What a stored text names; an empty project slug means the secret's own project."""

    project_slug: str
    location: Location


def folder_digest(project_slug: str, environment: EnvironmentSlug, path: FolderPath) -> str:
    """Return what `SecretReferenceRow.folder` holds for this folder."""
    named = f"{project_slug}\0{environment}\0{path}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]


class Secrets:
    """Repository of secrets."""

    def __init__(self, connection: AsyncConnection, keys: Keys, changes: Changes) -> None:
        self._connection = connection
        self._keys = keys
        self._changes = changes

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
        condition = _BENEATH if recursive else _DIRECTLY
        place = {"project": project_id, "environment": environment, **subtree(path)}
        # Asked first: the rows themselves may be more than memory holds.
        size = _SIZES[recursive, with_values]
        await self._require_within(size, place, LISTED_MAX_BYTES)
        rows = await self._rows(_LISTS[recursive, with_values], place)
        return await self._opened(rows, condition, place, with_values=with_values)

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
        condition = _OVERRIDES[recursive]
        size = _joined(select(_SEALED_BYTES)).where(condition)
        await self._require_within(size, place, LISTED_MAX_BYTES)
        columns = _COLUMNS if with_values else _HIDDEN
        rows = await self._rows(_joined(select(*columns)).where(condition), place)
        return await self._opened(rows, condition, place, with_values=with_values)

    async def has_overrides(self, owner: str) -> bool:
        """Return whether the owner has any personal secret: most have none, and need no second look."""
        statement = select(SecretRow.id).where(_PERSONAL).limit(1)
        return (await self._connection.execute(statement, {"owner": owner})).first() is not None

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
        keys_of: dict[tuple[EnvironmentSlug, FolderPath], list[str]] = {}
        for location in locations:
            keys_of.setdefault((location.environment, location.path), []).append(location.key)
        places = [(place, chunk) for place, keys in keys_of.items() for chunk in _chunks(keys)]
        conditions = [
            and_(
                EnvironmentRow.project_id == project_id,
                SecretRow.owner == owner,
                or_(
                    *(
                        and_(
                            EnvironmentRow.slug == environment,
                            FolderRow.path == path,
                            SecretRow.key.in_(keys),
                        )
                        for (environment, path), keys in some
                    )
                ),
            )
            # In bunches that one statement can name.
            for some in in_runs(places, lambda place: len(place[1]), count_max=_CHUNK, weight_max=_NAMES_MAX)
        ]
        return await self._all(conditions, with_values=with_values, max_bytes=max_bytes)

    async def of_folders(
        self, folder_ids: Sequence[str], *, key: str | None, with_values: bool, max_bytes: int
    ) -> list[Secret]:
        """Return the shared secrets of these folders, only those under the key if one is given.

        Raises:
            TooLargeError: their envelopes hold more than `max_bytes`.
        """
        named = [] if key is None else [SecretRow.key == key]
        conditions = [
            and_(SecretRow.folder_id.in_(some), SecretRow.owner == "", *named) for some in _chunks(folder_ids)
        ]
        return await self._all(conditions, with_values=with_values, max_bytes=max_bytes)

    async def by_ids(
        self, secret_ids: Iterable[str], *, with_values: bool = True, max_bytes: int | None = None
    ) -> list[Secret]:
        """Return the secrets of these ids, those that exist.

        Raises:
            TooLargeError: their envelopes hold more than `max_bytes`, where that is given.
        """
        conditions = [SecretRow.id.in_(some) for some in _chunks(list(secret_ids))]
        return await self._all(conditions, with_values=with_values, max_bytes=max_bytes)

    async def version(self, secret: Secret, version: int) -> Secret | None:
        """Return the secret as it was at that version, or None where it had no such version."""
        found = await self._versions(secret, _VERSIONS.where(SecretVersionRow.version == version))
        return found[0] if found else None

    async def versions(self, secret: Secret, *, offset: int, limit: int) -> list[Secret]:
        """Return the secret as it was at its versions, the newest first."""
        statement = _VERSIONS.order_by(SecretVersionRow.version.desc())
        return await self._versions(secret, statement.offset(offset).limit(limit))

    async def _versions(self, secret: Secret, statement: Select[*tuple[Any, ...]]) -> list[Secret]:
        of_secret = statement.where(SecretVersionRow.secret_id == secret.id)
        rows = (await self._connection.execute(of_secret)).all()
        keys = await self._keys.opened(_key_names(rows))
        found = []
        for row in rows:
            sealed = Sealed(secret.project_id, secret.id, row.version)
            found.append(
                replace(
                    secret,
                    key=row.key,
                    version=row.version,
                    value=open_value(keys, sealed, row.value),
                    details=open_details(keys, sealed, row.details),
                    skip_multiline_encoding=row.skip_multiline_encoding,
                    updated_at=row.updated_at,
                )
            )
        return found

    async def insert(self, project_id: ProjectId, secrets: Sequence[Secret]) -> None:
        """Store new secrets of the project, each with its first version and tags."""
        key = await self._keys.active(project_id)
        rows = [_row(secret, key) for secret in secrets]
        await self._connection.execute(insert(SecretRow), rows)
        await self._connection.execute(insert(SecretVersionRow), [_version(row) for row in rows])
        await self._add_tags(secrets)
        self._changes.folders += [_change(ChangeKind.CREATED, secret) for secret in secrets]

    async def update(self, project_id: ProjectId, secrets: Sequence[Secret]) -> None:
        """Store a new version of each secret; the former ones stay readable by `version`."""
        key = await self._keys.active(project_id)
        before = dict.fromkeys(await self._places(ChangeKind.DELETED, [s.id for s in secrets]))
        rows = [_row(secret, key) for secret in secrets]
        for secret in secrets:
            before.pop(_change(ChangeKind.DELETED, secret), None)
        await self._connection.execute(_UPDATE, [{**row, "secret_id": row["id"]} for row in rows])
        await self._connection.execute(insert(SecretVersionRow), [_version(row) for row in rows])
        for some in _chunks(secrets):
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
        self._changes.folders += await self._places(ChangeKind.DELETED, moved)
        for some in _chunks(moved):
            await self._connection.execute(
                update(SecretRow).where(SecretRow.id.in_(some)).values(folder_id=new.folder_id, key=new.key)
            )
        self._changes.folders += await self._places(ChangeKind.CREATED, moved)

    async def delete(self, secret_ids: Iterable[str]) -> None:
        """Remove the secrets with all their versions, and with a shared one the personal ones on top of it."""
        for some in _chunks(list(secret_ids)):
            on_top = (
                select(_OVERRIDE.id)
                .join(
                    SecretRow,
                    and_(SecretRow.folder_id == _OVERRIDE.folder_id, SecretRow.key == _OVERRIDE.key),
                )
                .where(SecretRow.id.in_(some), SecretRow.owner == "", _OVERRIDE.owner != "")
            )
            going = [*some, *(await self._connection.execute(on_top)).scalars()]
            self._changes.folders += await self._places(ChangeKind.DELETED, going)
            for part in _chunks(going):
                await self._connection.execute(delete(SecretRow).where(SecretRow.id.in_(part)))

    async def delete_of_owner(self, owner: str) -> None:
        """Remove all personal secrets of a user, with all their versions."""
        await self._connection.execute(delete(SecretRow).where(_PERSONAL), {"owner": owner})

    async def _places(self, kind: ChangeKind, secret_ids: Sequence[str]) -> list[ListChange]:
        """Return where the secrets are now, as changes of this kind."""
        found: list[ListChange] = []
        for some in _chunks(secret_ids):
            statement = _joined(select(*_PLACE)).where(SecretRow.id.in_(some))
            found += [ListChange(kind, *row) for row in await self._connection.execute(statement)]
        return found

    async def _require_within(
        self, size: Select[*tuple[Any, ...]], parameters: Mapping[str, str], limit: int
    ) -> int:
        found: int = (await self._connection.execute(size, parameters)).scalar_one()
        if found > limit:
            raise TooLargeError(f"{found} bytes are asked for at once, {limit} are allowed")
        return found

    async def _all(
        self, conditions: Sequence[ColumnElement[bool]], *, with_values: bool, max_bytes: int | None
    ) -> list[Secret]:
        """Return the secrets that any of the conditions finds, once it is known that they are not too large."""
        if max_bytes is not None:
            size = _SEALED_BYTES if with_values else _DETAILS_BYTES
            for condition in conditions:
                statement = _joined(select(size)).where(condition)
                max_bytes -= await self._require_within(statement, {}, max_bytes)
        found: list[Secret] = []
        for condition in conditions:
            found.extend(await self._fetch(condition, with_values=with_values))
        return found

    async def _fetch(self, condition: ColumnElement[bool], *, with_values: bool) -> list[Secret]:
        columns = _COLUMNS if with_values else _HIDDEN
        rows = await self._rows(_joined(select(*columns)).where(condition), {})
        return await self._opened(rows, condition, {}, with_values=with_values)

    async def _rows(
        self, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, str]
    ) -> list[Result[*tuple[Any, ...]]]:
        """Return what the statement finds; many rows are read in slices."""
        found: list[Result[*tuple[Any, ...]]] = []
        for some in (await self._connection.execute(statement, parameters)).partitions(SLICE):
            if found:
                await asyncio.sleep(0)
            found.extend(some)
        return found

    async def _opened(
        self,
        rows: Sequence[Result[*tuple[Any, ...]]],
        condition: ColumnElement[bool],
        parameters: Mapping[str, str],
        *,
        with_values: bool,
    ) -> list[Secret]:
        """Return the secrets of these rows, which the condition with these parameters found."""
        if not rows:
            return []
        keys = await self._keys.opened(_key_names(rows))
        tagged = any(row.has_tags for row in rows)
        tags = await self._tags(condition, parameters) if tagged else {}
        opened: list[Secret] = []
        async for some in in_slices(rows):
            opened.extend(_secret(row, keys, tags.get(row.id, ()), with_values=with_values) for row in some)
        return opened

    async def _tags(
        self, condition: ColumnElement[bool], parameters: Mapping[str, str]
    ) -> dict[str, tuple[Tag, ...]]:
        statement = (
            _joined(select_record(TagRow, Tag).add_columns(SecretRow.id.label("secret_id")))
            .join(SecretTagRow, SecretTagRow.secret_id == SecretRow.id)
            .join(TagRow, TagRow.id == SecretTagRow.tag_id)
            .where(condition)
            .order_by(TagRow.slug)
        )
        tags: dict[str, tuple[Tag, ...]] = {}
        for row in await self._connection.execute(statement, parameters):
            tags[row.secret_id] = (*tags.get(row.secret_id, ()), Tag(*row[:-1]))
        return tags

    async def _add_tags(self, secrets: Sequence[Secret]) -> None:
        rows = [{"secret_id": secret.id, "tag_id": tag.id} for secret in secrets for tag in secret.tags]
        if rows:
            await self._connection.execute(insert(SecretTagRow), rows)


def _change(kind: ChangeKind, secret: Secret) -> ListChange:
    return ListChange(kind, secret.project_id, secret.environment, secret.path, secret.key, secret.owner)


def _joined(statement: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return (
        statement.select_from(SecretRow)
        .join(FolderRow, FolderRow.id == SecretRow.folder_id)
        .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
    )


def _key_names(rows: Iterable[Result[*tuple[Any, ...]]]) -> set[KeyName]:
    envelopes = (envelope for row in rows for envelope in (row.value, row.details) if envelope is not None)
    return {key_name_of(envelope) for envelope in envelopes}


def _secret(
    row: Result[*tuple[Any, ...]],
    keys: dict[KeyName, SealingKey],
    tags: tuple[Tag, ...],
    *,
    with_values: bool,
) -> Secret:
    sealed = Sealed(row.project_id, row.id, row.version)
    return Secret(
        id=row.id,
        project_id=row.project_id,
        folder_id=row.folder_id,
        environment=row.environment,
        path=row.path,
        key=row.key,
        owner=row.owner,
        version=row.version,
        value=open_value(keys, sealed, row.value) if with_values else None,
        details=open_details(keys, sealed, row.details),
        skip_multiline_encoding=row.skip_multiline_encoding,
        created_at=row.created_at,
        updated_at=row.updated_at,
        tags=tags,
    )


def _row(secret: Secret, key: SealingKey) -> dict[str, object]:
    sealed = Sealed(secret.project_id, secret.id, secret.version)
    return {
        "id": secret.id,
        "project_id": secret.project_id,
        "folder_id": secret.folder_id,
        "key": secret.key,
        "owner": secret.owner,
        "version": secret.version,
        "value": seal_value(key, sealed, secret.value or ""),
        "details": seal_details(key, sealed, secret.details),
        "skip_multiline_encoding": secret.skip_multiline_encoding,
        "created_at": secret.created_at,
        "updated_at": secret.updated_at,
    }


def _version(row: dict[str, object]) -> dict[str, object]:
    kept = ("version", "key", "value", "details", "skip_multiline_encoding", "updated_at")
    return {"secret_id": row["id"], **{name: row[name] for name in kept}}


def _chunks(items: Sequence[_T]) -> Iterable[list[_T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


_UPDATE = (
    update(SecretRow)
    .where(SecretRow.id == bindparam("secret_id"))
    .values(
        {
            name: bindparam(name)
            for name in (
                "folder_id",
                "key",
                "version",
                "value",
                "details",
                "skip_multiline_encoding",
                "updated_at",
            )
        }
    )
)
_WHERE = {False: _DIRECTLY, True: _BENEATH}
# Both by (recursive, with values); where values stay hidden they are not even read.
_LISTS = {
    (recursive, with_values): _joined(select(*(_COLUMNS if with_values else _HIDDEN))).where(condition)
    for recursive, condition in _WHERE.items()
    for with_values in (False, True)
}
_SIZES = {
    (recursive, with_values): _joined(select(_SEALED_BYTES if with_values else _DETAILS_BYTES)).where(
        condition
    )
    for recursive, condition in _WHERE.items()
    for with_values in (False, True)
}
