"""Patterns over folder paths, as grants name places.

`*` stands for anything within one name of a path, and a name of `**` for any number of names, none included:
`/app/**` is `/app` and all beneath it.

A pattern and the path that it is asked about come from callers. No regular expressions, then: the path is walked
name by name, with all places of the pattern that may have been reached by then. Each name is looked up once, and
compared once with each part that holds a `*`, however many `**` there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from keybearer.domain.errors import InvalidError, SchemaViolationError
from keybearer.wire.limits import PATTERN_ANY_DEPTH_MAX, PATTERN_STARS_MAX

__all__ = ["PATTERN_MAX", "PathPattern", "new_pattern", "parse_pattern"]

PATTERN_MAX = 1024
_MAX_NAMES = 64
_ANY_DEPTH = "**"


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern, one part per name of a path; no `**` follows another, which would mean the same."""

    parts: tuple[str, ...]

    @property
    def is_everything(self) -> bool:
        """Whether it matches every path."""
        return self.parts == (_ANY_DEPTH,)

    def matches(self, path: str) -> bool:
        """Return whether the path is one of those meant."""
        return bool(self._after(path) >> len(self.parts))

    def meets_beneath(self, path: str) -> bool:
        """Return whether a path that is meant is this one or could lie under it."""
        return bool(self._after(path))

    def covers_beneath(self, path: str) -> bool:
        """Return whether this path and all that could lie under it are meant."""
        last = len(self.parts) - 1
        return last >= 0 and self.parts[last] == _ANY_DEPTH and bool(self._after(path) >> last & 1)

    def may_overlap(self, other: PathPattern) -> bool:
        """Return False only where no path can match both: their literal beginnings part ways."""
        for mine, theirs in zip(self.parts, other.parts, strict=False):
            if "*" in mine or "*" in theirs:
                return True
            if mine != theirs:
                return False
        # One is the beginning of the other; it meets it only where it is of the same length, or goes on.
        longer = max(self.parts, other.parts, key=len)
        shorter = min(len(self.parts), len(other.parts))
        return all(part == _ANY_DEPTH for part in longer[shorter:])

    def _after(self, path: str) -> int:
        """Return how far into the pattern one may be when the path has been walked: a bit for each place."""
        exact: dict[str, int] = {}
        starred: dict[str, int] = {}
        anywhere = 0
        for place, part in enumerate(self.parts):
            if part == _ANY_DEPTH:
                anywhere |= 1 << place
            else:
                alike = starred if "*" in part else exact
                alike[part] = alike.get(part, 0) | 1 << place
        # Before each name and at the end, `**` may stand for nothing (more).
        places = 1 | (1 & anywhere) << 1
        for name in path.strip("/").split("/") if path != "/" else ():
            passed = places & exact.get(name, 0)
            for part, bits in starred.items():
                if places & bits and _name_matches(part, name):
                    passed |= places & bits
            places = passed << 1 | places & anywhere
            places |= (places & anywhere) << 1
            if not places:
                break
        return places

    def __str__(self) -> str:
        return "/" + "/".join(self.parts)


def new_pattern(text: str) -> PathPattern:
    """Return the pattern of a text that is to be stored.

    Raises:
        InvalidError: it holds `**` or `*` too often. What was stored before there were these limits keeps working.
        SchemaViolationError: as with `parse_pattern`.
    """
    pattern = parse_pattern(text)
    if pattern.parts.count(_ANY_DEPTH) > PATTERN_ANY_DEPTH_MAX:
        raise InvalidError(
            f"secretPath holds `**` at most {PATTERN_ANY_DEPTH_MAX} times; name some of the folders"
        )
    stars = sum(part.count("*") for part in pattern.parts if part != _ANY_DEPTH)
    if stars > PATTERN_STARS_MAX:
        raise InvalidError(
            f"secretPath holds `*` at most {PATTERN_STARS_MAX} times; name some of the folders"
        )
    return pattern


def parse_pattern(text: str) -> PathPattern:
    """Return the pattern of a text; slashes too many, and one missing in front, are forgiven as in paths.

    Several `**` in a row are one.

    Raises:
        SchemaViolationError: it is too long, or `**` is only a part of a name.
    """
    parts = tuple(part for part in text.strip().split("/") if part)
    if len(text) > PATTERN_MAX or len(parts) > _MAX_NAMES:
        raise SchemaViolationError(
            f"A path pattern has at most {PATTERN_MAX} characters and {_MAX_NAMES} names", field="secretPath"
        )
    if any(_ANY_DEPTH in part and part != _ANY_DEPTH for part in parts):
        raise SchemaViolationError("`**` must stand alone between two slashes", field="secretPath")
    return PathPattern(tuple(_without_runs(parts)))


def _without_runs(parts: Iterable[str]) -> Iterator[str]:
    for part, run in groupby(parts):
        yield from (part,) if part == _ANY_DEPTH else run


def _name_matches(pattern: str, name: str) -> bool:
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    start, end = len(first), len(name) - len(last)
    for part in middle:
        # The earliest place of each part leaves most room for the others.
        found = name.find(part, start, end)
        if found < 0:
            return False
        start = found + len(part)
    return True
