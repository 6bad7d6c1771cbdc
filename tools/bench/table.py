"""Shows a run: as a table on a terminal, as Markdown for `docs/performance.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tools.bench.errors import BenchError
from tools.bench.figures import Figure, RowResult, Run, Subject, quantity

__all__ = ["cells", "markdown", "marks", "placed", "print_run"]

_HEADINGS = (
    "what",
    "floor",
    "ours",
    "ratio",
    "bar",
    "reached",
    "memory at its peak",
    "External Secrets 2.9.0",
    "Infisical operator 0.11.5",
)
_FIGURES = {"floor", "ours", "ratio", "memory at its peak"}
_BAR = "\\|"
_VERDICTS = {True: "yes", False: "no", None: ""}


def marks(subject: Subject) -> tuple[str, str]:
    """Return between which lines of the page a run of that subject stands."""
    word = "bench" if subject == "operator" else f"bench {subject}"
    return f"<!-- {word}: begin -->", f"<!-- {word}: end -->"


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
        quantity(figure.peak_mib, "MiB"),
        figure.others.external_secrets,
        figure.others.infisical,
    )


def print_run(run: Run, console: Console) -> None:
    """One table for each row of the run, with its notes below."""
    for name, value in {**run.machine, **run.settings}.items():
        console.print(f"{name}: {value}", style="dim", markup=False, highlight=False)
    for row in run.rows:
        table = Table(title=escape(row.title), title_justify="left", show_lines=False)
        headings, lines = _filled(row, comparable=run.comparable)
        for heading in headings:
            table.add_column(heading, justify="right" if heading in _FIGURES else "left")
        for line in lines:
            table.add_row(*map(escape, line))
        console.print(table)
        for note in row.notes:
            console.print(f"  {note}", markup=False, highlight=False)
    if not run.comparable:
        console.print("Sizes differ from those that the bars were set for: no verdicts.", style="yellow")


def markdown(run: Run) -> str:
    """Return the run as Markdown: machine and settings, then a table with notes for each row of the run."""
    return "\n".join(_markdown_lines(run)) + "\n"


def placed(run: Run, page: str) -> str:
    """Return the page with the run in Markdown between the two marks of its subject, in place of what was there.

    Raises:
        BenchError: the page has not exactly one of each mark, in order.
    """
    first, last = marks(run.subject)
    before, begin, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end or first in rest or last in after:
        msg = f"the page must hold {first} and then {last}, each once"
        raise BenchError(msg)
    return f"{before}{first}\n\n{markdown(run)}\n{last}{after}"


def _filled(row: RowResult, *, comparable: bool) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return headings and lines of a table, without columns in which nothing stands."""
    lines = [cells(figure, comparable=comparable) for figure in row.figures]
    kept = [position for position in range(len(_HEADINGS)) if any(line[position] for line in lines)]
    return [_HEADINGS[position] for position in kept], [
        [line[position] for position in kept] for line in lines
    ]


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
        headings, lines = _filled(row, comparable=run.comparable)
        yield f"| {' | '.join(headings)} |"
        yield f"|{'---|' * len(headings)}"
        for line in lines:
            yield f"| {' | '.join(text.replace('|', _BAR) for text in line)} |"
        if row.notes:
            yield ""
            yield from (f"- {note}" for note in row.notes)
