"""What the demo shows: numbered steps, each with what was observed, on a terminal or in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["DemoError", "Stage"]


class DemoError(Exception):
    """Something that should have been observed was not; the text says what, and where to look."""


class Stage:
    """Writes the demo's steps."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)
        self._number = 0

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Announce a step, and say how long it took; yields a function that reports what was observed."""
        self._number += 1
        self.console.print(f"[bold cyan]{self._number}.[/] [bold]{escape(title)}[/]")
        began = time.monotonic()
        yield self.observed
        self.console.print(f"   [dim]{time.monotonic() - began:.1f} s[/]")

    def observed(self, text: str) -> None:
        """Report one thing that was seen."""
        self.console.print(f"   [green]✓[/] {escape(text)}", soft_wrap=True)

    def output(self, command: str, text: str) -> None:
        """Show a command and what it printed, as a user would see it."""
        self.console.print(f"   [dim]$[/] {escape(command)}")
        for line in text.rstrip().splitlines():
            self.console.print(f"   {line}", soft_wrap=True, markup=False)

    def table(self, title: str, rows: dict[str, str]) -> None:
        """Show names and values."""
        table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2))
        for name, value in rows.items():
            table.add_row(f"[bold]{escape(name)}[/]", escape(value))
        self.console.print(table)
