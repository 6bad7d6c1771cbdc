"""Measures Keybearer from outside: `operator`, or `service`; `report` renders the last runs again."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import uvloop
from rich.console import Console

from tools.bench.errors import BenchError, causes
from tools.bench.figures import RowResult, Run, Subject, load_run, save_run
from tools.bench.machine import describe_machine, held_directory
from tools.bench.options import Options, ServiceOptions, quick, quick_service
from tools.bench.registry import ROWS, SERVICE_ROWS
from tools.bench.table import markdown, placed, print_run
from tools.bench.workload import Dimensions
from tools.controlplane.errors import ControlPlaneError

__all__ = ["main"]

_BUILD = Path(__file__).parents[2] / "build"
_FILES: Mapping[Subject, Path] = {
    "operator": _BUILD / "bench.json",
    "service": _BUILD / "bench-service.json",
}
_QUICK_SYNCS = 100


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one run does.

    Attributes:
        rows: by name, in their order; each is given the results of those before it.
        directory: where logs stay.
    """

    subject: Subject
    settings: Mapping[str, str]
    comparable: bool
    rows: Mapping[str, Callable[[Mapping[str, RowResult]], Awaitable[RowResult]]]
    directory: Path


def main(arguments: list[str] | None = None) -> int:
    """Return the exit status: 0 unless something could not be measured, whatever the figures say."""
    given = _parser().parse_args(arguments)
    if given.command == "report":
        _report(given.json or [path for path in _FILES.values() if path.exists()], given.into)
        return 0
    plan = _operator(given) if given.command == "operator" else _service(given)
    try:
        with held_directory(plan.directory), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_measure(plan, given.json))
    except BenchError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _report(files: list[Path], page: Path | None) -> None:
    runs = [load_run(path) for path in files]
    if page is None:
        sys.stdout.writelines(markdown(run) for run in runs)
        return
    text = page.read_text()
    for run in runs:
        text = placed(run, text)
    page.write_text(text)


async def _measure(plan: _Plan, json: Path) -> int:
    """Measure the rows one after the other; the file and the table hold what worked."""
    console = Console(width=None if sys.stdout.isatty() else 180)
    started, machine = datetime.now(UTC), describe_machine()
    done: dict[str, RowResult] = {}
    failures: dict[str, BaseException] = {}
    run = _run(plan, started, machine, done)
    for name, measure in plan.rows.items():
        console.print(f"measuring {name} ...", style="dim")
        try:
            done[name] = await measure(done)
        except* (BenchError, ControlPlaneError) as error:
            failures[name] = error
        run = _run(plan, started, machine, done)
        save_run(run, json)
    print_run(run, console)
    console.print(f"written to {json}; logs of all programs are in {plan.directory}", markup=False)
    for name, failure in failures.items():
        for cause in causes(failure):
            console.print(
                f"{name} could not be measured: {cause}", style="red", markup=False, highlight=False
            )
    return 1 if failures else 0


def _run(plan: _Plan, started: datetime, machine: dict[str, str], done: dict[str, RowResult]) -> Run:
    return Run(
        started_at=started.isoformat(timespec="seconds"),
        machine=machine,
        settings=plan.settings,
        comparable=plan.comparable,
        rows=tuple(done.values()),
        subject=plan.subject,
    )


def _operator(given: argparse.Namespace) -> _Plan:
    options = _operator_options(given)
    dimensions = options.dimensions
    return _Plan(
        subject="operator",
        settings={
            "SecretSyncs": f"{dimensions.syncs:,} in {dimensions.namespaces} namespaces",
            "sources": f"{dimensions.sources} of {dimensions.keys} keys",
            "service latency added": f"{options.latency_seconds * 1000:g} ms",
            "repeats of the cold sync": str(options.repeats),
        },
        comparable=dimensions == Dimensions(),
        rows={name: partial(ROWS[name].run, options) for name in given.rows},
        directory=options.directory,
    )


def _operator_options(given: argparse.Namespace) -> Options:
    if given.quick:
        return quick(given.logs, given.syncs or _QUICK_SYNCS)
    options = Options(given.logs)
    if given.syncs:
        options = replace(options, dimensions=replace(options.dimensions, syncs=given.syncs))
    return replace(options, endurance_minutes=given.minutes)


def _service(given: argparse.Namespace) -> _Plan:
    options = quick_service(given.logs) if given.quick else ServiceOptions(given.logs)

    def measured(name: str) -> Callable[[Mapping[str, RowResult]], Awaitable[RowResult]]:
        return lambda _earlier: SERVICE_ROWS[name](options)

    return _Plan(
        subject="service",
        settings={
            "connections": str(options.connections),
            "rounds": f"{options.rounds} of {options.seconds:g} s for the floor and {options.seconds:g} s for ours",
            "transport": "HTTP/1.1 without TLS, one process on each side",
        },
        comparable=not given.quick,
        rows={name: measured(name) for name in given.rows},
        directory=options.directory,
    )


def _row_names(known: Mapping[str, object], text: str) -> list[str]:
    unknown = set(names := text.split(",")) - known.keys()
    if unknown:
        msg = f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(known)}"
        raise argparse.ArgumentTypeError(msg)
    return sorted(names, key=list(known).index)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--logs",
        type=Path,
        default=_BUILD / "bench",
        help="folder for logs and data, used by one run at a time",
    )
    common.add_argument("--quick", action="store_true", help="small and short: shows that everything works")
    operator = commands.add_parser("operator", parents=[common], help="measure the operator")
    operator.add_argument(
        "--rows",
        type=partial(_row_names, ROWS),
        default=[name for name, row in ROWS.items() if not row.only_when_named],
        help=f"comma-separated, of {', '.join(ROWS)}; default: all but endurance",
    )
    operator.add_argument("--syncs", type=int, help="SecretSyncs; figures other than of 1,000 get no verdict")
    operator.add_argument("--minutes", type=float, default=10.0, help="length of the endurance row")
    service = commands.add_parser("service", parents=[common], help="measure the service")
    service.add_argument(
        "--rows",
        type=partial(_row_names, SERVICE_ROWS),
        default=list(SERVICE_ROWS),
        help=f"comma-separated, of {', '.join(SERVICE_ROWS)}; default: all",
    )
    for measuring, file in ((operator, _FILES["operator"]), (service, _FILES["service"])):
        measuring.add_argument("--json", type=Path, default=file, help="where the figures are kept")
    report = commands.add_parser("report", help="print the last runs as Markdown")
    report.add_argument("--json", type=Path, nargs="+", help="runs; default: the last one of each subject")
    report.add_argument("--into", type=Path, help="a page to put them into, between their marks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
