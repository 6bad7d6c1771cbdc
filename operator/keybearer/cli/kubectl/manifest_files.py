"""Reads the manifests that `plan --filename` is given: files, directories of them, standard input. All is bounded."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from keybearer.base.errors import ConfigurationError
from keybearer.cli.failures import misused
from keybearer.cli.migrate_files import FILE_MAX_BYTES, FILES_MAX, TOTAL_MAX_BYTES

if TYPE_CHECKING:
    from keybearer.kube.resources import JsonObject

__all__ = ["read_manifests"]

_SUFFIXES = (".json", ".yaml", ".yml")
"""What `kubectl apply -f DIRECTORY` takes."""
_STANDARD_INPUT = "-"


def read_manifests(paths: Sequence[Path]) -> list[JsonObject]:
    """Return the manifests that are in files, those of lists one by one.

    Of a directory, as of kubectl, the files right in it that end in .json, .yaml or .yml are read, in the order of
    their names. Errors name the file, and quote nothing of it: it could hold a Secret.

    Args:
        paths: files and directories; `-` is standard input. What is named twice is read once.

    Raises:
        CommandError: a directory has no such file.
        ConfigurationError: a path can't be read or holds what is no object, or there is more than the bounds allow.
    """
    left = TOTAL_MAX_BYTES
    found: list[JsonObject] = []
    files = dict.fromkeys(file for path in paths for file in _files(path))
    if len(files) > FILES_MAX:
        raise ConfigurationError(f"there are more than {FILES_MAX} files; give fewer at a time")
    for file in files:
        content = _content(file)
        if len(content) > FILE_MAX_BYTES:
            raise ConfigurationError(f"{file} is longer than {FILE_MAX_BYTES // 1024**2} MiB")
        left -= len(content)
        if left < 0:
            raise ConfigurationError(
                f"the files are longer than {TOTAL_MAX_BYTES // 1024**2} MiB together; give fewer at a time"
            )
        found += _manifests(file, content)
    return found


def _files(path: Path) -> list[Path]:
    if str(path) == _STANDARD_INPUT or not path.is_dir():
        return [path]
    try:
        found = sorted(one for one in path.iterdir() if one.suffix in _SUFFIXES and one.is_file())
    except OSError as error:
        raise ConfigurationError(f"{path} can't be read: {error.strerror}") from error
    if not found:
        raise misused(
            f"{path} has no file that ends in {', '.join(_SUFFIXES)}",
            "Directories below it are not looked into; name them by further --filename.",
        )
    return found


def _content(file: Path) -> bytes:
    try:
        if str(file) == _STANDARD_INPUT:
            return sys.stdin.buffer.read(FILE_MAX_BYTES + 1)
        with file.open("rb") as opened:
            return opened.read(FILE_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}") from error


def _manifests(file: Path, content: bytes) -> Iterator[JsonObject]:
    from keybearer.migrate.yaml_reading import ReadingError, read_documents

    try:
        for document in read_documents(content.decode()):
            items = document.get("items") if isinstance(document, dict) else None
            for one in items if isinstance(items, list) else [document]:
                if not isinstance(one, dict):
                    raise ConfigurationError(f"{file} holds what is no object")
                yield one
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is no text in UTF-8") from None
    except ReadingError as error:
        raise ConfigurationError(f"{file}: {error}") from None
