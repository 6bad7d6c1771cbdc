"""Secrets whose names have a form that new ones may not have: they are read, changed and removed as before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from keybearer.base.ids import new_uuid
from keybearer.domain.errors import NotFoundError, SchemaViolationError
from keybearer.domain.secrets.changes import ChangedSecret, NewSecret, OnMissing
from keybearer.domain.secrets.questions import GetSecret, SecretListing
from keybearer.store.records import Project
from keybearer.store.secret_places import Location
from support.service_domain import ServiceDomain, at, service_domain

OLDER = ["F\nINJECTED=1", "C=D", "\x1b]0;title"]


@pytest.fixture
async def domain(tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path) as made:
        yield made


@pytest.fixture
async def project(domain: ServiceDomain) -> Project:
    """Return a project with a secret of each of these names, as an earlier version stored them."""
    project = await domain.project("older")
    await domain.writing.create(domain.admin, at(project), [NewSecret("NEW", "cnry-new")])
    async with domain.database.writing() as unit:
        await unit.move_project(project.id)
        place = Location(at(project).environment, at(project).path, "NEW")
        (new,) = await unit.secrets.at(project.id, [place])
        older = [replace(new, id=new_uuid(), key=name, value=f"cnry-{name}") for name in OLDER]
        await unit.secrets.insert(project.id, older)
    return project


async def keys(domain: ServiceDomain, project: Project) -> set[str]:
    listing = await domain.listed(project, "/")
    assert isinstance(listing, SecretListing)
    return {shown.secret.key for shown in listing.secrets}


async def change(domain: ServiceDomain, project: Project, changed: ChangedSecret) -> None:
    await domain.writing.update(domain.admin, at(project), [changed], on_missing=OnMissing.FAIL)


async def test_they_are_listed(domain: ServiceDomain, project: Project) -> None:
    assert await keys(domain, project) == {"NEW", *OLDER}


@pytest.mark.parametrize("name", OLDER)
async def test_they_are_read_changed_renamed_and_removed(
    domain: ServiceDomain, project: Project, name: str
) -> None:
    await change(domain, project, ChangedSecret(name, value="cnry-changed"))
    query = GetSecret(
        at(project),
        name,
        personal=False,
        version=None,
        expand=True,
        view_value=True,
        include_imports=True,
    )
    assert (await domain.reading.get(domain.admin, query)).value == "cnry-changed"
    await change(domain, project, ChangedSecret(name, new_key=name))
    await change(domain, project, ChangedSecret(name, new_key="BETTER"))
    assert name not in await keys(domain, project)
    with pytest.raises(SchemaViolationError, match="cannot contain"):
        await change(domain, project, ChangedSecret("BETTER", new_key=name))
    other = next(one for one in OLDER if one != name)
    await domain.writing.delete(domain.admin, at(project), [other])
    assert other not in await keys(domain, project)


@pytest.mark.parametrize("name", OLDER)
async def test_new_ones_are_refused_also_where_an_update_would_make_them(
    domain: ServiceDomain, project: Project, name: str
) -> None:
    elsewhere = at(project, "/", "prod")
    with pytest.raises(SchemaViolationError, match="cannot contain"):
        await domain.writing.create(domain.admin, elsewhere, [NewSecret(name, "cnry-v")])
    with pytest.raises(SchemaViolationError, match="cannot contain"):
        await domain.writing.update(
            domain.admin, elsewhere, [ChangedSecret(name, value="cnry-v")], on_missing=OnMissing.UPSERT
        )
    with pytest.raises(NotFoundError):
        await domain.writing.delete(domain.admin, elsewhere, [name])
