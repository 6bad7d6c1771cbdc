"""How much of a directory of foreign manifests is carried over, project by project.

    PYTHONPATH=tests:. python -m support.migration_share DIRECTORY [--map-store ...]

Options are those of `keybearer migrate`. Each file is converted by itself, as examples of many pages have the same
names, but what it names may be in any of them. Lines that are marks of a page's generator alone are taken out first,
and placeholders in angle brackets become words: neither is part of a manifest.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from keybearer.migrate.conversion import Reading, convert, read_text
from keybearer.migrate.findings import Verdict
from support.migration import settings_of

__all__ = ["share_of"]

_PAGE_MARK = re.compile(r"^\s*\{%.*%\}\s*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z -]*>|<>")


def share_of(directory: Path, options: list[str]) -> tuple[Mapping[tuple[str, str], Counter[str]], int]:
    """Return verdicts by project and kind, and how many files couldn't be read."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    readings = []
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            readings.append(Reading())
            text = _PLACEHOLDER.sub("placeholder", _PAGE_MARK.sub("", path.read_text(encoding="utf-8")))
            read_text(readings[-1], text, path.name)
    everything = [one for reading in readings for one in reading.objects]
    settings = settings_of(options)
    for reading in readings:
        for one in convert(reading, settings, everything).outcomes:
            for kind in (one.origin.kind, "all"):
                counts.setdefault((one.project.value, kind), Counter())[one.verdict.value] += 1
    return counts, sum(bool(reading.unreadable) for reading in readings)


def _print(directory: Path, options: list[str]) -> None:
    counts, unreadable = share_of(directory, options)
    for (project, kind), verdicts in sorted(counts.items()):
        told = ", ".join(f"{verdicts[verdict.value]} {verdict.value}" for verdict in Verdict)
        total = sum(verdicts.values())
        print(f"{project}: {kind}: {told} of {total} ({100 * verdicts['whole'] // total} % whole)")  # noqa: T201 - a program that prints
    print(f"{unreadable} files could not be read whole")  # noqa: T201 - same


if __name__ == "__main__":
    _print(Path(sys.argv[1]), sys.argv[2:])
