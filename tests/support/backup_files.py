"""Data directories with a database of this version, and the commands that back them up."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.store.database import Database
from keybearer.store.engines import sqlite_url
from support.command_line import PROGRAM, Answer, CommandLine

__all__ = [
    "COPY",
    "FILE",
    "RESTORED",
    "ROWS",
    "backed_up",
    "data",
    "line",
    "migrated",
    "restored",
    "rows",
    "running",
    "saved",
    "with_another_row",
]

ROWS = 500
"""Enough that a copy fills the buffers of a pipe many times."""
FILE, COPY, RESTORED = "keybearer.db", "keybearer.db.backup", "keybearer.db.restore"


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database of this version with some rows in it."""
    file = tmp_path_factory.mktemp("migrated") / FILE

    async def prepare() -> None:
        database = Database(sqlite_url(file), SystemClock())
        await database.prepare()
        await database.close()

    asyncio.run(prepare())
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executemany(
            "INSERT INTO organizations (id, name, slug, names_revision, created_at) VALUES (?, ?, ?, 0, 0)",
            [(f"{number:036}", "x" * 2000, f"{number}") for number in range(ROWS)],
        )
    return file


@pytest.fixture
def data(tmp_path: Path, migrated: Path) -> Path:
    """Return a data directory whose service has ended."""
    directory = tmp_path / "data"
    directory.mkdir(mode=0o700)
    shutil.copyfile(migrated, directory / FILE)
    (directory / "root.key").write_text("the root key\n")
    return directory


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture
def saved(line: CommandLine, data: Path, tmp_path: Path) -> Path:
    """Return a backup of that database."""
    file = tmp_path / "backup.db"
    assert backed_up(line, data, file).status == 0
    return file


def backed_up(line: CommandLine, data: Path, file: Path) -> Answer:
    return line.here("backup", "--data-dir", str(data), "--output", str(file))


def restored(line: CommandLine, data: Path, file: Path, *more: str) -> Answer:
    return line.here("restore", "--data-dir", str(data), "--input", str(file), *more)


def rows(file: Path) -> int:
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (count,) = connection.execute("SELECT count(*) FROM organizations").fetchone()
    return int(count)


def with_another_row(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "INSERT INTO organizations (id, name, slug, names_revision, created_at) VALUES ('later', '', '', 0, 0)"
        )


@contextmanager
def running(line: CommandLine, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command whose input and output are pipes that nobody tends to."""
    process = subprocess.Popen(
        [PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=line.environment,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()
