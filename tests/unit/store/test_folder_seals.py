"""A change of secrets and the seal of their folder: one statement, and none over somebody else's change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.secrets.changes import NewSecret
from keybearer.domain.secrets.questions import SecretListing
from keybearer.store.failures import RaceError
from keybearer.store.secret_places import Location
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, at, service_domain

pytestmark = pytest.mark.every_database


@pytest.fixture
async def domain(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path, own_database.engine_url(tmp_path)) as opened:
        yield opened


async def test_a_new_secret_changes_the_row_of_its_folder_once_and_reads_its_seal_once(
    domain: ServiceDomain,
) -> None:
    project = await domain.project("once")
    await domain.writing.create(domain.admin, at(project), [NewSecret("FIRST", "value")])
    seen: list[str] = []

    def see(*arguments: object) -> None:
        seen.append(str(arguments[2]))

    event.listen(Engine, "before_cursor_execute", see)
    try:
        await domain.writing.create(domain.admin, at(project), [NewSecret("SECOND", "value")])
    finally:
        event.remove(Engine, "before_cursor_execute", see)

    assert sum(statement.startswith("UPDATE folders") for statement in seen) == 1
    assert sum(statement.startswith("SELECT") and "folders.seal" in statement for statement in seen) == 1
    listing = await domain.listed(project, "/")
    assert isinstance(listing, SecretListing)
    assert [shown.secret.key for shown in listing.secrets] == ["FIRST", "SECOND"]


async def test_a_seal_that_another_writer_changed_since_it_was_read_is_not_overwritten(
    domain: ServiceDomain,
) -> None:
    project = await domain.project("met")
    [shown] = await domain.writing.create(domain.admin, at(project), [NewSecret("KEY", "value")])
    place = Location(EnvironmentSlug("dev"), FolderPath("/"), "KEY")

    async with domain.database.writing() as unit:
        [found] = await unit.secrets.at(project.id, [place])
        await unit.secrets._connection.execute(
            text("UPDATE folders SET seal = :seal WHERE id = :id"),
            {"seal": b"of another writer", "id": shown.secret.folder_id},
        )
        with pytest.raises(RaceError, match="changed at the same moment"):
            await unit.secrets.update(project.id, [found])
