"""`make soak`: status 0 when every check holds.

Ctrl-C ends the changes, then come checks and report; a second one ends everything at once.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import signal
import sys
from dataclasses import replace
from pathlib import Path

import uvloop
from rich.console import Console

from tools.bench.errors import BenchError, causes
from tools.bench.machine import held_directory
from tools.controlplane.errors import ControlPlaneError
from tools.soak.options import SoakOptions
from tools.soak.progress import Screen
from tools.soak.record import Record
from tools.soak.report import unmet, write_report
from tools.soak.run import Soak

__all__ = ["main"]

_DIRECTORY = Path(__file__).parents[2] / "build" / "soak"


def main(arguments: list[str] | None = None) -> int:
    """Return the exit status: 0 when every check holds, 1 when one doesn't or could not be made."""
    options = _options(_parser().parse_args(arguments))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(f"seed {options.seed}", highlight=False)
    record: Record | None = None
    try:
        with held_directory(options.directory), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            record = runner.run(_run(options, console))
    except* (BenchError, ControlPlaneError) as error:
        for cause in causes(error):
            console.print(f"the soak could not go on: {cause}", style="red", markup=False, highlight=False)
    except* asyncio.CancelledError:
        console.print("ended at once; there is no report", style="red")
    if record is None:
        return 1
    page = write_report(record, options.directory)
    _tell(record, page, console)
    return 0 if record.passed else 1


async def _run(options: SoakOptions, console: Console) -> Record:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    soaking = asyncio.current_task()

    def interrupted() -> None:
        if stop.is_set() and soaking is not None:
            soaking.cancel()
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted)
    with Screen(console) as screen:
        return await Soak(options, screen, stop).run()


def _tell(record: Record, page: Path, console: Console) -> None:
    for check in record.checks:
        console.print(
            f"{'✓' if check.holds else '✗'} {check}", style="green" if check.holds else "red", markup=False
        )
    for name, waits in (("freshness", record.freshness), ("repair", record.repairs)):
        for when, summary in (("all", waits.all), ("undisturbed", waits.undisturbed)):
            if summary is not None:
                console.print(
                    f"{name}, {when}: p50 {summary.p50:.2f} s, p99 {summary.p99:.2f} s, worst {summary.worst:.2f} s, "
                    f"of {summary.count:,}",
                    highlight=False,
                )
    console.print(f"report and pictures: {page}", markup=False, highlight=False)
    if unmet(record):
        console.print("the soak FAILED", style="bold red")


def _options(given: argparse.Namespace) -> SoakOptions:
    options = SoakOptions(
        directory=given.directory, minutes=given.minutes, syncs=given.syncs, seed=given.seed
    )
    return replace(options, sources=min(options.sources, max(options.syncs // 4, 2)))


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no length of time")
    return number


def _several(text: str) -> int:
    number = int(text)
    if number < 10:
        raise argparse.ArgumentTypeError("10 SecretSyncs is the least")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--minutes", type=_positive, default=10.0, help="of changes and disturbances")
    parser.add_argument("--syncs", type=_several, default=1000, help="SecretSyncs")
    parser.add_argument(
        "--seed",
        type=int,
        default=secrets.randbelow(2**31),
        help="repeats an earlier run's choices; default: a new one",
    )
    parser.add_argument(
        "--directory", type=Path, default=_DIRECTORY, help="for the report, and logs of every program"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
