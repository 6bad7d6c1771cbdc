from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.store.database import Database
from keybearer.store.engines import sqlite_url
from keybearer.store.migrate import migration_config
from keybearer.store.secret_places import folder_digest
from keybearer.store.tables.schema import TABLES, schema


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def test_migrations_lead_from_nothing_to_exactly_the_tables_of_the_code(connection: Connection) -> None:
    command.upgrade(migration_config(connection), "head")
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    assert compare_metadata(context, schema()) == []


def test_migrations_lead_back_to_nothing(connection: Connection) -> None:
    config = migration_config(connection)
    command.upgrade(config, "head")
    command.downgrade(config, "base")
    assert inspect(connection).get_table_names() == ["alembic_version"]


def test_migrations_form_one_line(connection: Connection) -> None:
    script = ScriptDirectory.from_config(migration_config(connection))
    assert len(script.get_heads()) == 1


def test_every_table_is_listed() -> None:
    assert {table.name for table in TABLES} == set(schema().tables)


async def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keybearer.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('9999')")
    engine.dispose()
    database = Database(sqlite_url(path), SystemClock())
    with pytest.raises(ConfigurationError, match="newer version"):
        await database.prepare()
    await database.close()


def test_who_was_there_before_users_came_is_a_machine(connection: Connection) -> None:
    config = migration_config(connection)
    command.upgrade(config, "0001")
    connection.exec_driver_sql("INSERT INTO organizations VALUES ('o', 'home', 'home', 1, 0)")
    connection.exec_driver_sql("INSERT INTO identities VALUES ('i', 'o', 'ci', 'admin', 1, 0, 0)")
    command.upgrade(config, "head")
    assert connection.exec_driver_sql("SELECT id, kind FROM identities").all() == [("i", "machine")]


def test_failures_that_locked_an_account_for_everybody_are_forgotten(connection: Connection) -> None:
    config = migration_config(connection)
    command.upgrade(config, "0014")
    connection.exec_driver_sql("INSERT INTO organizations VALUES ('o', 'home', 'home', 1, 0)")
    connection.exec_driver_sql("INSERT INTO identities VALUES ('i', 'o', 'ci', 'admin', 1, 0, 0, 'machine')")
    connection.exec_driver_sql(
        "INSERT INTO universal_auths VALUES ('i', 'u', 'c', 60, 60, 0, 0, '[]', '[]', 1, 3, 300, 30, 3, 9, 99, 0, 0)"
    )
    connection.exec_driver_sql("INSERT INTO login_failures VALUES (x'00', 3, 9, 99, 99)")
    command.upgrade(config, "head")
    assert connection.exec_driver_sql("SELECT count(*) FROM login_failures").scalar_one() == 0
    left = {column["name"] for column in inspect(connection).get_columns("universal_auths")}
    assert not left & {"failures", "last_failure_at", "locked_until"}
    assert connection.exec_driver_sql("SELECT client_id FROM universal_auths").scalar_one() == "c"
    command.downgrade(config, "0014")
    assert connection.exec_driver_sql("SELECT failures FROM universal_auths").scalar_one() == 0


def test_grants_are_bound_to_their_environments_and_those_that_allow_in_a_former_one_end(
    connection: Connection,
) -> None:
    config = migration_config(connection)
    command.upgrade(config, "0014")
    connection.exec_driver_sql("INSERT INTO organizations VALUES ('o', 'home', 'home', 1, 0)")
    connection.exec_driver_sql("INSERT INTO identities VALUES ('i', 'o', 'ci', 'member', 1, 0, 0, 'machine')")
    for project in ("p", "q"):
        connection.exec_driver_sql(
            f"INSERT INTO projects VALUES ('{project}', 'o', 'P', '{project}', NULL, 'secret-manager', 0, 0, 1, 0, 0)"  # noqa: S608
        )
        connection.exec_driver_sql(
            f"INSERT INTO environments VALUES ('dev-of-{project}', '{project}', 'D', 'dev', 1, 0, 0)"  # noqa: S608
        )
    connection.exec_driver_sql("INSERT INTO project_memberships VALUES ('m', 'q', 'i', '[]', 0, 0)")
    for grant, effect, environment in (
        ("bound", "allow", "dev"),
        ("everywhere", "allow", "*"),
        ("ended", "allow", "gone"),
        ("waiting", "deny", "gone"),
    ):
        connection.exec_driver_sql(
            "INSERT INTO project_grants VALUES (?, 'q', 'i', ?, '[]', '[]', ?, '/**', 0, 0)",
            (grant, effect, environment),
        )
    command.upgrade(config, "head")
    assert connection.exec_driver_sql(
        "SELECT id, environment, environment_id FROM project_grants ORDER BY id"
    ).all() == [
        ("bound", "dev", "dev-of-q"),
        ("everywhere", "*", None),
        ("waiting", "gone", None),
    ]


def test_references_are_bound_to_what_they_name_and_those_that_name_nothing_are_noted(
    connection: Connection,
) -> None:
    config = migration_config(connection)
    command.upgrade(config, "0014")
    for organization in ("o", "other"):
        connection.exec_driver_sql(
            "INSERT INTO organizations VALUES (?, ?, ?, 1, 0)", (organization, organization, organization)
        )
    for project, organization in (("p", "o"), ("q", "o"), ("r", "other")):
        connection.exec_driver_sql(
            "INSERT INTO projects VALUES (?, ?, 'P', ?, NULL, 'secret-manager', 0, 0, 1, 0, 0)",
            (project, organization, f"{project}-slug"),
        )
        for environment in ("dev", "prod"):
            place = f"{environment}-of-{project}"
            connection.exec_driver_sql(
                "INSERT INTO environments VALUES (?, ?, 'E', ?, 1, 0, 0)", (place, project, environment)
            )
            connection.exec_driver_sql(
                "INSERT INTO folders VALUES (?, ?, NULL, 'root', '/', NULL, 1, 0, NULL, 0, 0)", (place, place)
            )
    for secret, folders in {
        "near": [folder_digest("", EnvironmentSlug("dev"), FolderPath("/"))],
        "far": [folder_digest("", EnvironmentSlug("prod"), FolderPath("/"))],
        "foreign": [folder_digest("q-slug", EnvironmentSlug("prod"), FolderPath("/"))],
        "anothers": [folder_digest("r-slug", EnvironmentSlug("prod"), FolderPath("/"))],
        "nothing": [
            folder_digest("", EnvironmentSlug("later"), FolderPath("/")),
            folder_digest("", EnvironmentSlug("prod"), FolderPath("/")),
        ],
        "built": [folder_digest("", EnvironmentSlug("*"), FolderPath("*"))],
    }.items():
        connection.exec_driver_sql(
            "INSERT INTO secrets VALUES (?, 'p', 'dev-of-p', ?, '', 1, x'00', NULL, NULL, 0, 0)",
            (secret, secret),
        )
        for folder in folders:
            connection.exec_driver_sql("INSERT INTO secret_references VALUES (?, ?, 'KEY')", (secret, folder))

    command.upgrade(config, "head")

    nothing = ("*", "*", None, None, 1)
    assert connection.exec_driver_sql(
        "SELECT * FROM reference_bindings ORDER BY secret_id, project_slug"
    ).all() == [
        ("anothers", *nothing),
        ("far", "", "prod", "p", "prod-of-p", 0),
        ("foreign", "q-slug", "prod", "q", "prod-of-q", 0),
        ("nothing", "", "prod", "p", "prod-of-p", 0),
        ("nothing", *nothing),
    ]
