"""Which shared libraries programs load, as the machine's own loader finds them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

__all__ = ["MissingLibraryError", "is_binary", "shared_libraries"]

_MAGIC = b"\x7fELF"
_DEADLINE_SECONDS = 120
# glibc loads it by itself where a thread ends early, and aborts without: no program names it for that.
_LOADED_BY_GLIBC = "libgcc_s.so.1"


class MissingLibraryError(Exception):
    """A library that a program asks for is not on the machine; the text names it."""


def is_binary(path: Path) -> bool:
    """Whether the file is in the form of programs and libraries (ELF)."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def shared_libraries(binaries: Iterable[Path]) -> set[Path]:
    """Paths of all libraries that these programs and libraries load, and that those load in turn.

    Raises:
        MissingLibraryError: one is not there.
    """
    # A file of no libraries makes the status other than 0, and is none the worse for it.
    said = subprocess.run(
        ["ldd", *sorted(map(str, binaries))],
        capture_output=True,
        text=True,
        timeout=_DEADLINE_SECONDS,
        check=False,
    ).stdout
    missing = sorted(set(re.findall(r"^\s+(\S+) => not found", said, re.MULTILINE)))
    found = {Path(path) for path in re.findall(r"^\s+(?:\S+ => )?(/\S+) \(0x", said, re.MULTILINE)}
    if not any(path.name == _LOADED_BY_GLIBC for path in found):
        missing.append(_LOADED_BY_GLIBC)
    if missing:
        raise MissingLibraryError(f"not on this machine: {', '.join(missing)}")
    return found
