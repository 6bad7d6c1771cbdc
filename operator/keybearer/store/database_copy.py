"""One consistent copy of the SQLite database, made while a service writes to it.

A copy for a reader lies beside the database: that is the one volume which is sure to be large enough, where a
container's `/tmp` is small and counts against the pod. It loses its name as soon as it is complete, so that nothing
of it is left however its reader ends. A copy into a file is written there at once, and the data directory may be
mounted read-only.

Nothing here loads SQLAlchemy: the command runs in the service's own container, within its memory.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from keybearer.base.errors import ConfigurationError

__all__ = [
    "DATABASE_FILE",
    "ROOM_FOR_OTHERS_BYTES",
    "copy_database",
    "database_copy",
    "is_intact",
    "sole_user",
]

DATABASE_FILE = "keybearer.db"
ROOM_FOR_OTHERS_BYTES = 32 * 1024 * 1024
"""What a copy leaves free on the volume: a service that writes meanwhile must not find it full."""
_COPY = f"{DATABASE_FILE}.backup"
_BUSY = timedelta(seconds=30)
"""Only a service that starts or ends holds the file so that nobody may read."""


@contextmanager
def database_copy(data_dir: Path) -> Iterator[BinaryIO]:
    """Yield the copy, open at its beginning: the database of one moment, with what deleted rows held left out.

    Raises:
        ConfigurationError: there is no database, another copy is under way, or there is no room for one.
    """
    database = _database(data_dir)
    with _sole_copier(data_dir):
        copy = database.with_name(_COPY)
        try:
            # Of one that was killed. The lock says that nobody writes to it.
            copy.unlink(missing_ok=True)
            opened = os.fdopen(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "rb")
        except OSError as error:
            raise ConfigurationError(f"{copy} can't be written: {error.strerror}") from error
        with opened:
            try:
                _copy_into(database, copy)
            finally:
                copy.unlink()
            yield opened


def copy_database(data_dir: Path, file: Path) -> None:
    """Fill an empty file with the database of one moment, durably, and read it once more.

    Raises:
        ConfigurationError: there is no database, another copy is under way, there is no room for one, or what the
            volume holds now isn't what was written.
    """
    database = _database(data_dir)
    with _sole_copier(data_dir):
        _copy_into(database, file)
    try:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from error
    if not is_intact(file):
        raise ConfigurationError(
            f"the copy in {file.parent} is damaged: look at that volume, and run it again"
        )


def is_intact(file: Path) -> bool:
    """Whether a database that nobody else has is whole."""
    # Immutable: SQLite writes no other file next to it.
    source = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(source, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            found: object = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error:
        return False
    return found == ("ok",)


def _database(data_dir: Path) -> Path:
    database = data_dir.absolute() / DATABASE_FILE
    if not database.is_file():
        raise ConfigurationError(
            f"{data_dir} holds no {DATABASE_FILE}; name the data directory of a service on SQLite. "
            "PostgreSQL is backed up with pg_dump"
        )
    return database


def _sole_copier(data_dir: Path) -> AbstractContextManager[None]:
    return sole_user(
        data_dir, "data directory", f"another backup of {data_dir} is under way; wait until it has ended"
    )


@contextmanager
def sole_user(directory: Path, what: str, refusal: str) -> Iterator[None]:
    """Hold the lock of the directory itself, so that no file is left that root may have made.

    Args:
        directory: may be mounted read-only.
        what: it is, for messages.
        refusal: the message where another process holds the lock.

    Raises:
        ConfigurationError: another process holds it, or the directory can't be opened.
    """
    try:
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigurationError(f"{what} {directory} can't be used: {error.strerror}") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigurationError(refusal) from error
        yield
    finally:
        os.close(lock)


def _copy_into(database: Path, copy: Path) -> None:
    """Fill the empty file.

    Raises:
        ConfigurationError: the database can't be read, or there is no room.
    """
    try:
        # Not mode=ro: where no service runs, whoever closes last takes away what SQLite keeps beside the file.
        source = f"{database.as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(source, uri=True, isolation_level=None, timeout=_BUSY.total_seconds())
        ) as connection:
            _require_room(connection, copy.parent)
            connection.execute("VACUUM INTO ?", [str(copy)])
    except sqlite3.Error as error:
        raise ConfigurationError(f"{database} can't be copied: {_reason(error, database)}") from error


def _require_room(connection: sqlite3.Connection, directory: Path) -> None:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    needed = pages * page_bytes + ROOM_FOR_OTHERS_BYTES
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise ConfigurationError(
            f"the volume of {directory} has {free >> 20} MiB left, and a copy of the database needs "
            f"{-(-needed >> 20)} MiB; give the volume more room"
        )


def _reason(error: sqlite3.Error, database: Path) -> str:
    """Return SQLite's name of what is wrong; its text could quote the schema."""
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if name == "SQLITE_CANTOPEN" and os.statvfs(database.parent).f_flag & os.ST_RDONLY:
        # A service that ended has removed SQLite's other files, and a read-only volume takes no new ones.
        return (
            f"{name}; {database.parent} is mounted read-only, so that a copy takes a service that runs on it"
        )
    return name
