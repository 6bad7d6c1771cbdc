"""What is seen of a soak while it runs: a moving table in a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

__all__ = ["Screen"]

_LINE_EACH_SECONDS = 30.0


class Screen:
    """Shows phases and figures while the block runs."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._progress = Progress(
            TextColumn("[bold cyan]{task.description}"),
            BarColumn(bar_width=None),
            TimeElapsedColumn(),
            expand=True,
        )
        self._task = self._progress.add_task("starting", total=None)
        self._live = Live(self._progress, console=console, refresh_per_second=4)
        self._began = time.monotonic()
        self._last_line = 0.0
        self._phase = ""

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.console.is_terminal:
            self._live.stop()

    def phase(self, what: str, total: float | None = None) -> None:
        """A new part begins, of so many seconds where that is known."""
        self._phase = what
        self._progress.reset(self._task, description=what, total=total)
        if not self.console.is_terminal:
            elapsed = time.monotonic() - self._began
            self.console.print(f"{elapsed:5.0f} s  {what}", markup=False, highlight=False)

    def show(self, done: float, figures: Mapping[str, str]) -> None:
        """Show how far it is, in seconds, and what was measured until now."""
        if self.console.is_terminal:
            self._progress.update(self._task, completed=done)
            table = Table(show_header=False, box=None, padding=(0, 2))
            for name, figure in figures.items():
                table.add_row(f"[dim]{name}[/]", figure)
            self._live.update(Group(self._progress, table))
        elif time.monotonic() - self._last_line >= _LINE_EACH_SECONDS:
            self._last_line = time.monotonic()
            told = ", ".join(f"{name} {figure}" for name, figure in figures.items() if figure)
            self.console.print(
                f"{self._phase}: {done:.0f} s: {told}", markup=False, highlight=False, soft_wrap=True
            )
