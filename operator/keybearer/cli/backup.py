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

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.cli.failures import misused
from keybearer.cli.interruptible import Interruptible, ended_by_signals
from keybearer.cli.output import note
from keybearer.cli.private_files import create_private

__all__ = ["backup", "restore"]

_STANDARD = Path("-")
_SEALED = "values in them are sealed, and the root key is not among them."


def backup(
    data_dir: Annotated[
        Path | None,
        typer.Option(help="The service's data directory. The service may run.", show_default=False),
    ] = None,
    dump: Annotated[
        Path | None,
        typer.Option(
            help="Instead of --data-dir, with --output-dir: what pg_dump wrote in plain text; it must be complete."
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", help="A new file, mode 0600; - is standard output.")
    ] = _STANDARD,
    output_dir: Annotated[
        Path | None,
        typer.Option(
            "--output-dir",
            help="Instead of --output: add the backup to this directory, with the time in its name. The directory is "
            "made if it doesn't exist.",
        ),
    ] = None,
    keep: Annotated[
        int,
        typer.Option(
            min=1,
            help="How many backups --output-dir keeps. The oldest are deleted when the new one is complete.",
        ),
    ] = 7,
) -> None:
    """Copy the service's SQLite database as it is at one moment.

    Values in the copy are sealed. The root key that opens them is not in it: back that up too, and keep both apart.

    With --output the copy is first made next to the database, which needs as much space again. With --output-dir it
    is written there, and --data-dir may be mounted read-only while the service runs. A database in PostgreSQL is
    backed up with pg_dump; --dump adds what that wrote to a directory of backups.
    """
    from keybearer.store.database_copy import database_copy

    if output_dir is not None and output != _STANDARD:
        raise misused("--output and --output-dir say two things", "Give one of them.")
    if output_dir is not None:
        _add(data_dir, dump, output_dir, keep)
        return
    if dump is not None:
        raise misused("--dump is added to a directory", "Give --output-dir.")
    if data_dir is None:
        raise misused("nothing says what is to be backed up", "Give --data-dir.")
    if output == _STANDARD and sys.stdout.isatty():
        raise misused("a database is nothing for a terminal", "Name a file with --output, or use > FILE.")
    with ended_by_signals() as woken, _written(output, woken) as target, database_copy(data_dir) as copy:
        shutil.copyfileobj(copy, target)
        size = copy.tell()
    note(f"Backed up {size} bytes of {data_dir}: {_SEALED}")


def restore(
    data_dir: Annotated[Path, typer.Option(help="The service's data directory. No service may run on it.")],
    input_: Annotated[
        Path,
        typer.Option(
            "--input",
            help="What keybearer backup wrote: a file, or a directory, of which the newest is taken; - is standard "
            "input.",
        ),
    ] = _STANDARD,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a database that is there.")] = False,
) -> None:
    """Restore a backup of the service's SQLite database.

    The backup is checked first: one that was cut off, is damaged, or was written by a newer version changes nothing.
    The root key stays as it is. It must be the one of the time of the backup. A dump of PostgreSQL is restored by
    psql or pg_restore, as it was made.
    """
    from keybearer.store.backup_directory import newest_backup
    from keybearer.store.database_restore import restore_database

    chosen = newest_backup(input_) if input_ != _STANDARD and input_.is_dir() else input_
    with ended_by_signals() as woken, _opened(chosen, woken) as source:
        size = restore_database(data_dir, source, force=force)
    origin = "" if chosen == _STANDARD else f" of {chosen}"
    note(f"Restored {size} bytes{origin} to {data_dir}. Start the service with the root key of that time.")


def _add(data_dir: Path | None, dump: Path | None, directory: Path, keep: int) -> None:
    """Add a backup to a directory of them."""
    from keybearer.store.backup_directory import save_backup, save_dump

    now = SystemClock().now()
    with ended_by_signals():
        match data_dir, dump:
            case Path() as origin, None:
                saved = save_backup(origin, directory, keep=keep, now=now)
            case None, Path() as origin:
                saved = save_dump(origin, directory, keep=keep, now=now)
            case _:
                raise misused("a backup is of one database", "Give either --data-dir or --dump.")
    note(
        f"Backed up {saved.size} bytes of {origin} to {saved.file}, where {saved.kept} are kept now: {_SEALED}"
    )


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
    os.close(create_private(file, "name another file, or remove it"))


def _opened(source: Path, woken: int) -> Interruptible:
    if source == _STANDARD:
        if sys.stdin.isatty():
            raise misused("a backup isn't typed at a terminal", "Name a file with --input, or use < FILE.")
        return Interruptible(sys.stdin.fileno(), woken)
    try:
        return Interruptible(os.open(source, os.O_RDONLY | os.O_CLOEXEC), woken, is_own=True)
    except OSError as error:
        raise ConfigurationError(f"{source} can't be read: {error.strerror}") from error
