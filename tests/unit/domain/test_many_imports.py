"""Imports by the thousand: bounded for one request, all ways together, and others go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from keybearer.base.clock import SystemClock
from keybearer.base.ids import EnvironmentSlug, FolderPath, new_uuid
from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets import dependents, imports
from keybearer.domain.secrets.changes import NewSecret
from keybearer.domain.secrets.dependents import TooManyDependentsError, dependent_changes
from keybearer.domain.secrets.questions import GetSecret, ListSecrets, SecretListing
from keybearer.store.records import Project
from keybearer.store.revisions import ChangeKind, ListChange
from keybearer.store.tables.imports import SecretImport
from keybearer.wire.limits import IMPORT_STEPS_MAX
from support.service_domain import ServiceDomain, at, service_domain

FOLDERS = 40
DEV = EnvironmentSlug("dev")
TOO_MANY = "too many imports: at most [0-9]+ are followed"


@dataclass(frozen=True)
class Circle:
    """Folders of which each imports the half of the others that follows it; /top imports all, /one a single one."""

    domain: ServiceDomain
    project: Project


@pytest.fixture
async def circle(tmp_path: Path) -> AsyncIterator[Circle]:
    async with service_domain(tmp_path) as domain:
        project = await domain.project("circle")
        names = [f"/f{number}" for number in range(FOLDERS)]
        ids = {name: await domain.folder(project, name) for name in [*names, "/top", "/one"]}
        leading = {
            name: [names[(number + step) % FOLDERS] for step in range(1, FOLDERS // 2)]
            for number, name in enumerate(names)
        }
        leading |= {"/top": names, "/one": names[1:2]}
        await domain.writing.create(domain.admin, at(project, "/f0"), [NewSecret("K", "cnry-k")])
        await store(domain, project, {ids[name]: sources for name, sources in leading.items()})
        yield Circle(domain, project)


async def store(domain: ServiceDomain, project: Project, leading: dict[str, list[str]]) -> None:
    """Have folders import others, in one transaction."""
    now = SystemClock().now()
    async with domain.database.writing() as unit:
        environment = await unit.projects.environment(project.id, DEV)
        assert environment is not None
        for folder_id, sources in leading.items():
            for position, path in enumerate(sources, start=1):
                await unit.imports.add(
                    SecretImport(
                        id=new_uuid(),
                        folder_id=folder_id,
                        environment_id=environment.id,
                        path=FolderPath(path),
                        position=position,
                        is_replication=False,
                        version=1,
                        created_at=now,
                        updated_at=now,
                    )
                )


def listing(circle: Circle, path: str, *, recursive: bool = False) -> Coroutine[Any, Any, object]:
    query = ListSecrets(
        at(circle.project, path), recursive=recursive, expand=True, view_value=True, include_imports=True
    )
    return circle.domain.reading.list(circle.domain.admin, query)


async def test_a_list_whose_imports_meet_again_and_again_is_refused(circle: Circle) -> None:
    with pytest.raises(InvalidError, match=TOO_MANY):
        await listing(circle, "/top")
    query = GetSecret(
        at(circle.project, "/top"),
        "K",
        personal=False,
        version=None,
        expand=True,
        view_value=True,
        include_imports=True,
    )
    with pytest.raises(InvalidError, match=TOO_MANY):
        await circle.domain.reading.get(circle.domain.admin, query)


async def test_a_list_within_the_bound_is_answered(circle: Circle) -> None:
    found = await listing(circle, "/one")
    assert isinstance(found, SecretListing)
    assert [[one.secret.key for one in block.secrets] for block in found.imports] == [["K"]]


async def test_no_more_imports_are_read_than_are_followed(
    circle: Circle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "IMPORT_STEPS_MAX", 100)
    async with circle.domain.database.reading() as unit:
        read = await unit.imports.leading_from(
            circle.project.id, DEV, FolderPath("/"), recursive=True, limit=101
        )
    assert len(read) == 101
    with pytest.raises(InvalidError, match=TOO_MANY):
        await listing(circle, "/", recursive=True)


async def test_others_go_on_while_imports_are_followed(circle: Circle) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    with pytest.raises(InvalidError, match=TOO_MANY):
        await listing(circle, "/top")
    other.cancel()
    assert turns > IMPORT_STEPS_MAX // 1000


async def test_what_follows_from_a_change_is_looked_for_in_bounds(
    circle: Circle, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = ListChange(ChangeKind.UPDATED, circle.project.id, DEV, FolderPath("/f0"), "K")
    async with circle.domain.database.reading() as unit:
        found = await dependent_changes(unit, [change])
        assert {change.path for change in found} == {f"/f{n}" for n in range(FOLDERS)} | {"/top", "/one"}
        # More ways lead there than there are folders.
        monkeypatch.setattr(dependents, "_MAX_STEPS", len(found) + 1)
        with pytest.raises(TooManyDependentsError):
            await dependent_changes(unit, [change])


@pytest.mark.parametrize("count", [2, 30])
async def test_one_imported_secret_takes_as_many_statements_from_many_folders_as_from_few(
    tmp_path: Path, count: int
) -> None:
    async with service_domain(tmp_path) as domain:
        project = await domain.project("leaves")
        top = await domain.folder(project, "/top")
        names = [f"/leaf{number}" for number in range(count)]
        for name in names:
            await domain.folder(project, name)
            await domain.writing.create(domain.admin, at(project, name), [NewSecret(f"K{name[1:]}", name)])
        await store(domain, project, {top: names})
        query = GetSecret(
            at(project, "/top"),
            "Kleaf1",
            personal=False,
            version=None,
            expand=True,
            view_value=True,
            include_imports=True,
        )
        await domain.reading.get(domain.admin, query)  # remembers marks and keys

        statements: list[str] = []

        def see(*given: object) -> None:
            statements.append(str(given[2]))

        event.listen(Engine, "before_cursor_execute", see)
        try:
            found = await domain.reading.get(domain.admin, query)
        finally:
            event.remove(Engine, "before_cursor_execute", see)
    assert found.value == "/leaf1"
    # The project, the secret of the folder itself, the folder, its imports, their folders, the secret.
    assert len(statements) == 6, statements
