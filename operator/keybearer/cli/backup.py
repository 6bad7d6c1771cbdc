"""`keybearer backup` and `keybearer restore`: the service's SQLite database, with nothing but this program.

The image has no shell and nothing else to copy a file with; so what runs in a pod is all here.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from keybearer.base.errors import ConfigurationError
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.interruptible import Interruptible, ended_by_signals
from keybearer.cli.output import note

__all__ = ["backup", "restore"]

_STANDARD = Path("-")


def backup(
    data_dir: Annotated[Path, typer.Option(help="The service's; it may run, and goes on.")],
    output: Annotated[
        Path, typer.Option("--output", help="A new file, mode 0600; - is standard output.")
    ] = _STANDARD,
) -> None:
    """Copy the service's SQLite database as it is at one moment.

    Values in the copy are sealed. The root key that opens them is not in it: back that up too, and keep both apart.

    The copy is made beside the database first, which takes as much room again. A database in PostgreSQL is backed up
    with pg_dump.
    """
    from keybearer.store.database_copy import database_copy

    if output == _STANDARD and sys.stdout.isatty():
        raise CommandError(
            "a database is nothing for a terminal",
            ExitStatus.USAGE,
            "Name a file with --output, or use > FILE.",
        )
    with ended_by_signals() as woken, _written(output, woken) as target, database_copy(data_dir) as copy:
        shutil.copyfileobj(copy, target)
        size = copy.tell()
    note(
        f"Backed up {size} bytes of {data_dir}: values in them are sealed, and the root key is not among them."
    )


def restore(
    data_dir: Annotated[Path, typer.Option(help="The service's; no service may run on it.")],
    input_: Annotated[
        Path, typer.Option("--input", help="What keybearer backup wrote; - is standard input.")
    ] = _STANDARD,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a database that is there.")] = False,
) -> None:
    """Put a backup in the place of the service's SQLite database.

    It is looked at first: one that was cut off, is damaged, or was written by a newer version changes nothing. The
    root key stays as it is; it has to be the one that was in use at the time of the backup. A dump of PostgreSQL is
    restored by psql or pg_restore, as it was made.
    """
    from keybearer.store.database_restore import restore_database

    with ended_by_signals() as woken, _opened(input_, woken) as source:
        size = restore_database(data_dir, source, force=force)
    note(f"Restored {size} bytes to {data_dir}. Start the service with the root key of that time.")


@contextmanager
def _written(output: Path, woken: int) -> Iterator[BinaryIO | Interruptible]:
    """Yield what is written to; a file is there whole and durable at the end, or empty or not at all."""
    if output == _STANDARD:
        yield Interruptible(sys.stdout.fileno(), woken)
        return
    partial = output.with_name(f".{output.name}.partial")
    _reserve(output)
    try:
        _reserve(partial)
        with partial.open("wb") as opened:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
        partial.replace(output)
    except BaseException:
        partial.unlink(missing_ok=True)
        output.unlink()
        raise


def _reserve(file: Path) -> None:
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        problem = f"{file} exists; name another file, or remove it"
    except OSError as error:
        problem = f"{file} can't be written: {error.strerror}"
    else:
        return
    raise ConfigurationError(problem)


def _opened(source: Path, woken: int) -> Interruptible:
    if source == _STANDARD:
        if sys.stdin.isatty():
            raise CommandError(
                "a backup isn't typed at a terminal",
                ExitStatus.USAGE,
                "Name a file with --input, or use < FILE.",
            )
        return Interruptible(sys.stdin.fileno(), woken)
    try:
        return Interruptible(os.open(source, os.O_RDONLY | os.O_CLOEXEC), woken, is_own=True)
    except OSError as error:
        raise ConfigurationError(f"{source} can't be read: {error.strerror}") from error
