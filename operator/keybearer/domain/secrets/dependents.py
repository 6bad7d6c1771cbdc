"""Which other folders' lists a change reaches, through imports and references (design.md section 3).

A changed secret changes every secret that names it, wherever it lives, and so on; and what changes in a folder
changes the list of every folder that imports it, and so on. A reference sees no imported secret, so that an
import changes lists alone. Found without opening a value: from what was noted when the texts were stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from keybearer.base.errors import KeybearerError
from keybearer.base.ids import EnvironmentSlug, FolderPath, OrganizationId, ProjectId
from keybearer.base.steps import StepBudget
from keybearer.store.records import Project
from keybearer.store.references import NamedFolder, Referrer
from keybearer.store.revisions import ChangeKind, ListChange
from keybearer.store.unit import UnitOfWork

__all__ = ["TooManyDependentsError", "dependent_changes"]

_MAX_CHANGES = 100_000
_MAX_STEPS = 500_000
"""Imports and references that are looked at, those that lead to nothing new as well."""

_Place = tuple[ProjectId, EnvironmentSlug, FolderPath]


class TooManyDependentsError(KeybearerError):
    """A change reaches more lists than are followed: whoever asks must take everything for changed."""


async def dependent_changes(unit: UnitOfWork, changes: Sequence[ListChange]) -> Sequence[ListChange]:
    """Return what follows from these changes in lists, the changes themselves left out.

    A secret that names a changed one is `UPDATED`; a folder that shows others' changes has its `IMPORTS`
    changed. It may name more than really changed: a circle, an eleventh level, a key that a nearer one hides.

    Raises:
        TooManyDependentsError: there are too many.
    """
    search = _Search(unit, changes)
    fresh = list(changes)
    while fresh:
        fresh = await search.named_by(fresh)
    await search.import_all()
    return search.found


class _Search:
    """The changes known so far, and which of them were not asked for."""

    def __init__(self, unit: UnitOfWork, changes: Sequence[ListChange]) -> None:
        self._unit = unit
        self._projects: dict[ProjectId, Project | None] = {}
        self._organizations: set[OrganizationId] = set()
        # Per key and reader; kinds don't matter to those who refer to it.
        self._secrets = {(_place(change), change.key, change.owner) for change in changes if change.key}
        self._places = dict.fromkeys(_place(change) for change in changes)
        self._listed = {_place(change) for change in changes if change.kind is ChangeKind.IMPORTS}
        self._steps = StepBudget(
            _MAX_STEPS,
            lambda: TooManyDependentsError("a change leads through too many imports and references"),
        )
        self.found: list[ListChange] = []

    async def named_by(self, fresh: Sequence[ListChange]) -> list[ListChange]:
        """Return the secrets that name any of the fresh ones, as far as they are new."""
        await self._learn_projects({change.project_id for change in fresh})
        named: dict[OrganizationId, dict[NamedFolder, dict[str, set[str]]]] = {}
        for change in fresh:
            project = self._projects[change.project_id]
            if project is None or not change.key:
                continue
            folder = NamedFolder(project.id, project.slug, change.environment, change.path)
            keys = named.setdefault(project.organization_id, {}).setdefault(folder, {})
            keys.setdefault(change.key, set()).add(change.owner)
        new: list[ListChange] = []
        for organization_id, folders in named.items():
            for referrer in await self._unit.references.referrers(organization_id, folders):
                await self._step()
                if referrer.names is None:
                    continue
                folder, key = referrer.names
                # What changed for one user changes nothing in the personal secret of another.
                owners = {
                    owner or referrer.owner
                    for owner in folders[folder][key]
                    if not owner or referrer.owner in ("", owner)
                }
                for owner in owners:
                    new += self._add(referrer, owner)
            if organization_id not in self._organizations:
                self._organizations.add(organization_id)
                for built in await self._unit.references.unforeseeable(organization_id):
                    await self._step()
                    new += self._add(built, built.owner)
        return new

    async def import_all(self) -> None:
        """Add the folders that import any place with a change, directly or through others."""
        fresh: Iterable[_Place] = list(self._places)
        while fresh:
            of_project: dict[ProjectId, list[tuple[EnvironmentSlug, FolderPath]]] = {}
            for project_id, environment, path in fresh:
                of_project.setdefault(project_id, []).append((environment, path))
            fresh = []
            for project_id, places in of_project.items():
                for environment, path in sorted(await self._unit.imports.importers(project_id, places)):
                    await self._step()
                    place = (project_id, environment, path)
                    if place not in self._listed:
                        self._listed.add(place)
                        self._append(ListChange(ChangeKind.IMPORTS, *place))
                        fresh.append(place)

    async def _step(self) -> None:
        """Count an import or reference, and let others go on now and then."""
        if self._steps.take():
            await asyncio.sleep(0)

    def _add(self, secret: Referrer, owner: str) -> list[ListChange]:
        change = ListChange(
            ChangeKind.UPDATED, secret.project_id, secret.environment, secret.path, secret.key, owner
        )
        known = (_place(change), change.key, owner)
        if known in self._secrets:
            return []
        self._secrets.add(known)
        self._places[_place(change)] = None
        self._append(change)
        return [change]

    def _append(self, change: ListChange) -> None:
        if len(self.found) >= _MAX_CHANGES:
            raise TooManyDependentsError("a change reaches too many lists")
        self.found.append(change)

    async def _learn_projects(self, project_ids: set[ProjectId]) -> None:
        unknown = project_ids - self._projects.keys()
        if unknown:
            self._projects.update(dict.fromkeys(unknown))
            self._projects.update({item.id: item for item in await self._unit.projects.by_ids(unknown)})


def _place(change: ListChange) -> _Place:
    return change.project_id, change.environment, change.path
