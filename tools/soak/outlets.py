"""Searches logs for values of secrets, which all bear a mark."""

from __future__ import annotations

from pathlib import Path

from tools.local.marks import find_mark

__all__ = ["leak_in"]


def leak_in(log: Path) -> str | None:
    """Return the first line that shows a value, by file and number; None where none does."""
    with log.open(errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if find_mark(line) is not None:
                return f"{log.name} line {number}"
    return None
