"""What the names of projects and environments in stored texts stood for when these were written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Select, bindparam, delete, exists, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import EnvironmentSlug, ProjectId
from keybearer.base.runs import in_chunks
from keybearer.store.columns import select_record
from keybearer.store.records import Project
from keybearer.store.secret_places import Location
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, ProjectRow
from keybearer.store.tables.secrets import ReferenceBindingRow, SecretRow

__all__ = ["ANY_NAME", "Binding", "Loose", "NamedEnvironment", "ReferenceBindings"]

NamedEnvironment = tuple[str, EnvironmentSlug]
"""A project's slug, empty for the text's own, and an environment's."""

ANY_NAME: NamedEnvironment = ("*", EnvironmentSlug("*"))
"""Stands for what a text of an earlier version names beside what is known: nothing of that was there."""

_CHUNK = 400


@dataclass(frozen=True, slots=True)
class Binding:
    """A name in a secret's text, and what it stood for; see `ReferenceBindingRow`."""

    secret_id: str
    project_slug: str
    environment: EnvironmentSlug
    project_id: ProjectId | None
    environment_id: str | None
    is_loose: bool


@dataclass(frozen=True, slots=True)
class Loose:
    """A name that doesn't stand for what it did, in a text stored at `holder`.

    `leads_to` is how what was meant is called now, None where it is gone; `is_bound` False where it never was.
    """

    secret_id: str
    holder: Location
    named: NamedEnvironment
    is_bound: bool
    leads_to: NamedEnvironment | None


# Asked for with each text that changes: their statements are built once.
_OF_SECRETS = ReferenceBindingRow.secret_id.in_(bindparam("secrets", expanding=True))
_BINDINGS = select_record(ReferenceBindingRow, Binding).where(_OF_SECRETS)
_FORGET = delete(ReferenceBindingRow).where(_OF_SECRETS)
_ADD = insert(ReferenceBindingRow)
_LOOSE: Select[*tuple[Any, ...]] = (
    select(
        ReferenceBindingRow.secret_id,
        EnvironmentRow.slug,
        FolderRow.path,
        SecretRow.key,
        ReferenceBindingRow.project_slug,
        ReferenceBindingRow.environment,
        ReferenceBindingRow.environment_id,
    )
    .join(SecretRow, SecretRow.id == ReferenceBindingRow.secret_id)
    .join(FolderRow, FolderRow.id == SecretRow.folder_id)
    .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
    .where(ReferenceBindingRow.is_loose, SecretRow.project_id == bindparam("project"))
)
_STANDS_FOR_IT = exists(
    select(EnvironmentRow.id)
    .join(ProjectRow, ProjectRow.id == EnvironmentRow.project_id)
    .where(
        EnvironmentRow.id == ReferenceBindingRow.environment_id,
        EnvironmentRow.slug == ReferenceBindingRow.environment,
        or_(ReferenceBindingRow.project_slug == "", ReferenceBindingRow.project_slug == ProjectRow.slug),
    )
)


