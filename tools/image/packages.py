"""Packages of the distribution whose files are in the image, from dpkg's own records."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Package", "packages_of"]

_RECORDS = Path("/var/lib/dpkg")
# Directories that are links into /usr by now; dpkg goes on naming files by the old path.
_MERGED = re.compile(r"^/(bin|lib|lib32|lib64|libx32|sbin)/")


@dataclass(frozen=True, slots=True)
class Package:
    """A package as it is installed.

    Attributes:
        name: without architecture.
        version: as dpkg writes it.
        architecture: dpkg's word for it, such as amd64.
        record: its whole paragraph in dpkg's status.
    """

    name: str
    version: str
    architecture: str
    record: str


def packages_of(files: Iterable[Path], also: Iterable[str] = (), records: Path = _RECORDS) -> list[Package]:
    """The packages that any of the files belongs to, in the order of their names.

    Args:
        files: real paths, without symbolic links in them.
        also: names of packages that count, though none of their files is among them.
        records: dpkg's directory; there is none where the distribution is no Debian.
    """
    owners = _owners(records / "info")
    names = {owners.get(_merged(str(path))) for path in files} | set(also)
    return [package for name, package in sorted(_installed(records / "status").items()) if name in names]


def _owners(lists: Path) -> dict[str, str]:
    """The package of each path."""
    return {
        _merged(line): listing.stem.partition(":")[0]
        for listing in sorted(lists.glob("*.list"))
        for line in listing.read_text().splitlines()
    }


def _merged(path: str) -> str:
    return _MERGED.sub(r"/usr/\1/", path)


def _installed(status: Path) -> dict[str, Package]:
    if not status.is_file():
        return {}
    found: dict[str, Package] = {}
    for paragraph in status.read_text().split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            name = fields["Package"]
            found[name] = Package(name, fields["Version"], fields["Architecture"], paragraph.strip() + "\n")
    return found
