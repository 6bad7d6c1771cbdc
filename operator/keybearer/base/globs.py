"""Lists of names with wildcards, parted by commas."""

from __future__ import annotations

__all__ = ["listed_globs", "matches_any", "matches_glob"]


def listed_globs(text: str) -> tuple[str, ...]:
    """Return the patterns of a list, without the empty ones."""
    return tuple(pattern for part in text.split(",") if (pattern := part.strip()))


def matches_any(patterns: tuple[str, ...], name: str) -> bool:
    """Return whether a pattern matches the whole name; no patterns at all match every name."""
    return not patterns or any(matches_glob(pattern, name) for pattern in patterns)


def matches_glob(pattern: str, name: str) -> bool:
    """Return whether `*` (any characters) and `?` (one) of the pattern can stand for the whole name.

    Only the last `*` is ever tried again, so the time is at most the product of the two lengths.
    """
    at_pattern = at_name = 0
    star = resume = -1
    while at_name < len(name):
        expected = pattern[at_pattern : at_pattern + 1]
        if expected == "*":
            star, resume = at_pattern, at_name
            at_pattern += 1
        elif expected and expected in ("?", name[at_name]):
            at_pattern, at_name = at_pattern + 1, at_name + 1
        elif star >= 0:
            # The last star takes one character more.
            resume += 1
            at_pattern, at_name = star + 1, resume
        else:
            return False
    return not pattern[at_pattern:].strip("*")
