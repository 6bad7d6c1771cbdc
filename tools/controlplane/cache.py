"""Locks for work that two runs at once must do only once."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tools.controlplane.progress import report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["exclusive"]


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """While the block runs, no other process is in a block for the same directory, which exists then.

    The lock is the kernel's (`flock` on a file beside the directory): a killed holder frees it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with directory.with_name(directory.name + ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"waiting for another run that fills {directory}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
