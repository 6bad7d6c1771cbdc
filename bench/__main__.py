"""`python -m bench operator` measures the operator; `python -m bench report` renders the last run again."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import uvloop
from rich.console import Console

from bench.errors import BenchError, causes
from bench.figures import RowResult, Run, load_run, save_run
from bench.machine import describe_machine, held_directory
from bench.options import Options, quick
from bench.registry import ROWS
from bench.table import markdown, placed, print_run
from bench.workload import Dimensions
from support.controlplane.errors import ControlPlaneError

__all__ = ["main"]

_BUILD = Path(__file__).parents[1] / "build"
_QUICK_SYNCS = 100


def main(arguments: list[str] | None = None) -> int:
    """Return the exit status: 0 unless something could not be measured, whatever the figures say."""
    given = _parser().parse_args(arguments)
    if given.command == "report":
        _report(load_run(given.json), given.into)
        return 0
    try:
        with held_directory(given.logs), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_measure(_options(given), given.rows, given.json))
    except BenchError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _report(run: Run, page: Path | None) -> None:
    if page is None:
        sys.stdout.write(markdown(run))
    else:
        page.write_text(placed(run, page.read_text()))


async def _measure(options: Options, names: list[str], json: Path) -> int:
    """Measure the rows one after the other; the file and the table hold what worked."""
    console = Console(width=None if sys.stdout.isatty() else 180)
    started, machine = datetime.now(UTC), describe_machine()
    done: dict[str, RowResult] = {}
    failures: dict[str, BaseException] = {}
    run = _run(options, started, machine, done)
    for name in names:
        console.print(f"measuring {name} ...", style="dim")
        try:
            done[name] = await ROWS[name].run(options, done)
        except* (BenchError, ControlPlaneError) as error:
            failures[name] = error
        run = _run(options, started, machine, done)
        save_run(run, json)
    print_run(run, console)
    console.print(f"written to {json}; logs of all programs are in {options.directory}", markup=False)
    for name, failure in failures.items():
        for cause in causes(failure):
            console.print(
                f"{name} could not be measured: {cause}", style="red", markup=False, highlight=False
            )
    return 1 if failures else 0


def _run(options: Options, started: datetime, machine: dict[str, str], done: dict[str, RowResult]) -> Run:
    dimensions = options.dimensions
    return Run(
        started_at=started.isoformat(timespec="seconds"),
        machine=machine,
        settings={
            "SecretSyncs": f"{dimensions.syncs:,} in {dimensions.namespaces} namespaces",
            "sources": f"{dimensions.sources} of {dimensions.keys} keys",
            "service latency added": f"{options.latency_seconds * 1000:g} ms",
            "repeats of the cold sync": str(options.repeats),
        },
        comparable=dimensions == Dimensions(),
        rows=tuple(done.values()),
    )


def _options(given: argparse.Namespace) -> Options:
    if given.quick:
        return quick(given.logs, given.syncs or _QUICK_SYNCS)
    options = Options(given.logs)
    if given.syncs:
        options = replace(options, dimensions=replace(options.dimensions, syncs=given.syncs))
    return replace(options, endurance_minutes=given.minutes)


def _row_names(text: str) -> list[str]:
    unknown = set(names := text.split(",")) - ROWS.keys()
    if unknown:
        msg = f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(ROWS)}"
        raise argparse.ArgumentTypeError(msg)
    return sorted(names, key=list(ROWS).index)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    file = argparse.ArgumentParser(add_help=False)
    file.add_argument("--json", type=Path, default=_BUILD / "bench.json", help="where the figures are kept")
    commands = parser.add_subparsers(dest="command", required=True)
    operator = commands.add_parser("operator", parents=[file], help="measure the operator")
    operator.add_argument(
        "--rows",
        type=_row_names,
        default=[name for name, row in ROWS.items() if not row.only_when_named],
        help=f"comma-separated, of {', '.join(ROWS)}; default: all but endurance",
    )
    operator.add_argument("--quick", action="store_true", help="small and short: shows that everything works")
    operator.add_argument("--syncs", type=int, help="SecretSyncs; figures other than of 1,000 get no verdict")
    operator.add_argument("--minutes", type=float, default=10.0, help="length of the endurance row")
    operator.add_argument(
        "--logs",
        type=Path,
        default=_BUILD / "bench",
        help="folder for logs and data, used by one run at a time",
    )
    report = commands.add_parser("report", parents=[file], help="print the last run as Markdown")
    report.add_argument("--into", type=Path, help="a page to put it into, between its marks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
