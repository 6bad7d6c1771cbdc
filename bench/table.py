"""Shows a run: as a table on a terminal, as Markdown for `docs/performance.md`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.errors import BenchError
from bench.figures import Figure, Run, quantity

__all__ = ["BEGIN", "END", "cells", "markdown", "placed", "print_run"]

BEGIN = "<!-- bench: begin -->"
END = "<!-- bench: end -->"

_HEADINGS = (
    "what",
    "floor",
    "ours",
    "ratio",
    "bar",
    "reached",
    "External Secrets 2.9.0",
    "Infisical operator 0.11.5",
)
_VERDICTS = {True: "yes", False: "no", None: ""}


def cells(figure: Figure, *, comparable: bool) -> tuple[str, ...]:
    """Return one line of the table; a run of other sizes than the bars' gets no verdict."""
    floor = quantity(figure.floor, figure.unit)
    if floor and figure.floor_name:
        floor = f"{floor} ({figure.floor_name})"
    return (
        figure.what,
        floor,
        quantity(figure.ours, figure.unit),
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        figure.bar.text if figure.bar else "",
        _VERDICTS[figure.reached] if comparable else "",
        figure.others.external_secrets,
        figure.others.infisical,
    )


def print_run(run: Run, console: Console) -> None:
    """One table for each row of the run, with its notes below."""
    for name, value in {**run.machine, **run.settings}.items():
        console.print(f"{name}: {value}", style="dim", markup=False, highlight=False)
    for row in run.rows:
        table = Table(title=escape(row.title), title_justify="left", show_lines=False)
        for position, heading in enumerate(_HEADINGS):
            table.add_column(heading, justify="right" if position in {1, 2, 3} else "left")
        for figure in row.figures:
            table.add_row(*map(escape, cells(figure, comparable=run.comparable)))
        console.print(table)
        for note in row.notes:
            console.print(f"  {note}", markup=False, highlight=False)
    if not run.comparable:
        console.print("Sizes differ from those that the bars were set for: no verdicts.", style="yellow")


def markdown(run: Run) -> str:
    """Return the run as Markdown: machine and settings, then a table with notes for each row of the run."""
    return "\n".join(_markdown_lines(run)) + "\n"


def placed(run: Run, page: str) -> str:
    """Return the page with the run in Markdown between its two marks, in place of what was there.

    Raises:
        BenchError: the page has not exactly one of each mark, in order.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in after:
        msg = f"the page must hold {BEGIN} and then {END}, each once"
        raise BenchError(msg)
    return f"{before}{BEGIN}\n\n{markdown(run)}\n{END}{after}"


def _markdown_lines(run: Run) -> Iterator[str]:
    yield f"Run of {run.started_at}."
    if not run.comparable:
        yield ""
        yield "Sizes differ from those that the bars were set for: no verdicts."
    yield ""
    for name, value in {**run.machine, **run.settings}.items():
        yield f"- {name}: {value}"
    for row in run.rows:
        yield ""
        yield f"### {row.title}"
        yield ""
        yield f"| {' | '.join(_HEADINGS)} |"
        yield f"|{'---|' * len(_HEADINGS)}"
        for figure in row.figures:
            line = (text.replace("|", "\\|") for text in cells(figure, comparable=run.comparable))
            yield f"| {' | '.join(line)} |"
        if row.notes:
            yield ""
            yield from (f"- {note}" for note in row.notes)
