"""Markdown that code hosts and the site read alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["NOTE", "anchor", "cell", "code", "table"]

NOTE = "<!-- Written by `make reference` from the code; edit that instead. -->"


def cell(text: str) -> str:
    """Return prose for a table's cell: in one line, and nothing in it read as a tag or as the cell's end."""
    plain = " ".join(text.split())
    parts = re.split(r"(`[^`]*`)", plain)
    told = "".join(part if part.startswith("`") else part.replace("<", "\\<") for part in parts)
    return told.replace("|", "\\|")


def code(text: object) -> str:
    """Return the text as code, also where it holds backquotes."""
    said = " ".join(str(text).split())
    fence = "``" if "`" in said else "`"
    pad = " " if "`" in said else ""
    return f"{fence}{pad}{said}{pad}{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown already, and may be empty."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"|{'|'.join(f' {part} ' if part else ' ' for part in row)}|" for row in rows]
    return "\n".join(lines) + "\n"


def anchor(heading: str) -> str:
    """Return where a heading of this page is found, as code hosts name it."""
    return "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
