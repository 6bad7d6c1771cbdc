"""How commands write what nobody else may read."""

from __future__ import annotations

import os
from pathlib import Path

from keybearer.base.errors import ConfigurationError

__all__ = ["write_private"]


def write_private(file: Path, text: str, *, force: bool) -> None:
    """Write a text into a new file that its owner alone may read; with `force`, in place of one that is there.

    Raises:
        ConfigurationError: there is one, or it can't be written.
    """
    if force:
        file.unlink(missing_ok=True)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        problem = f"{file} exists; say --force to replace it"
    except OSError as error:
        problem = f"{file} can't be written: {error.strerror}"
    else:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
        return
    raise ConfigurationError(problem)
