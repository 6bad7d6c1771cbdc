"""How much of a directory of foreign manifests is converted, and what prevents the rest.

    PYTHONPATH=tests:. python -m support.migration_share DIRECTORY [--map-store ...]

The options are those of `keybearer migrate`. Files are YAML, or Markdown: then each fenced `yaml` block is a file.
Each is converted alone, because examples of many pages have the same names, but what it names may be in any of them.
Two things are mended first, because neither is part of a manifest: lines that hold nothing but marks of a page's
generator are removed, and placeholders in angle brackets become words.

The second table has a row for each reason that kept an object from being whole: how many objects have it, and for how
many of them it is the only one.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from keybearer.migrate.conversion import Outcome, Reading, convert, read_text
from keybearer.migrate.findings import HARMLESS, Verdict
from support.migration import settings_of

__all__ = ["Share", "blocks_of", "share_of"]

_PAGE_MARK = re.compile(r"^\s*\{%.*%\}\s*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z -]*>|<>")
_FENCE = re.compile(
    r"^(?P<indent>[ \t]*)```[ \t]*ya?ml\b[^\n]*\n(?P<text>.*?)^[ \t]*```", re.DOTALL | re.MULTILINE
)
_MARKDOWN = frozenset({".md", ".mdx"})
_REASONS_MAX = 60


@dataclass(slots=True)
class Share:
    """What became of a directory.

    Attributes:
        verdicts: how many objects have each, by project and kind; the kind `all` has all kinds of a project.
        reasons: how many objects that are not whole have each reason, by kind and field.
        alone: likewise, of objects that have no other.
        unreadable: how many files could not be read whole.
        replaced: how many whole objects are stores that a mapping replaces: they became nothing, and what read from
            them reads from the mapped folder.
    """

    verdicts: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    alone: Counter[tuple[str, str]] = field(default_factory=Counter)
    unreadable: int = 0
    replaced: int = 0

    def count(self, one: Outcome) -> None:
        """Count one object."""
        for kind in (one.origin.kind, "all"):
            key = (one.project.value, kind)
            self.verdicts.setdefault(key, Counter())[one.verdict.value] += 1
        is_replaced = any(finding.why.startswith("is replaced by") for finding in one.findings)
        self.replaced += is_replaced and one.verdict is Verdict.WHOLE
        found = {(one.origin.kind, finding.why) for finding in one.findings if finding.effect not in HARMLESS}
        self.reasons.update(found)
        if len(found) == 1:
            self.alone.update(found)


def blocks_of(path: Path) -> Iterator[str]:
    """Yield the YAML of a file: all of it, or the fenced blocks of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix not in _MARKDOWN:
        yield text
        return
    for block in _FENCE.finditer(text):
        indent = block["indent"]
        yield "\n".join(line.removeprefix(indent) for line in block["text"].splitlines())


def share_of(directory: Path, options: list[str]) -> Share:
    """Return how much of the files below a directory is converted.

    Args:
        directory: of manifests, or of pages that have some.
        options: of `keybearer migrate`.
    """
    readings: list[Reading] = []
    for path in sorted(one for one in directory.rglob("*") if one.is_file()):
        for block in blocks_of(path):
            readings.append(Reading())
            text = _PLACEHOLDER.sub("placeholder", _PAGE_MARK.sub("", block))
            read_text(readings[-1], text, path.name)
    everything = [one for reading in readings for one in reading.objects]
    settings = settings_of(options)
    share = Share(unreadable=sum(bool(reading.unreadable) for reading in readings))
    for reading in readings:
        for one in convert(reading, settings, everything).outcomes:
            share.count(one)
    return share


def _lines(share: Share) -> Iterator[str]:
    for (project, kind), verdicts in sorted(share.verdicts.items()):
        counted = ", ".join(f"{verdicts[verdict.value]} {verdict.value}" for verdict in Verdict)
        total = sum(verdicts.values())
        yield f"{project}: {kind}: {counted} of {total} ({100 * verdicts['whole'] // total} % whole)"
    yield f"of those that are whole, {share.replaced} are stores that --map-store replaces"
    yield f"{share.unreadable} files could not be read whole"
    yield ""
    yield "OBJECTS  ALONE  WHAT PREVENTS THE REST"
    for (kind, why), count in share.reasons.most_common(_REASONS_MAX):
        yield f"{count:7}  {share.alone[kind, why]:5}  {kind}: {why}"


def _print(directory: Path, options: list[str]) -> None:
    for line in _lines(share_of(directory, options)):
        print(line)  # noqa: T201 - a program that prints


if __name__ == "__main__":
    _print(Path(sys.argv[1]), sys.argv[2:])
