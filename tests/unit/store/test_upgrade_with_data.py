"""A database of the first version, with rows in every table, becomes one of this version and is read through it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from alembic import command
from sqlalchemy import Connection, MetaData, inspect
from sqlalchemy.ext.asyncio import create_async_engine

from keybearer.base.clock import SystemClock
from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId, ProjectId
from keybearer.store.database import Database
from keybearer.store.engines import database_url, sqlite_url
from keybearer.store.migrate import migration_config
from keybearer.store.records import SecretDetails
from keybearer.store.sealing.envelope import Plaintext, SealingKey, associate, key_name
from keybearer.store.sealing.keyring import Keyring, data_key_identity, server_key_identity
from keybearer.store.sealing.root_key import RootKeys
from support.databases import OwnDatabase
from tools.local.postgres import PostgresServer

pytestmark = pytest.mark.every_database

ROOT = SealingKey(key_name(UUID(int=1), 1), b"r" * 32)
DATA = SealingKey(key_name(UUID(int=2), 1), b"d" * 32)
SIGNING = SealingKey(key_name(UUID(int=3), 1), b"s" * 32)
NOW = 1_767_322_800_000
ENVELOPE = DATA.seal(Plaintext(b"cnry-value"), associate("secret value", "project", "secret", 1))

# One row of every table of 0001, as that version wrote them.
ROWS: dict[str, dict[str, object]] = {
    "organizations": {"id": "home", "name": "Home", "slug": "home", "names_revision": 1, "created_at": NOW},
    "identities": {
        "id": "identity",
        "organization_id": "home",
        "name": "admin",
        "role": "admin",
        "permission_revision": 1,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "universal_auths": {
        "identity_id": "identity",
        "id": "auth",
        "client_id": "client",
        "access_token_ttl": 60,
        "access_token_max_ttl": 60,
        "access_token_num_uses_limit": 0,
        "access_token_period": 0,
        "access_token_trusted_ips": ["0.0.0.0/0"],
        "client_secret_trusted_ips": ["0.0.0.0/0"],
        "lockout_enabled": True,
        "lockout_threshold": 3,
        "lockout_duration_seconds": 300,
        "lockout_counter_reset_seconds": 30,
        "failures": 0,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "client_secrets": {
        "id": "client-secret",
        "identity_id": "identity",
        "description": "",
        "prefix": "abcd",
        "digest": b"d" * 32,
        "num_uses": 0,
        "num_uses_limit": 0,
        "ttl": 0,
        "revoked": False,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "access_tokens": {
        "id": "token",
        "identity_id": "identity",
        "auth_method": "universal-auth",
        "client_secret_id": "client-secret",
        "ttl": 60,
        "max_ttl": 60,
        "period": 0,
        "num_uses": 0,
        "num_uses_limit": 0,
        "trusted_ips": [],
        "created_at": NOW,
    },
    "projects": {
        "id": "project",
        "organization_id": "home",
        "name": "P",
        "slug": "p-slug",
        "type": "secret-manager",
        "auto_capitalization": False,
        "has_delete_protection": False,
        "revision": 7,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "environments": {
        "id": "environment",
        "project_id": "project",
        "name": "Development",
        "slug": "dev",
        "position": 1,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "project_memberships": {
        "id": "membership",
        "project_id": "project",
        "identity_id": "identity",
        "roles": ["viewer"],
        "created_at": NOW,
        "updated_at": NOW,
    },
    "tags": {
        "id": "tag",
        "project_id": "project",
        "slug": "blue",
        "name": "Blue",
        "created_at": NOW,
        "updated_at": NOW,
    },
    "folders": {
        "id": "folder",
        "environment_id": "environment",
        "name": "root",
        "path": "/",
        "version": 1,
        "is_reserved": False,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "server_keys": {
        "name": "token signing",
        "id": str(UUID(int=3)),
        "wrapped": ROOT.wrap(SIGNING, server_key_identity("token signing")),
        "created_at": NOW,
    },
    "data_keys": {
        "id": str(UUID(int=2)),
        "project_id": "project",
        "version": 1,
        "wrapped": ROOT.wrap(DATA, data_key_identity("project")),
        "created_at": NOW,
    },
    "secrets": {
        "id": "secret",
        "project_id": "project",
        "folder_id": "folder",
        "key": "A",
        "owner": "",
        "version": 1,
        "value": ENVELOPE,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "secret_versions": {
        "secret_id": "secret",
        "version": 1,
        "key": "A",
        "value": ENVELOPE,
        "updated_at": NOW,
    },
    "secret_tags": {"secret_id": "secret", "tag_id": "tag"},
    "secret_references": {"secret_id": "secret", "folder": "f" * 32, "key": "B"},
}


@pytest.fixture
def old(database_kind: str, request: pytest.FixtureRequest) -> Iterator[OwnDatabase]:
    """Yield a database without tables."""
    if database_kind == "sqlite":
        yield OwnDatabase()
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create(empty=True)
    yield OwnDatabase(server, name)
    server.drop(name)


def _fill(connection: Connection) -> None:
    command.upgrade(migration_config(connection), "0001")
    tables = MetaData()
    tables.reflect(connection)
    assert set(inspect(connection).get_table_names()) == {*ROWS, "alembic_version"}
    for name, row in ROWS.items():
        connection.execute(tables.tables[name].insert().values(row))


async def test_rows_of_the_first_version_are_read_by_this_one(old: OwnDatabase, tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "keybearer.db") if old.url is None else database_url(old.url)
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(_fill)
    await engine.dispose()
    database = Database(url, SystemClock())
    await database.prepare()
    database.unlock(Keyring(RootKeys(ROOT)))
    async with database.reading() as unit:
        await unit.root_keys.require_openable()
        secrets = await unit.secrets.listed(
            ProjectId("project"),
            EnvironmentSlug("dev"),
            FolderPath("/"),
            recursive=True,
            with_values=True,
        )
        assert [(found.key, found.value, found.details) for found in secrets] == [
            ("A", "cnry-value", SecretDetails())
        ]
        assert [tag.slug for tag in secrets[0].tags] == ["blue"]
        assert await unit.keys.server_key("token signing") == SIGNING.material
        identity = await unit.identities.get(IdentityId("identity"))
        assert identity is not None
        assert (identity.name, identity.kind) == ("admin", "machine")
        token = await unit.credentials.token("token")
        assert token is not None
        membership = await unit.projects.membership(ProjectId("project"), IdentityId("identity"))
        assert membership is not None
        assert membership.roles == ("viewer",)
        assert await unit.projects.names_revision(OrganizationId("home")) == 1
    async with database.writing() as unit:
        assert await unit.resealing.begin(ProjectId("project"))
    more = True
    while more:
        async with database.writing() as unit:
            more = await unit.resealing.advance(ProjectId("project"), 1)
    async with database.reading() as unit:
        former = await unit.secrets.version(secrets[0], 1)
        assert former is not None
        assert former.value == "cnry-value"
        assert await unit.resealing.data_keys() == 1
    await database.close()
