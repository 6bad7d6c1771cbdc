"""Where the database is: from a flag, a file or the environment, without its password ever being an argument."""

from __future__ import annotations

import os
from pathlib import Path

from keybearer.cli.own_credentials import OwnCredential

__all__ = ["given_database_url"]

_MAX_FILE_BYTES = 16 * 1024


def given_database_url(flag: str | None, file: Path | None) -> str | None:
    """Return the URL of `--database-url`, else of `--database-url-file`, else of the environment; None for SQLite.

    Raises:
        ConfigurationError: the flag holds a password, both flags are given, or the file can't be read.
    """
    from keybearer.base.errors import ConfigurationError
    from keybearer.store.engines import database_url

    if flag is not None and file is not None:
        raise ConfigurationError("--database-url and --database-url-file say the same; give one of them")
    if flag is not None:
        url = database_url(flag)
        if url.password is not None or "password" in url.query:
            raise ConfigurationError(
                "--database-url holds a password, which every user of this machine can read in the list of "
                f"processes; put the URL into a file for --database-url-file, or into {OwnCredential.DATABASE_URL}, "
                "or the password into PGPASSFILE"
            )
        return flag
    if file is None:
        return os.environ.get(OwnCredential.DATABASE_URL) or None
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(_MAX_FILE_BYTES).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--database-url-file {file} can't be read") from error
    if not text:
        raise ConfigurationError(f"--database-url-file {file} is empty; write postgresql://... to it")
    return text
