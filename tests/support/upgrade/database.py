"""The database that a service of an earlier version left, for one of this version to go on with."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import URL, Connection, MetaData, Table, create_engine, select, update
from sqlalchemy.ext.asyncio import create_async_engine

from keybearer.base.clock import SystemClock
from keybearer.store.database import Database
from keybearer.store.engines import database_url, sqlite_url
from keybearer.store.migrate import migration_config
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.sealing.root_key import parse_root_keys
from keybearer.store.tables.secret_syncs import SecretSyncRow
from support.databases import OwnDatabase
from support.upgrade.place import OldPlace

__all__ = ["EMAIL", "PASSWORD", "OldDatabase", "root_key_file", "secrets_of"]

EMAIL, PASSWORD = "old@example.com", "cnry-password-of-the-old-admin"
"""Of the person who may do everything there."""
_SENTENCE = "The root key of a database that an earlier version of Keybearer wrote for its tests."
_FILE = "keybearer.db"


def root_key_file(directory: Path) -> Path:
    """Write the root key of that database, and return the file."""
    key = directory / "old-root.key"
    key.write_text(base64.b64encode(hashlib.sha256(_SENTENCE.encode()).digest()).decode() + "\n")
    key.chmod(0o600)
    return key


def secrets_of(place: OldPlace) -> dict[str, str]:
    """Return what the folder of a place held at first."""
    # What a place masks has no line breaks.
    text = "" if place.config.get("shouldMaskSecrets") else "\nline of Zürich\t"
    return {
        "CHANGED": f"cnry-first-{place.title}",
        "KEPT": f"cnry-kept-{place.title}",
        "REMOVED": f"cnry-removed-{place.title}",
        "TEXT": f"cnry-text{text}-{place.title}",
    }


@dataclass(frozen=True)
class OldDatabase:
    """What lies in a folder of tests/golden/databases."""

    folder: Path
    revision: str

    @property
    def left(self) -> dict[str, Any]:
        """What each place held, by title."""
        found: dict[str, Any] = json.loads((self.folder / "places.json").read_text())
        return found

    def load(self, own: OwnDatabase, data_dir: Path) -> None:
        """Put it in the place of the database of a test: on PostgreSQL by its rows."""
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = data_dir / _FILE
        if own.server is not None:
            file = data_dir.parent / "old.db"
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript((self.folder / "database.sql").read_text())
        file.chmod(0o600)
        if own.url is not None:
            asyncio.run(self._copy(file, own.url))

    def move(self, own: OwnDatabase, data_dir: Path, root_key: Path, places: Sequence[OldPlace]) -> None:
        """Upgrade, and tell connections and syncs where these places are now; nothing else of them is touched."""
        url = sqlite_url(data_dir / _FILE) if own.url is None else database_url(own.url)
        asyncio.run(_move(url, root_key.read_text(), [place for place in places if place.moves]))

    async def _copy(self, file: Path, url: str) -> None:
        engine = create_async_engine(database_url(url))
        try:
            async with engine.begin() as connection:
                await connection.run_sync(self._copy_rows, file)
        finally:
            await engine.dispose()

    def _copy_rows(self, connection: Connection, file: Path) -> None:
        command.upgrade(migration_config(connection), self.revision)
        there = MetaData()
        there.reflect(connection)
        old = create_engine(f"sqlite:///{file}")
        with old.connect() as read:
            for table in there.sorted_tables:
                if table.name == "alembic_version":
                    continue
                connection.execute(table.delete())
                rows = read.execute(select(_as_written(table))).mappings().all()
                if rows:
                    connection.execute(table.insert(), [dict(row) for row in rows])
        old.dispose()


def _as_written(table: Table) -> Table:
    """Return the table with the types of PostgreSQL's, so that SQLite's rows are read as them."""
    return table.to_metadata(MetaData())


async def _move(url: URL, root_key: str, moved: Sequence[OldPlace]) -> None:
    database = Database(url, SystemClock())
    engine = create_async_engine(url)
    row = SecretSyncRow
    try:
        await database.prepare()
        database.unlock(Keyring(parse_root_keys(root_key, "the root key")))
        for place in moved:
            async with engine.begin() as connection:
                chosen = select(row.connection_id, row.listed_at).where(row.name == place.title)
                connection_id, listed_at = (await connection.execute(chosen)).one()
            async with database.writing() as unit:
                opened = await unit.app_connections.opened(connection_id)
                assert opened is not None
                await unit.app_connections.update(opened.connection, dict(place.credentials))
            async with engine.begin() as connection:
                told = update(row).where(row.name == place.title)
                config = dict(place.config)
                await connection.execute(told.values(listed_at=listed_at, destination_config=config))
    finally:
        await engine.dispose()
        await database.close()
