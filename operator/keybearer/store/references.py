"""Who names whom: the places that stored texts refer to, kept so that a change finds those it reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Row as Result
from sqlalchemy import Select, and_, bindparam, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import EnvironmentSlug, FolderPath, OrganizationId, ProjectId
from keybearer.base.runs import in_chunks
from keybearer.store.many_rows import ManyRows
from keybearer.store.records import Project
from keybearer.store.reference_bindings import ReferenceBindings
from keybearer.store.secret_places import Location, ReferenceTarget, folder_digest
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, ProjectRow
from keybearer.store.tables.secrets import SecretReferenceRow, SecretRow

__all__ = ["ANYWHERE", "NamedFolder", "References", "Referrer"]

ANYWHERE = ReferenceTarget("", Location(EnvironmentSlug("*"), FolderPath("*"), ""))
"""What a text names whose references are built from others: nobody knows before they are followed."""

_CHUNK = 400


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A folder that texts of its own project name, and those of others by the project's slug."""

    project_id: ProjectId
    project_slug: str
    environment: EnvironmentSlug
    path: FolderPath


@dataclass(frozen=True, slots=True)
class Referrer:
    """A secret whose text names another one; `names` is that one's folder and key, None for `ANYWHERE`."""

    project_id: ProjectId
    environment: EnvironmentSlug
    path: FolderPath
    key: str
    owner: str
    names: tuple[NamedFolder, str] | None


@dataclass(frozen=True, slots=True)
class _Reference:
    secret_id: str
    folder: str
    key: str


_ROWS = ManyRows(SecretReferenceRow, _Reference)
_REFERRERS: Select[*tuple[Any, ...]] = (
    select(
        SecretReferenceRow.folder,
        SecretReferenceRow.key.label("named"),
        SecretRow.project_id,
        EnvironmentRow.slug,
        FolderRow.path,
        SecretRow.key,
        SecretRow.owner,
    )
    .select_from(SecretReferenceRow)
    .join(SecretRow, SecretRow.id == SecretReferenceRow.secret_id)
    .join(FolderRow, FolderRow.id == SecretRow.folder_id)
    .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
)
# Asked with each new import: its statement is built once.
_REFERRING_IN: Select[*tuple[str]] = (
    select(SecretReferenceRow.secret_id)
    .distinct()
    .join(SecretRow, SecretRow.id == SecretReferenceRow.secret_id)
    .where(SecretRow.folder_id.in_(bindparam("folders", expanding=True)), SecretRow.owner == "")
)
_FORGET = delete(SecretReferenceRow).where(
    SecretReferenceRow.secret_id.in_(bindparam("secrets", expanding=True))
)


