"""How commands take what nobody else may see: from the environment, a file, standard input or a hidden prompt.

Never from an argument by itself: those are seen by everyone on the machine, and kept in the shell's history.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from keybearer.base.errors import ConfigurationError
from keybearer.cli.failures import misused
from keybearer.cli.own_credentials import OwnCredential

__all__ = ["INPUT_MAX_BYTES", "private_text", "read_text"]

INPUT_MAX_BYTES = 8 * 1024 * 1024


def private_text(what: str, *, variable: OwnCredential, file: Path | None, twice: bool = False) -> str:
    """Return a credential: from `file` (`-` is standard input), the environment variable, or a hidden prompt.

    With `twice` the prompt asks again, since nobody sees what is typed.

    Raises:
        CommandError: there is none, and nobody to ask.
    """
    if file is not None:
        return read_text(file).rstrip("\r\n")
    given = os.environ.get(variable)
    if given:
        return given
    if not sys.stdin.isatty():
        raise misused(f"no {what} was given", f"Set {variable}, or name a file that holds it.")
    asked = what[:1].upper() + what[1:]
    return str(typer.prompt(asked, hide_input=True, err=True, confirmation_prompt=twice))


def read_text(file: Path) -> str:
    """Return what a file holds as UTF-8, byte by byte as it is; `-` is standard input.

    Raises:
        ConfigurationError: it can't be read, is too long, or no text.
    """
    name = "standard input" if str(file) == "-" else str(file)
    try:
        if str(file) == "-":
            content = sys.stdin.buffer.read(INPUT_MAX_BYTES + 1)
        else:
            with file.open("rb") as opened:
                content = opened.read(INPUT_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{name} can't be read: {error.strerror}") from error
    if len(content) > INPUT_MAX_BYTES:
        raise ConfigurationError(f"{name} is longer than {INPUT_MAX_BYTES // 1024**2} MiB")
    try:
        return content.decode()
    except UnicodeDecodeError:
        pass
    # Outside the handler: the error holds the bytes.
    raise ConfigurationError(f"{name} is no text in UTF-8")
