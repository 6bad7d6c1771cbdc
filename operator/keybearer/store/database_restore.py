"""A backup takes the place of the SQLite database of a data directory that no service uses.

It is read into a file beside the database and looked at there, so that a backup that was cut off, or is of something
else, changes nothing. Whoever is killed while it is put in place runs it again: the backup is there whole or not at
all, and the former database without what was written to it last.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from io import RawIOBase
from pathlib import Path

from alembic.script import ScriptDirectory

from keybearer.base.errors import ConfigurationError
from keybearer.store import migrations
from keybearer.store.data_directory import DataDirectory
from keybearer.store.database_copy import DATABASE_FILE, ROOM_FOR_OTHERS_BYTES, is_intact

__all__ = ["restore_database"]

_RESTORED = f"{DATABASE_FILE}.restore"
_CHUNK_BYTES = 1024 * 1024
# https://www.sqlite.org/fileformat.html#the_database_header
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_PAGE_SIZE, _PAGE_COUNT = slice(16, 18), slice(28, 32)
_LARGEST_PAGE = 65536
_TABLES = {"alembic_version", "data_keys", "projects", "root_keys", "secrets"}
"""Some of each version's. A file that lacks one of them is of another program."""


def restore_database(data_dir: Path, backup: RawIOBase, *, force: bool) -> int:
    """Return how many bytes the database now in the data directory has: those of the backup.

    Args:
        data_dir: made where there is none.
        backup: is read to its end, and not past the length that it states. Without a buffer: each read returns
            what is there, and waits for no more.
        force: in place of a database that is there.

    Raises:
        ConfigurationError: a service uses the directory, a database is there, there is no room, or the backup is cut
            off, damaged, of another program or of a newer version of this one; nothing was changed.
    """
    data_dir = data_dir.absolute()
    database, restored = data_dir / DATABASE_FILE, data_dir / _RESTORED
    with DataDirectory(data_dir):
        if database.exists() and not force:
            raise ConfigurationError(f"{database} is there already; say --force to replace it")
        try:
            restored.unlink(missing_ok=True)  # of one that was killed
            try:
                size = _receive(backup, restored)
                _require_ours(restored)
                _put_in_place(restored, database)
            finally:
                restored.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigurationError(f"{database} can't be written: {error.strerror}") from error
    return size


def _receive(backup: RawIOBase, file: Path) -> int:
    """Write what the backup holds into a new file, durably; the file is its directory's owner's alone."""
    header = _head(backup)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise ConfigurationError(
            "what was given is no backup: it doesn't begin as a database of SQLite does; "
            "a dump of PostgreSQL is restored with pg_restore"
        )
    size = _size_of(header)
    free = shutil.disk_usage(file.parent).free
    if free < size + ROOM_FOR_OTHERS_BYTES:
        raise ConfigurationError(
            f"the volume of {file.parent} has {free >> 20} MiB left, and the backup needs "
            f"{-(-(size + ROOM_FOR_OTHERS_BYTES) >> 20)} MiB beside what is there; give it more room"
        )
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
        _hand_over(written.fileno(), file.parent)
        written.write(header)
        left = size - len(header)
        while left and (chunk := _piece(backup, min(left, _CHUNK_BYTES))):
            written.write(chunk)
            left -= len(chunk)
        if left:
            raise ConfigurationError(
                f"the backup is cut off: it has {size - left} of its {size} bytes; bring it here once more"
            )
        if _piece(backup, 1):
            raise ConfigurationError(
                f"the backup goes on behind its {size} bytes; take it as `keybearer backup` wrote it"
            )
        written.flush()
        os.fsync(written.fileno())
    return size


def _head(backup: RawIOBase) -> bytes:
    head = b""
    while len(head) < _HEADER_BYTES and (piece := _piece(backup, _HEADER_BYTES - len(head))):
        head += piece
    return head


def _piece(backup: RawIOBase, longest: int) -> bytes:
    """Return what there is next, or nothing at the end."""
    try:
        return backup.read(longest) or b""
    except OSError as error:
        raise ConfigurationError(f"the backup can't be read: {error.strerror}") from error


def _size_of(header: bytes) -> int:
    """Return how long a database says that it is."""
    page = int.from_bytes(header[_PAGE_SIZE])
    page = _LARGEST_PAGE if page == 1 else page
    count = int.from_bytes(header[_PAGE_COUNT])
    if page < _HEADER_BYTES or count == 0:
        raise ConfigurationError("the backup is damaged at its beginning; take another one")
    return page * count


def _hand_over(descriptor: int, directory: Path) -> None:
    """Give the file to the owner of the directory: whoever restores may be root, and the service not."""
    owner = directory.stat()
    if (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()) and os.geteuid() == 0:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def _require_ours(file: Path) -> None:
    """Let pass an intact database of this version or a former one.

    Raises:
        ConfigurationError: it is none.
    """
    if not is_intact(file):
        raise ConfigurationError("the backup is damaged; take another one")
    # Immutable: nobody else has it, and nothing is to be written beside it.
    source = f"{file.as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(source, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            is_ours = {name for (name,) in listed} >= _TABLES
            versions = _versions(connection) if is_ours else set()
    except sqlite3.Error:
        is_ours, versions = False, set()
    # Outside the handler: what SQLite says of a page may quote what is on it.
    if not is_ours or not versions:
        raise ConfigurationError("the backup is a database of another program; take one of keybearer backup")
    if versions - _known_versions():
        raise ConfigurationError(
            "the backup was written by a newer version of keybearer; restore it with that version"
        )


def _versions(connection: sqlite3.Connection) -> set[str]:
    return {version for (version,) in connection.execute("SELECT version_num FROM alembic_version")}


def _known_versions() -> set[str]:
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    return {one.revision for one in script.walk_revisions()}


def _put_in_place(restored: Path, database: Path) -> None:
    """Rename, durably. What stands beside the former database goes first: SQLite would add it to the new one."""
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    _sync(database.parent)
    restored.replace(database)
    _sync(database.parent)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
