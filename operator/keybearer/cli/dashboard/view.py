"""What the page shows: a table of rows with details, one page of it at a time. Pure; the page only draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

__all__ = ["PAGE_SIZE", "Cell", "Detail", "Query", "Row", "Tone", "View", "more_about", "paged"]

PAGE_SIZE = 50
"""Rows of one page: what a person looks through, and quick to draw on a phone."""
_SEARCH_MAX = 253

_Item = TypeVar("_Item")


class Tone(StrEnum):
    """How a row is coloured; its text says the same."""

    BAD = "bad"
    WAITING = "waiting"
    GOOD = "good"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a row.

    Attributes:
        text: as it is shown.
        at: an instant, which the page shows after the text as a distance from now.
    """

    text: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Detail:
    """A line below a row.

    Attributes:
        label: what it is about.
        text: as it is shown.
        at: an instant, shown as of a cell.
        command: for a shell; the page offers to copy it.
    """

    label: str
    text: str = ""
    at: datetime | None = None
    command: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One object, or a part of one.

    Attributes:
        key: tells it from all other rows of the view, and stays while the object does.
        title: of the details.
    """

    key: str
    title: str
    tone: Tone
    cells: tuple[Cell, ...]
    details: tuple[Detail, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A page of a table.

    Attributes:
        name: as the address has it.
        heading: what the table answers.
        summary: the answer in a sentence.
        columns: their headings.
        rows: of this page.
        total: rows of all pages.
        page: its number, from 1.
        pages: how many there are, at least 1.
        notes: what isn't shown, and why.
    """

    name: str
    heading: str
    summary: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    total: int
    page: int = 1
    pages: int = 1
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Query:
    """What of a view is asked for.

    Attributes:
        search: words that the names of a row must contain, each of them.
        page: from 1; one after the last means the last.
    """

    search: str = ""
    page: int = 1

    @classmethod
    def of(cls, search: str, page: str) -> Query:
        """Return the query of an address; what can't be one counts as absent."""
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 1
        return cls(search[:_SEARCH_MAX].lower(), max(1, number))

    def finds(self, *names: str) -> bool:
        """Tell whether each word is in one of the names."""
        return all(any(word in name.lower() for name in names) for word in self.search.split())


def more_about(kind: str, namespace: str, name: str) -> Detail:
    """Return the line of a row that leads to all that is known of an object."""
    explain = f"keybearer explain {kind.lower()} {namespace}/{name}"
    return Detail("More", "Everything that is known about it:", command=explain)


def paged(
    view: Callable[..., View], items: Sequence[_Item], query: Query, row: Callable[[_Item], Row]
) -> View:
    """Return the page of a view that is asked for; only its rows are made.

    Args:
        view: makes it, given `rows`, `total`, `page` and `pages`.
        items: of all pages, in order.
        query: says which page.
        row: makes the row of an item.
    """
    pages = max(1, -(-len(items) // PAGE_SIZE))
    page = min(query.page, pages)
    shown = items[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    return view(rows=tuple(map(row, shown)), total=len(items), page=page, pages=pages)