class References:
    """Repository of references."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def put(
        self, targets: Mapping[str, Collection[ReferenceTarget]], *, new: AbstractSet[str] = frozenset()
    ) -> None:
        """Store which places each of these secrets (by id) names, in place of what was stored.

        Of those that are `new`, nothing was stored.
        """
        for some in in_chunks((secret_id for secret_id in targets if secret_id not in new), _CHUNK):
            await self._connection.execute(_FORGET, {"secrets": some})
        # Of each folder once: many texts name the same.
        digest = cache(folder_digest)
        rows = [
            (secret_id, digest(target.project_slug, place.environment, place.path), place.key)
            for secret_id, named in targets.items()
            for target in named
            for place in (target.location,)
        ]
        if rows:
            await _ROWS.insert(self._connection, rows)

    async def naming(self, project_id: ProjectId, project_slug: str, location: Location) -> Sequence[str]:
        """Return the ids of the project's secrets whose stored text names this place."""
        target = ReferenceTarget(project_slug, location)
        statement = (
            select(SecretReferenceRow.secret_id)
            .join(SecretRow, SecretRow.id == SecretReferenceRow.secret_id)
            .where(
                SecretRow.project_id == project_id,
                SecretReferenceRow.folder == _digest(target),
                SecretReferenceRow.key == location.key,
            )
        )
        return (await self._connection.execute(statement)).scalars().all()

    async def naming_folders(
        self, project_id: ProjectId, folders: Iterable[ReferenceTarget]
    ) -> Sequence[str]:
        """Return the ids of the project's secrets whose stored texts name any key of these folders."""
        found: dict[str, None] = {}
        for some in in_chunks(map(_digest, folders), _CHUNK):
            statement = (
                select(SecretReferenceRow.secret_id)
                .distinct()
                .join(SecretRow, SecretRow.id == SecretReferenceRow.secret_id)
                .where(SecretRow.project_id == project_id, SecretReferenceRow.folder.in_(some))
            )
            found.update(dict.fromkeys((await self._connection.execute(statement)).scalars()))
        return list(found)

    async def are_named(self, project: Project, places: Iterable[tuple[EnvironmentSlug, FolderPath]]) -> bool:
        """Return whether a stored text of the organization names a key of one of these folders of the project."""
        for some in in_chunks(places, _CHUNK):
            own = [folder_digest("", *place) for place in some]
            by_slug = [folder_digest(project.slug, *place) for place in some]
            statement = (
                select(SecretReferenceRow.secret_id)
                .join(SecretRow, SecretRow.id == SecretReferenceRow.secret_id)
                .join(ProjectRow, ProjectRow.id == SecretRow.project_id)
                .where(
                    ProjectRow.organization_id == project.organization_id,
                    or_(
                        SecretReferenceRow.folder.in_(by_slug),
                        and_(SecretReferenceRow.folder.in_(own), SecretRow.project_id == project.id),
                    ),
                )
            )
            if (await self._connection.execute(statement.limit(1))).first() is not None:
                return True
        return False

    async def referring_in(self, folder_ids: Iterable[str]) -> list[str]:
        """Return the ids of the shared secrets of these folders whose stored texts name others."""
        found: list[str] = []
        for some in in_chunks(folder_ids, _CHUNK):
            found += (await self._connection.execute(_REFERRING_IN, {"folders": some})).scalars()
        return found

    async def referrers(
        self, organization_id: OrganizationId, named: Mapping[NamedFolder, Collection[str]]
    ) -> list[Referrer]:
        """Return the organization's secrets whose stored texts name any of these keys, by folder."""
        found: list[Referrer] = []
        by_project: dict[ProjectId, dict[str, NamedFolder]] = {}
        by_slug: dict[str, NamedFolder] = {}
        bindings = ReferenceBindings(self._connection)
        former = await bindings.former_names({folder.project_id for folder in named})
        for folder in named:
            own = ReferenceTarget("", Location(folder.environment, folder.path, ""))
            by_project.setdefault(folder.project_id, {})[_digest(own)] = folder
            by_slug[_digest(ReferenceTarget(folder.project_slug, own.location))] = folder
            # Texts may call it by names that it had, and mean it.
            for slug, environment in former.get((folder.project_id, folder.environment), ()):
                digest = _digest(ReferenceTarget(slug, Location(environment, folder.path, "")))
                (by_slug if slug else by_project[folder.project_id])[digest] = folder
        for project_id, folders in by_project.items():
            statement = _REFERRERS.where(SecretRow.project_id == project_id)
            found += await self._referrers(statement, folders, named)
        statement = _REFERRERS.join(ProjectRow, ProjectRow.id == SecretRow.project_id)
        statement = statement.where(ProjectRow.organization_id == organization_id)
        return found + await self._referrers(statement, by_slug, named)

    async def unforeseeable(self, organization_id: OrganizationId) -> list[Referrer]:
        """Return the organization's secrets whose references are built from others."""
        statement = (
            _REFERRERS.join(ProjectRow, ProjectRow.id == SecretRow.project_id)
            .where(ProjectRow.organization_id == organization_id)
            .where(SecretReferenceRow.folder == _digest(ANYWHERE))
        )
        return [_referrer(row, None) for row in await self._connection.execute(statement)]

    async def _referrers(
        self,
        statement: Select[*tuple[Any, ...]],
        folders: Mapping[str, NamedFolder],
        named: Mapping[NamedFolder, Collection[str]],
    ) -> list[Referrer]:
        found: list[Referrer] = []
        for some in in_chunks(folders, _CHUNK):
            keys = {key for digest in some for key in named[folders[digest]]}
            # Past some hundred keys it is cheaper to read all that name the folders.
            of_keys = [SecretReferenceRow.key.in_(keys)] if len(keys) <= _CHUNK else []
            rows = await self._connection.execute(
                statement.where(SecretReferenceRow.folder.in_(some), *of_keys)
            )
            for row in rows:
                folder = folders[row.folder]
                if row.named in named[folder]:
                    found.append(_referrer(row, (folder, row.named)))
        return found


def _referrer(row: Result[*tuple[Any, ...]], names: tuple[NamedFolder, str] | None) -> Referrer:
    return Referrer(row.project_id, row.slug, row.path, row.key, row.owner, names)


def _digest(target: ReferenceTarget) -> str:
    return folder_digest(target.project_slug, target.location.environment, target.location.path)
