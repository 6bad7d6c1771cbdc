"""Patterns over folder paths, as grants name places.

`*` stands for anything within one name of a path, and a name of `**` for any number of names, none included:
`/app/**` is `/app` and all beneath it.

Walked without regular expressions, in time bounded by pattern times path: a pattern comes from a caller.
"""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.domain.errors import SchemaViolationError

__all__ = ["PATTERN_MAX", "PathPattern", "parse_pattern"]

PATTERN_MAX = 1024
_MAX_NAMES = 64
_ANY_DEPTH = "**"


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern, one part per name of a path."""

    parts: tuple[str, ...]

    @property
    def is_everything(self) -> bool:
        """Whether it matches every path."""
        return bool(self.parts) and all(part == _ANY_DEPTH for part in self.parts)

    def matches(self, path: str) -> bool:
        """Return whether the path is one of those meant."""
        return len(self.parts) in self._after(path)

    def meets_beneath(self, path: str) -> bool:
        """Return whether a path that is meant is this one or could lie under it."""
        return bool(self._after(path))

    def covers_beneath(self, path: str) -> bool:
        """Return whether this path and all that could lie under it are meant."""
        last = len(self.parts) - 1
        return last >= 0 and self.parts[last] == _ANY_DEPTH and last in self._after(path)

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

    def _after(self, path: str) -> set[int]:
        """Return how far into the pattern one may be when the path has been walked."""
        places = self._skipping({0})
        for name in path.strip("/").split("/") if path != "/" else ():
            places = self._skipping(
                {
                    place if self.parts[place] == _ANY_DEPTH else place + 1
                    for place in places
                    if place < len(self.parts) and _name_matches(self.parts[place], name)
                }
            )
        return places

    def _skipping(self, places: set[int]) -> set[int]:
        """Add where one may be after `**` that stand for nothing (more)."""
        reached = set()
        for start in places:
            place = start
            reached.add(place)
            while place < len(self.parts) and self.parts[place] == _ANY_DEPTH:
                place += 1
                reached.add(place)
        return reached

    def __str__(self) -> str:
        return "/" + "/".join(self.parts)


def parse_pattern(text: str) -> PathPattern:
    """Return the pattern of a text; slashes too many, and one missing in front, are forgiven as in paths.

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
    return PathPattern(parts)


def _name_matches(pattern: str, name: str) -> bool:
    if pattern == _ANY_DEPTH:
        return True
    first, *middle = pattern.split("*")
    if not middle:
        return pattern == name
    *middle, last = middle
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
