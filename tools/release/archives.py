"""Archives whose bytes follow from their content: sorted, of owner 0, with plain modes and one date."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["PLAIN", "PROGRAM", "dated", "gzipped", "members_of", "tar_of", "tree_of"]

PLAIN, PROGRAM = 0o644, 0o755
_LEVEL = 9
_EPOCH_MAX = 2**32 - 1  # of gzip's field (RFC 1952)


def tar_of(files: Mapping[str, tuple[int, bytes]], seconds: int) -> bytes:
    """A tar archive (POSIX ustar; pax where a name is too long) of regular files.

    Args:
        files: mode and content by name; the order in which they are given has no effect.
        seconds: the date of each, of the Unix epoch.
    """
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            mode, content = files[name]
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(content), mode, seconds
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


def gzipped(content: bytes, seconds: int) -> bytes:
    """The content compressed, without a name and dated so."""
    written = io.BytesIO()
    with gzip.GzipFile(
        filename="", mode="wb", compresslevel=_LEVEL, fileobj=written, mtime=min(seconds, _EPOCH_MAX)
    ) as file:
        file.write(content)
    return written.getvalue()


def members_of(archive: Path) -> dict[str, tuple[int, bytes]]:
    """What `tar_of` takes, of an archive that another program wrote: its regular files, with plain modes.

    Raises:
        ValueError: something else is in it than files and directories.
    """
    found: dict[str, tuple[int, bytes]] = {}
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isdir():
                continue
            file = opened.extractfile(member) if member.isreg() else None
            if file is None:
                raise ValueError(f"{archive.name}: {member.name} is no regular file")
            found[member.name] = (PROGRAM if member.mode & stat.S_IXUSR else PLAIN, file.read())
    return found


def tree_of(directory: Path) -> dict[str, tuple[int, bytes]]:
    """What `tar_of` takes, of all files below a directory, by their paths from there."""
    return {
        str(path.relative_to(directory)): (PLAIN, path.read_bytes())
        for path in directory.rglob("*")
        if path.is_file()
    }


def dated(directory: Path, seconds: int) -> None:
    """The directory and all in it carry this time; directories have plain modes."""
    for folder, _, files in os.walk(directory, topdown=False):
        for name in files:
            os.utime(Path(folder, name), (seconds, seconds), follow_symlinks=False)
        Path(folder).chmod(PROGRAM)
        os.utime(folder, (seconds, seconds))
