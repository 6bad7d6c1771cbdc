"""What commands print: tables for people, JSON for programs; colour on terminals alone.

Answers go to stdout, everything else (notes, progress, questions) to stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, NamedTuple, TypeAlias

import orjson
import typer

__all__ = [
    "PIPE_WIDTH",
    "Cell",
    "Output",
    "OutputFormat",
    "Styled",
    "Yes",
    "clear_terminal",
    "note",
    "print_done",
    "print_exactly",
    "print_fields",
    "print_found",
    "print_json",
    "print_table",
    "printable",
    "progress",
    "require_confirmed",
    "spinner",
    "steers_terminal",
]

PIPE_WIDTH = 10_000
"""Of what is no terminal: nothing is cut or folded there."""


class OutputFormat(StrEnum):
    """For whom."""

    TABLE = "table"
    JSON = "json"


Output = Annotated[
    OutputFormat, typer.Option("--output", "-o", envvar="KEYBEARER_OUTPUT", help="table or json.")
]


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


class Styled(NamedTuple):
    """A text in a colour; `style` is one of rich's, such as `red`."""

    text: str
    style: str


Cell: TypeAlias = str | Styled


def print_json(content: object) -> None:
    """Print a value as JSON; dataclasses with the names of their fields."""
    print_exactly(orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n")


def print_exactly(text: str) -> None:
    """Print a text in UTF-8 as it is, whatever the locale says."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, err: bool = False) -> None:
    """Print rows under headings; long texts are folded to the terminal, never cut. `err` prints to stderr."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, stderr=err)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        styled = (cell if isinstance(cell, Styled) else Styled(cell, "") for cell in row)
        table.add_row(*(Text(printable(text), style) for text, style in styled))
    console.print(table)


def clear_terminal() -> None:
    """Clear the terminal that stdout is; nothing is printed to anything else."""
    from rich.console import Console

    Console().clear()


def printable(text: str) -> str:
    """Return the text without what would steer a terminal; line breaks stay."""
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def steers_terminal(text: str) -> bool:
    """Return whether a terminal could take some of the text for commands; line breaks and tabs are none."""
    return any(not char.isprintable() and char not in "\n\t" for char in text)


def note(text: str) -> None:
    """Tell a person something that is no answer."""
    typer.echo(printable(text), err=True)


def print_found(
    output: OutputFormat, content: object, columns: Sequence[str], rows: Iterable[Sequence[Cell]]
) -> None:
    """Print what was asked for: programs get the content, people the rows, or that there are none."""
    if output is OutputFormat.JSON:
        print_json(content)
    elif listed := list(rows):
        print_table(columns, listed)
    else:
        note("Nothing found.")


def print_fields(output: OutputFormat, content: object, rows: Iterable[tuple[str, Cell]]) -> None:
    """Print all that there is to tell of one thing: programs get the content, people names and contents."""
    print_found(output, content, ("FIELD", "CONTENT"), rows)


def print_done(output: OutputFormat, content: object, text: str) -> None:
    """Tell what was done: programs get the content, people the text."""
    if output is OutputFormat.JSON:
        print_json(content)
    else:
        note(text)


def require_confirmed(question: str, *, yes: bool) -> None:
    """Return if `yes` was given, or the person at the terminal says so.

    Raises:
        typer.Exit: the person says no.
        CommandError: there is nobody to ask.
    """
    from keybearer.cli.failures import ExitStatus, misused

    if yes:
        return
    if not sys.stdin.isatty():
        raise misused(f"{question} There is no terminal to ask at.", "Say --yes if you mean it.")
    if not typer.confirm(question, err=True):
        raise typer.Exit(ExitStatus.FAILED)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal while the block works; yields what moves it on."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)

        def advance(done: int) -> None:
            bar.advance(task, done)

        yield advance


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Show on a terminal that the block waits; yields what says for what."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("") as status:
        yield lambda text: status.update(Text(printable(text)))
