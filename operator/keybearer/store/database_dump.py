"""A dump of PostgreSQL that `pg_dump` has made is put where backups are kept, if it is complete."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from keybearer.base.errors import ConfigurationError

__all__ = ["copy_dump"]

# pg_dump writes both as comments. Behind the second one newer versions end with \unrestrict and a word of their own.
_BEGIN, _END = b"-- PostgreSQL database dump\n", b"-- PostgreSQL database dump complete\n"
_LOOKED_AT_BYTES = 1024


def copy_dump(dump: Path, file: Path) -> None:
    """Fill an empty file with a dump in plain text, durably, and look at both its ends.

    Raises:
        ConfigurationError: one of the files can't be read or written, or the dump isn't whole.
    """
    try:
        with dump.open("rb") as source, file.open("wb") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())
        with file.open("rb") as written:
            head = written.read(_LOOKED_AT_BYTES)
            written.seek(max(0, file.stat().st_size - _LOOKED_AT_BYTES))
            tail = written.read()
    except OSError as error:
        raise ConfigurationError(f"{dump} can't be copied to {file.parent}: {error.strerror}") from error
    if _BEGIN not in head:
        raise ConfigurationError(
            f"{dump} doesn't begin as pg_dump begins a dump in plain text; make it by pg_dump"
        )
    if _END not in tail:
        raise ConfigurationError(f"{dump} is cut off: it doesn't end as pg_dump ends it; make it once more")
