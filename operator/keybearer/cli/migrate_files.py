"""Files of manifests: which there are, what they hold, and where new ones go. Everything is bounded."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from keybearer.base.errors import ConfigurationError
from keybearer.cli.failures import CommandError, ExitStatus

if TYPE_CHECKING:
    from keybearer.migrate.conversion import Reading
    from keybearer.migrate.manifests import Manifest

__all__ = ["FILES_MAX", "FILE_MAX_BYTES", "TOTAL_MAX_BYTES", "read_files", "write_files"]

FILES_MAX = 20_000
FILE_MAX_BYTES = 16 * 1024 * 1024
TOTAL_MAX_BYTES = 128 * 1024 * 1024
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_STANDARD_INPUT = "-"


def read_files(paths: Sequence[Path]) -> Reading:
    """Return what is in files, in directories with all below them, and in standard input (`-`).

    Of a directory, files that end in .yaml, .yml or .json are read, in the order of their names; links to
    directories are not followed. A file that is no YAML is told in what is returned, and the others are read.

    Raises:
        ConfigurationError: a path doesn't exist or can't be read, or there is more than the bounds allow.
    """
    from keybearer.migrate.conversion import Reading, Unreadable, read_text

    reading = Reading()
    left = TOTAL_MAX_BYTES
    for count, file in enumerate(_files(paths)):
        if count >= FILES_MAX:
            raise ConfigurationError(f"there are more than {FILES_MAX} files; give fewer at a time")
        content = _content(file)
        left -= len(content)
        if left < 0:
            raise ConfigurationError(
                f"the files are longer than {TOTAL_MAX_BYTES // 1024**2} MiB together; give fewer at a time"
            )
        if len(content) > FILE_MAX_BYTES:
            reading.unreadable.append(
                Unreadable(str(file), f"is longer than {FILE_MAX_BYTES // 1024**2} MiB")
            )
            continue
        try:
            text = content.decode()
        except UnicodeDecodeError:
            reading.unreadable.append(Unreadable(str(file), "is no text in UTF-8"))
            continue
        read_text(reading, text, str(file))
    return reading


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if str(path) != _STANDARD_INPUT and path.is_dir():
            yield from _below(path)
        else:
            yield path


def _below(directory: Path) -> Iterator[Path]:
    # A list of what is still to be looked through, so that depth costs no stack.
    waiting = [directory]
    while waiting:
        here = waiting.pop()
        try:
            entries = sorted(here.iterdir())
        except OSError as error:
            raise ConfigurationError(f"{here} can't be read: {error.strerror}") from error
        yield from (one for one in entries if one.suffix in _SUFFIXES and one.is_file())
        waiting += [one for one in reversed(entries) if one.is_dir() and not one.is_symlink()]


def _content(file: Path) -> bytes:
    try:
        if str(file) == _STANDARD_INPUT:
            return sys.stdin.buffer.read(FILE_MAX_BYTES + 1)
        with file.open("rb") as opened:
            return opened.read(FILE_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}") from error


def write_files(directory: Path, manifests: Sequence[Manifest], *, force: bool) -> dict[str, str]:
    """Write each manifest into a file of its own, and return the names of the files by what they hold.

    Args:
        directory: made if it isn't there, without its parents.
        manifests: what is written.
        force: whether files that exist are replaced.

    Raises:
        CommandError: a file exists. Nothing was written then.
        ConfigurationError: the directory can't be written.
    """
    from keybearer.migrate.manifests import render_manifests

    named = {manifest.file_name: manifest for manifest in manifests}
    taken = [] if force else [name for name in named if (directory / name).exists()]
    if taken:
        raise CommandError(
            f"{directory / taken[0]} exists, and {len(taken) - 1} more of what would be written",
            ExitStatus.USAGE,
            "Name an empty directory, or say --force.",
        )
    try:
        directory.mkdir(exist_ok=True)  # without parents: a path that was mistyped is no new tree
        for name, manifest in named.items():
            (directory / name).write_text(render_manifests([manifest]), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"--output-dir: {error.filename} can't be written: {error.strerror}"
        ) from error
    return {str(manifest): name for name, manifest in named.items()}
