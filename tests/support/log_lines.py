"""Logs that are read while they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["whole_lines"]


def whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """Give the lines that have come to their end: the last one may be half written."""
    return (line for line in lines if line.endswith("\n"))
