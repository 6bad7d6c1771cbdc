"""Brings a database to the tables of this version, with Alembic, inside the caller's transaction."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.errors import ConfigurationError

__all__ = ["is_latest", "migration_config", "upgrade"]


def migration_config(connection: Connection) -> Config:
    """Return Alembic's configuration for this connection; there is no ini file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


async def upgrade(connection: AsyncConnection) -> None:
    """Apply all migrations that are missing.

    Raises:
        ConfigurationError: a newer version of Keybearer wrote this database.
    """
    await connection.run_sync(_upgrade)


async def is_latest(connection: AsyncConnection) -> bool:
    """Return whether the tables are those of this version."""

    def look(inner: Connection) -> bool:
        script = ScriptDirectory.from_config(migration_config(inner))
        return MigrationContext.configure(inner).get_current_revision() == script.get_current_head()

    return await connection.run_sync(look)


def _upgrade(connection: Connection) -> None:
    try:
        command.upgrade(migration_config(connection), "head")
    except CommandError as error:
        raise ConfigurationError(
            "the database was written by a newer version of keybearer; start that version"
        ) from error
