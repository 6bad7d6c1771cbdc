"""A private temporary directory that is removed even when the process which made it is killed.

etcd preallocates 128 MB, so directories left by killed runs would soon fill /tmp: each run holds a lock on
its own directory and removes those of dead ones.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

__all__ = ["ScratchDirectory"]

_PREFIX = "keybearer-controlplane-"
# A directory this young may belong to a run that has not locked it yet.
_SETTLED_SECONDS = 60.0


class ScratchDirectory:
    """An empty directory, mode 0700, until `close()`."""

    def __init__(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self.path, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        """The directory and its content are gone. Call once."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _remove_abandoned(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
        except OSError:
            continue  # its owner removed it just now, or it is no directory, or not ours
        try:
            status = os.fstat(lock)
            if status.st_uid != os.geteuid() or time.time() - status.st_mtime < _SETTLED_SECONDS:
                continue
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except BlockingIOError:
            continue  # its owner lives
        finally:
            os.close(lock)
