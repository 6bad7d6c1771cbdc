"""A directory that keeps the latest backups of one service: each is there whole, or not at all.

A backup is written under a name of its own that begins with a dot, and gets its name when it is complete, durable and
intact. Only then older ones go. So whoever is killed, or finds the volume full, leaves all that was there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from keybearer.base.errors import ConfigurationError
from keybearer.store.database_copy import copy_database, sole_user
from keybearer.store.database_dump import copy_dump

__all__ = ["SavedBackup", "newest_backup", "save_backup", "save_dump"]

_STAMP, _NAME = "keybearer-%Y%m%dT%H%M%SZ", r"keybearer-\d{8}T\d{6}Z"
_DATABASE, _DUMP = ".db", ".sql"
_PARTIAL = ".{}.partial"


@dataclass(frozen=True, slots=True)
class SavedBackup:
    """A backup that is in its directory now.

    Attributes:
        file: its path; the name has the moment, in UTC.
        size: in bytes.
        kept: how many are in the directory, this one included.
    """

    file: Path
    size: int
    kept: int


def save_backup(data_dir: Path, directory: Path, *, keep: int, now: datetime) -> SavedBackup:
    """Add a backup of SQLite to a directory, and remove the oldest ones where there are more than `keep`.

    Args:
        data_dir: the service's, which may run; may be mounted read-only while it does.
        directory: made where there is none, with mode 0700; of one service alone.
        keep: how many there are afterwards, 1 at least.
        now: aware.

    Raises:
        ConfigurationError: the backup couldn't be made, and those that were to be kept are there as before; or an
            older one can't be removed.
    """
    return _save(partial(copy_database, data_dir), directory, _DATABASE, keep=keep, now=now)


def save_dump(dump: Path, directory: Path, *, keep: int, now: datetime) -> SavedBackup:
    """Add a dump of PostgreSQL to a directory, as `save_backup` does with a copy of SQLite.

    Args:
        dump: stays; in plain text.
        directory: as there.
        keep: as there.
        now: aware.

    Raises:
        ConfigurationError: as there; or the dump isn't whole.
    """
    return _save(partial(copy_dump, dump), directory, _DUMP, keep=keep, now=now)


def newest_backup(directory: Path) -> Path:
    """Return the backup of SQLite whose name has the latest moment.

    Raises:
        ConfigurationError: there is none.
    """
    found = _backups(directory, _DATABASE)
    if not found:
        raise ConfigurationError(
            f"{directory} holds no backup; name the directory that keybearer backup --output-dir filled"
        )
    return found[-1]


def _save(
    write: Callable[[Path], None], directory: Path, suffix: str, *, keep: int, now: datetime
) -> SavedBackup:
    """Add what `write` fills an empty file with, durably, or nothing where that fails."""
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"directory of backups {directory} can't be made: {error.strerror}"
        ) from error
    refusal = f"another backup is written to {directory}; wait until it has ended"
    with sole_user(directory, "directory of backups", refusal):
        file = directory / (now.strftime(_STAMP) + suffix)
        unfinished = directory / _PARTIAL.format(file.name)
        _clear(directory, "*")  # of those that were killed
        # More than are wanted could be what leaves no room.
        _remove(_backups(directory, suffix)[:-keep])
        if file.exists():
            raise ConfigurationError(f"{file} exists; run it again a second later")
        try:
            os.close(_made(unfinished))
            write(unfinished)
            size = unfinished.stat().st_size
            _name(unfinished, file)
        except BaseException:
            _clear(directory, file.name)
            raise
        # Not by the name alone: a clock that was put back makes this one look old.
        others = [one for one in _backups(directory, suffix) if one != file]
        _remove(others[: max(0, len(others) - keep + 1)])
        return SavedBackup(file, size, len(_backups(directory, suffix)))


def _backups(directory: Path, suffix: str) -> list[Path]:
    """All complete ones of a kind, the oldest first."""
    name = re.compile(_NAME + re.escape(suffix))
    try:
        return sorted(one for one in directory.iterdir() if name.fullmatch(one.name))
    except OSError as error:
        raise ConfigurationError(
            f"directory of backups {directory} can't be read: {error.strerror}"
        ) from error


def _clear(directory: Path, name: str) -> None:
    """Remove unfinished backups with names like this, and their journals of SQLite."""
    _remove(directory.glob(f"{_PARTIAL.format(name)}*"))


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        try:
            file.unlink()
        except OSError as error:
            raise ConfigurationError(f"{file} can't be removed: {error.strerror}") from error


def _made(file: Path) -> int:
    try:
        return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from error


def _name(unfinished: Path, file: Path) -> None:
    """Rename, durably."""
    try:
        unfinished.rename(file)
        descriptor = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from error
