"""The data directory: private to its owner, and used by one process at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from keybearer.base.errors import ConfigurationError

__all__ = ["DataDirectory"]


class DataDirectory:
    """A locked directory. The lock belongs to the process: it goes with it, however it ends."""

    def __init__(self, path: Path) -> None:
        """Create the directory if absent (mode 0700) and lock it.

        Raises:
            ConfigurationError: it can't be created or written, or another process holds it.
        """
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(f"data directory {path} can't be used: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise ConfigurationError(
                f"data directory {path} is in use by another keybearer serve; stop it, or choose another "
                "--data-dir"
            ) from error

    def write_private(self, name: str, content: bytes) -> Path:
        """Put a file with mode 0600 in place as a whole: a reader sees all of it or the old one.

        Raises:
            ConfigurationError: it can't be written.
        """
        target = self.path / name
        try:
            descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=self.path)
            try:
                with os.fdopen(descriptor, "wb") as file:  # mkstemp gives mode 0600
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                Path(temporary).replace(target)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            self._sync()
        except OSError as error:
            raise ConfigurationError(f"{target} can't be written: {error.strerror}") from error
        return target

    def _sync(self) -> None:
        # The new name is durable only once the directory itself is.
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Let go of the lock."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
