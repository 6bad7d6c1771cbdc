"""`dist/`: it holds one whole release or the former one, never parts of two, and nothing else is ever removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.release.errors import ReleaseError
from tools.release.sums import SUMS, read_sums

__all__ = ["check_replaceable", "replaced"]


def check_replaceable(output: Path) -> None:
    """Nothing is in the directory but what a release put there: files that its SHA256SUMS names.

    Raises:
        ReleaseError: something else is, which the text names.
    """
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        raise ReleaseError(f"{output} is no directory: move it away")
    if not output.exists():
        return
    sums = output / SUMS
    try:
        own = {SUMS, *read_sums(sums.read_text())} if sums.is_file() else set()
    except ValueError as error:
        raise ReleaseError(f"{output} is not a release's: {error}. Move it away") from error
    for entry in sorted(output.iterdir()):
        if entry.name not in own or entry.is_symlink() or not entry.is_file():
            raise ReleaseError(
                f"{entry} is no part of the release in {output.name}/, and would be lost: move it away"
            )


@contextmanager
def replaced(output: Path) -> Iterator[Path]:
    """Yield an empty directory, which takes the place of the output when the block ends without an exception.

    Raises:
        ReleaseError: something has come into the output meanwhile, which is not a release's.
    """
    unfinished, former = (output.with_name(f".{output.name}.{word}") for word in ("unfinished", "former"))
    if former.exists() and not output.exists():
        former.rename(output)  # a run was ended between its two renames
    for left in (unfinished, former):
        if left.exists():
            shutil.rmtree(left)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        check_replaceable(output)
        if output.exists():
            output.rename(former)
        unfinished.rename(output)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    if former.exists():
        shutil.rmtree(former)