class ReferenceBindings:
    """Repository of bindings."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def put(self, replaced: Collection[str], bindings: Sequence[Binding]) -> None:
        """Store bindings, those of the secrets of these ids in place of what was stored."""
        for some in in_chunks(replaced, _CHUNK):
            await self._connection.execute(_FORGET, {"secrets": some})
        if bindings:
            await self._connection.execute(_ADD, [asdict(one) for one in bindings])

    async def of_secrets(self, secret_ids: Iterable[str]) -> list[Binding]:
        """Return the bindings of these secrets."""
        found: list[Binding] = []
        for some in in_chunks(secret_ids, _CHUNK):
            rows = await self._connection.execute(_BINDINGS, {"secrets": some})
            found += [Binding(*row) for row in rows]
        return found

    async def meant(
        self, project: Project, names: Iterable[NamedEnvironment]
    ) -> dict[NamedEnvironment, tuple[ProjectId, str]]:
        """Return the ids of project and environment for those of the names that a text of the project can name."""
        slugs = {slug for slug, _ in names}
        statement: Select[*tuple[Any, ...]] = (
            select(
                ProjectRow.id, ProjectRow.slug, EnvironmentRow.id.label("environment_id"), EnvironmentRow.slug
            )
            .join(EnvironmentRow, EnvironmentRow.project_id == ProjectRow.id)
            .where(ProjectRow.organization_id == project.organization_id)
            .where(or_(ProjectRow.slug.in_(slugs), ProjectRow.id == project.id))
        )
        found: dict[NamedEnvironment, tuple[ProjectId, str]] = {}
        for project_id, project_slug, environment_id, environment in await self._connection.execute(
            statement
        ):
            found[project_slug, environment] = (project_id, environment_id)
            if project_id == project.id:
                found["", environment] = (project_id, environment_id)
        return found

    async def loose(self, project_id: ProjectId) -> list[Loose]:
        """Return the names in the project's texts that don't stand for what they did."""
        rows = (await self._connection.execute(_LOOSE, {"project": project_id})).all()
        if not rows:
            return []
        names = await self._present_names({row.environment_id for row in rows if row.environment_id})
        return [
            Loose(
                secret_id,
                Location(environment, path, key),
                (named_project, named_environment),
                environment_id is not None,
                _seen_from(project_id, names.get(environment_id)),
            )
            for secret_id, environment, path, key, named_project, named_environment, environment_id in rows
        ]

    async def former_names(
        self, project_ids: Iterable[ProjectId]
    ) -> dict[tuple[ProjectId, EnvironmentSlug], set[NamedEnvironment]]:
        """Return how texts call the environments of these projects other than by their present names."""
        statement: Select[*tuple[Any, ...]] = (
            select(
                EnvironmentRow.project_id,
                EnvironmentRow.slug,
                ReferenceBindingRow.project_slug,
                ReferenceBindingRow.environment,
            )
            .distinct()
            .join(EnvironmentRow, EnvironmentRow.id == ReferenceBindingRow.environment_id)
            .where(ReferenceBindingRow.is_loose, ReferenceBindingRow.project_id.in_(list(project_ids)))
        )
        found: dict[tuple[ProjectId, EnvironmentSlug], set[NamedEnvironment]] = {}
        for project_id, slug, named_project, named_environment in await self._connection.execute(statement):
            found.setdefault((project_id, slug), set()).add((named_project, named_environment))
        return found

    async def refresh(self, project_id: ProjectId) -> None:
        """Note which names stand for what they did in this project, after a slug of it changed or went."""
        await self._connection.execute(
            update(ReferenceBindingRow)
            .where(ReferenceBindingRow.project_id == project_id)
            .values(is_loose=~_STANDS_FOR_IT)
        )

    async def _present_names(
        self, environment_ids: Iterable[str]
    ) -> Mapping[str, tuple[ProjectId, str, EnvironmentSlug]]:
        found: dict[str, tuple[ProjectId, str, EnvironmentSlug]] = {}
        for some in in_chunks(environment_ids, _CHUNK):
            statement: Select[*tuple[Any, ...]] = (
                select(
                    EnvironmentRow.id, ProjectRow.id.label("project_id"), ProjectRow.slug, EnvironmentRow.slug
                )
                .join(ProjectRow, ProjectRow.id == EnvironmentRow.project_id)
                .where(EnvironmentRow.id.in_(some))
            )
            for environment_id, project_id, slug, environment in await self._connection.execute(statement):
                found[environment_id] = (project_id, slug, environment)
        return found


def _seen_from(
    project_id: ProjectId, name: tuple[ProjectId, str, EnvironmentSlug] | None
) -> NamedEnvironment | None:
    if name is None:
        return None
    of_project, slug, environment = name
    return ("" if of_project == project_id else slug), environment
