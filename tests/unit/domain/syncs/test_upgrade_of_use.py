"""A database from before there was a right to connect: what is in use goes on, and the log says what is closed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from structlog.testing import capture_logs

from keybearer.base.ids import new_uuid
from keybearer.domain.authorization import ProjectRole
from keybearer.store.certificate_policies import CertificatePolicy
from keybearer.store.database import Database
from keybearer.store.migrate import migration_config
from keybearer.store.records import Project
from keybearer.store.sealing.keyring import Keyring
from support.databases import OwnDatabase
from support.sync_scene import SyncScene
from support.unlocking import unlock_with
from support.upgrade.earlier_seals import seal_as_before

pytestmark = pytest.mark.every_database

BEFORE = "0018"
"""The last revision in which everybody who read a connection used it."""


def go_back(connection: Connection, keyring: Keyring) -> None:
    seal_as_before(connection, keyring)
    command.downgrade(migration_config(connection), BEFORE)


async def test_connections_are_for_the_projects_that_use_them_and_owners_go_on(
    scene: SyncScene, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    shared, spare = await scene.connection(project), await scene.connection(project, "spare")
    own = await scene.connection(project, "own")
    member = await scene.member(project)
    viewer = await scene.member(project, ProjectRole.VIEWER)
    now = scene.clock.now()
    policy = CertificatePolicy(new_uuid(), project.id, "any", None, {}, now, now, "members")
    async with scene.database.writing() as unit:
        for connection_id in (shared, spare):
            connection = await unit.app_connections.get(connection_id)
            assert connection is not None
            await unit.app_connections.update(
                replace(connection, project_id=None, allowed_project_ids=(), allowed_places=("nowhere",))
            )
        await unit.certificate_policies.add(policy)
    await scene.put(project, A="cnry-1")
    first = await scene.sync(project, "one", name="first", owner=member)
    second = await scene.sync(project, "two", name="second", owner=viewer)
    third = await scene.sync(project, "three", name="third", owner=member, connection="own")
    url = own_database.engine_url(tmp_path)
    engine = create_async_engine(url)
    async with engine.begin() as connection_of_old:
        await connection_of_old.run_sync(go_back, scene.database.keyring)
    await engine.dispose()

    upgraded = Database(url, scene.clock)
    with capture_logs() as logs:
        await upgraded.prepare()
    scene.database.unlock(Keyring(scene.database.keyring.roots))
    await unlock_with(upgraded, scene.database.keyring)

    told = {line["event"]: line for line in logs}
    assert told["app_connection_is_for_its_projects_now"]["connection_id"] == shared
    assert told["app_connection_is_for_its_projects_now"]["project_ids"] == [project.id]
    assert told["app_connection_is_for_admins_now"]["connection_id"] == spare
    assert told["owner_of_syncs_may_connect_by_a_grant"]["identity_id"] == viewer
    assert told["certificate_policies_are_for_admins_now"]["policies"] == 1
    async with upgraded.reading() as unit:
        terms = {}
        for connection_id in (shared, spare, own):
            found = await unit.app_connections.get(connection_id)
            assert found is not None
            terms[connection_id] = (found.allowed_project_ids, found.allowed_places)
        kept = await unit.certificate_policies.get(policy.id)
    assert terms == {shared: ((project.id,), None), spare: (None, None), own: (None, None)}
    assert kept is not None
    assert kept.profiles_bound_by == "admins"
    async with upgraded.following(), scene.running(upgraded):
        await scene.succeeded(first, second, third)
    await upgraded.close()
