"""How commands write what nobody else may read."""

from __future__ import annotations

import os
from pathlib import Path

from keybearer.base.errors import ConfigurationError

__all__ = ["create_private", "write_private"]


def write_private(file: Path, text: str, *, force: bool) -> None:
    """Write a text into a new file that its owner alone may read; with `force`, in place of one that is there.

    Raises:
        ConfigurationError: there is one, or it can't be written.
    """
    if force:
        file.unlink(missing_ok=True)
    descriptor = create_private(file, "say --force to replace it")
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as opened:
        opened.write(text)


def create_private(file: Path, advice: str) -> int:
    """Return the descriptor of a new file that its owner alone may read.

    Raises:
        ConfigurationError: there is one, and then the message ends with the advice; or it can't be written.
    """
    try:
        return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise ConfigurationError(f"{file} exists; {advice}") from error
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from error
