"""The gate that nouns of a project share: opened, allowed, moved, audited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from keybearer.base.ids import IdentityId
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, OrganizationRole, Subject
from keybearer.domain.errors import ForbiddenError, NotFoundError
from keybearer.domain.project_gate import ProjectGate, changed
from keybearer.store.audit import AuditFilter
from support.service_domain import ServiceDomain, service_domain

LATER = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Record:
    id: str
    slug: str
    color: str | None
    updated_at: datetime


@dataclass(frozen=True)
class Change:
    id: str
    slug: str | None = None
    color: str | None = None
    elsewhere: str | None = "x"


@pytest.fixture
async def domain(tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path) as opened:
        yield opened


def gate_of(domain: ServiceDomain) -> ProjectGate:
    return ProjectGate(domain.database, Subject.TAGS, {Action.CREATE: EventType.CREATE_TAG})


async def logged(domain: ServiceDomain) -> list[tuple[str, object]]:
    async with domain.database.reading() as unit:
        found = await unit.audit_log.listed(
            AuditFilter(domain.admin.organization_id, event_types=("create-tag",)), offset=0, limit=10
        )
    return [(line.event_type, line.details.get("slug")) for line in found]


async def test_a_change_moves_the_project_and_leaves_a_line(domain: ServiceDomain) -> None:
    project = await domain.project("shop")
    async with gate_of(domain).changing(domain.admin, project.id, Action.CREATE) as entered:
        entered.details["slug"] = "red"
        assert entered.project_id == project.id
        moved = entered.unit.changes.revisions[project.id]
    assert moved > project.revision
    assert await logged(domain) == [("create-tag", "red")]


async def test_a_change_that_fails_leaves_nothing(domain: ServiceDomain) -> None:
    project = await domain.project("shop")
    with pytest.raises(ZeroDivisionError):
        async with gate_of(domain).changing(domain.admin, project.id, Action.CREATE):
            raise ZeroDivisionError
    assert await logged(domain) == []
    async with domain.database.reading() as unit:
        assert (await unit.revisions([project.id]))[project.id] == project.revision


async def test_nobody_comes_in_who_may_not_or_to_what_is_not_there(domain: ServiceDomain) -> None:
    project = await domain.project("shop")
    nobody = replace(domain.admin, identity_id=IdentityId("i"), organization_role=OrganizationRole.NO_ACCESS)
    gate = gate_of(domain)
    for enter in (gate.reading, partial(gate.changing, action=Action.CREATE)):
        with pytest.raises(ForbiddenError, match="on tags"):
            async with enter(nobody, project.id):
                pytest.fail("somebody came in who may not")
        with pytest.raises(NotFoundError):
            async with enter(domain.admin, "nowhere"):
                pytest.fail("somebody came in where nothing is")
    assert await logged(domain) == []


def test_a_record_changes_by_what_the_command_gives() -> None:
    record = Record("1", "red", "#f00", LATER.replace(year=2026))
    assert changed(record, Change("other", slug="blue"), LATER) == Record("1", "blue", "#f00", LATER)
    assert changed(record, Change("1"), LATER) == replace(record, updated_at=LATER)
