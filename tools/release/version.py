"""The version of everything is that of pyproject.toml.

Files that can't read it there hold a copy: the chart, the Dockerfile, and the commands on the pages.
`python -m tools.release.version` writes the copies, with --check it compares them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tools.release.errors import ReleaseError

__all__ = ["main", "out_of_step", "version_of", "write_copies"]

_ROOT = Path(__file__).parents[2]
# What a version of Python packages (PEP 440), of charts (SemVer) and a tag of images have in common.
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_COPIES = {
    "charts/keybearer/Chart.yaml": r"^(?:version|appVersion): (\S+)$",
    "Dockerfile": r"^ARG VERSION=(\S+)$|\bkeybearer:(\d+\.\d+\.\d+)\b",
}
_PAGES = ("*.md", "charts/**/*.md", "docs/**/*.md", "examples/**/*.md")
_ON_PAGES = r"\bkeybearer[:-](\d+\.\d+\.\d+)\b"
# They say what was, and go on saying it.
_OF_THE_PAST = ("CHANGELOG.md", "docs/decisions/")


def version_of(root: Path) -> str:
    """The version that pyproject.toml gives.

    Args:
        root: of the source.

    Raises:
        ReleaseError: it isn't three numbers, which all that is released can be called by.
    """
    version = str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    if _VERSION.fullmatch(version) is None:
        raise ReleaseError(
            f"pyproject.toml: version {version} isn't three numbers with dots. Charts take no version of Python's "
            "other forms: write one such as 1.2.3"
        )
    return version


def out_of_step(root: Path) -> list[str]:
    """Each copy that says another version, as `file:line: what it says`."""
    version = version_of(root)
    return [
        f"{path.relative_to(root)}:{text.count(chr(10), 0, start) + 1}: {text[start:end]}"
        for path, text in _files(root)
        for start, end in _copies(root, path, text)
        if text[start:end] != version
    ]


def write_copies(root: Path) -> None:
    """Every copy says the version of pyproject.toml."""
    version = version_of(root)
    for path, text in _files(root):
        renewed = text
        for start, end in reversed(list(_copies(root, path, text))):
            renewed = renewed[:start] + version + renewed[end:]
        if renewed != text:
            path.write_text(renewed, encoding="utf-8")


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    pages = {page for pattern in _PAGES for page in root.glob(pattern)}
    for path in sorted({*pages, *(root / name for name in _COPIES)}):
        if not str(path.relative_to(root)).startswith(_OF_THE_PAST):
            yield path, path.read_text(encoding="utf-8")


def _copies(root: Path, path: Path, text: str) -> Iterator[tuple[int, int]]:
    """Where the copies are in the text of that file."""
    pattern = _COPIES.get(str(path.relative_to(root)), _ON_PAGES)
    for found in re.finditer(pattern, text, re.MULTILINE):
        yield found.span(found.lastindex or 0)


def main(*arguments: str) -> None:
    """Write the copies; with --check only name those that are old, and end with 1."""
    if arguments == ("--check",):
        old = out_of_step(_ROOT)
        if old:
            listed = "\n".join(old)
            sys.exit(f"{listed}\nnot {version_of(_ROOT)}, the version of pyproject.toml; run: make version")
    elif arguments:
        sys.exit("usage: python -m tools.release.version [--check]")
    else:
        write_copies(_ROOT)


if __name__ == "__main__":
    main(*sys.argv[1:])
