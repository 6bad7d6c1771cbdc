"""SHA256SUMS, as `sha256sum --check` reads it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

__all__ = ["SUMS", "read_sums", "sha256_of", "sums_of"]

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (\S+)")


def sha256_of(file: Path) -> str:
    """The digest of its content, in hexadecimal digits."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def sums_of(digests: Mapping[str, str]) -> str:
    """The text of the file, in the order of names."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def read_sums(text: str) -> dict[str, str]:
    """Digests by name; ValueError where a line is none."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"{SUMS} has a line that is none of sha256sum: {line}")
        found[match[2]] = match[1]
    return found
