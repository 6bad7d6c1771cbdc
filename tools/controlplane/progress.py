"""Progress for people, on standard error: standard output belongs to the programs that use us.

In a terminal a build shows one live line. Elsewhere it writes a plain line every half minute.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Build", "BuildProgress", "announcement", "report"]

_LIVE_SECONDS = 1.0
_PLAIN_SECONDS = 30.0


def report(message: str, stream: TextIO | None = None, *, of: str = "control plane") -> None:
    """One line of what is under way on standard error, or the stream, visible at once."""
    to = stream or sys.stderr
    to.write(f"{of}: {message}\n")
    to.flush()


@dataclass(frozen=True, slots=True)
class Build:
    """One program that is being built.

    Attributes:
        name: Of the program.
        number: Its place among those that are built now, from 1.
        count: How many these are.
        seconds_at_most: How long it usually takes at most; None where nobody measured it.
    """

    name: str
    number: int
    count: int
    seconds_at_most: float | None = None

    def line(self, elapsed: float) -> str:
        """What the live line says after so many seconds."""
        usual = "" if self.seconds_at_most is None else f", usually at most {_clock(self.seconds_at_most)}"
        return f"building {self.name} ({self.number} of {self.count}): {_clock(elapsed)}{usual}"


class BuildProgress:
    """Shows that a build goes on, while the block runs.

    Args:
        build: What is built.
        stream: Where to show it; standard error unless told otherwise.
    """

    def __init__(self, build: Build, stream: TextIO | None = None) -> None:
        self._build = build
        self._stream = stream or sys.stderr
        self._live = _live_line(self._stream)

    def __enter__(self) -> Self:
        """Show the line, where there is one."""
        if self._live is not None:
            self._live.start()
            # A signal that ends us here and now would leave a terminal without a cursor.
            self._live.console.show_cursor()
            self.update(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the line."""
        if self._live is not None:
            self._live.stop()

    @property
    def interval_seconds(self) -> float:
        """How often to call `update`."""
        return _PLAIN_SECONDS if self._live is None else _LIVE_SECONDS

    def update(self, elapsed: float) -> None:
        """Show how many seconds have passed."""
        if self._live is None:
            report(f"building {self._build.name}: {elapsed:.0f} s", self._stream)
        else:
            text = Text(f"control plane: {self._build.line(elapsed)}", no_wrap=True, overflow="ellipsis")
            self._live.update(text, refresh=True)


def announcement(names: list[str], where: str, minutes: str) -> str:
    """What to say before programs are built.

    Args:
        names: Of the programs.
        where: The directory that keeps them.
        minutes: How long it takes, such as "4 to 8"; empty where nobody measured it.
    """
    programs = f"{len(names)} Go programs" if len(names) > 1 else "a Go program"
    duration = f" This takes {minutes} minutes on two cores." if minutes else ""
    return f"compiling {programs} once ({', '.join(names)}); {where} keeps them.{duration}"


def _live_line(stream: TextIO) -> Live | None:
    """A line that is drawn only when it is updated, or None where the stream is no terminal that can redraw."""
    if not stream.isatty():
        return None
    console = Console(file=stream, highlight=False)
    if console.is_dumb_terminal:
        return None
    # Without a thread of its own, and without a hand on the streams of the program that uses us.
    return Live(
        console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    )


def _clock(seconds: float) -> str:
    """Minutes and seconds, such as 3:07."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"
