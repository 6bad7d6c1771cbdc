"""Grants of one member, made at the same moment by several writers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.ids import IdentityId, new_uuid
from keybearer.domain import grants
from keybearer.domain.authorization import OrganizationRole
from keybearer.domain.errors import InvalidError
from keybearer.domain.grants import ProjectGrants
from keybearer.interface.grants import CreateGrant, ListGrants
from keybearer.store.engines import database_url
from keybearer.store.records import Identity, Membership, Project
from keybearer.store.tables.grants import Grant
from support.async_waiting import until
from support.service_domain import ServiceDomain, service_domain
from tools.local.postgres import PostgresServer


@pytest.fixture
def name(postgres: PostgresServer) -> Iterator[str]:
    name = postgres.create()
    yield name
    postgres.drop(name)


async def member_of(domain: ServiceDomain, project: Project) -> IdentityId:
    now = SystemClock().now()
    identity_id = IdentityId(new_uuid())
    identity = Identity(
        identity_id, domain.admin.organization_id, "m", OrganizationRole.NO_ACCESS, 1, now, now
    )
    async with domain.database.writing() as unit:
        await unit.identities.add(identity)
        membership = Membership(new_uuid(), project.id, identity_id, ("no-access",), now, now)
        await unit.projects.add_membership(membership)
    return identity_id


async def test_they_are_counted_one_after_the_other(
    tmp_path: Path, postgres: PostgresServer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grants, "_MAX_PER_MEMBER", 1)
    statement = "SELECT datname FROM pg_stat_activity WHERE wait_event_type = 'Lock'"

    async def both_wait() -> bool:
        waiting = await asyncio.to_thread(postgres.execute, "postgres", statement)
        return waiting.split().count(name) == 2

    async with service_domain(tmp_path, database_url(postgres.url(name))) as domain:
        project = await domain.project("grants")
        member = await member_of(domain, project)
        granting = ProjectGrants(domain.database, SystemClock())

        async def grant(path: str) -> Grant:
            new = CreateGrant(
                member, project_id=project.id, actions=("read",), environment="dev", secret_path=path
            )
            return await granting.create(domain.admin, new)

        async with domain.database.writing() as unit:
            await unit.move_project(project.id)
            giving = [asyncio.create_task(grant(path)) for path in ("/a", "/b")]
            await until(both_wait, awaited="two writers that wait for the project")
        answered = await asyncio.gather(*giving, return_exceptions=True)
        assert sorted(type(one).__name__ for one in answered) == [Grant.__name__, InvalidError.__name__]
        kept = await granting.list(domain.admin, ListGrants(project_id=project.id))
        assert [one.id for one in answered if isinstance(one, Grant)] == [one.id for one in kept]
