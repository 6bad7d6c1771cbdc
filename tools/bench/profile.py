"""Where the operator's time goes: `python -m tools.bench.profile` runs one cold sync under a profiler.

Under cProfile everything takes about twice as long: read shares, not seconds. `--imports` instead lists what
the start of the process imports, by the time of each module alone.
"""

from __future__ import annotations

import argparse
import asyncio
import pstats
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import uvloop

from tools.bench.coldsync import with_operator
from tools.bench.errors import BenchError, causes
from tools.bench.machine import held_directory
from tools.bench.options import Options
from tools.bench.population import populate
from tools.bench.rows.cold import warm_up
from tools.bench.stage import Stage, open_stage
from tools.controlplane.errors import ControlPlaneError

__all__ = ["Import", "main", "parse_imports"]

_BUILD = Path(__file__).parents[2] / "build"
_IMPORT_LINE = re.compile(r"^import time:\s+(\d+) \|\s+(\d+) \| ( *)(\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module: microseconds of its own, and with all that it imported first."""

    module: str
    own: int
    cumulative: int


def parse_imports(log: str) -> list[Import]:
    """Return what `-X importtime` wrote, in its order; other lines are skipped."""
    return [
        Import(module=match[4], own=int(match[1]), cumulative=int(match[2]))
        for match in _IMPORT_LINE.finditer(log)
    ]


async def _profile(options: Options, top: int) -> None:
    async with open_stage(options, "profile") as stage:
        await warm_up(stage)
        output = stage.directory / "operator.pstats"
        seconds, _ = await _cold_sync(stage, ("-m", "cProfile", "-o", str(output)))
    if not output.exists():
        msg = f"the operator wrote no {output}: it did not end by itself after SIGTERM"
        raise BenchError(msg)
    print(f"cold sync of {options.dimensions.syncs:,} under the profiler: {seconds:.2f} s; {output}")
    pstats.Stats(str(output)).sort_stats("tottime").print_stats(top)


async def _imports(options: Options, top: int) -> None:
    async with open_stage(options, "profile") as stage:
        await warm_up(stage)
        _, log_file = await _cold_sync(stage, ("-X", "importtime"))
    imports = parse_imports(log_file.read_text())
    print(f"{len(imports)} modules, {sum(one.own for one in imports) / 1000:.0f} ms")
    for one in sorted(imports, key=lambda one: one.own, reverse=True)[:top]:
        print(f"{one.own / 1000:8.1f} ms alone {one.cumulative / 1000:8.1f} ms in all  {one.module}")


async def _cold_sync(stage: Stage, interpreter: tuple[str, ...]) -> tuple[float, Path]:
    """Return how many seconds it took, and the operator's log, whole."""
    workload = stage.workload("profiled")
    await populate(stage.cluster.api, workload, stage.identity)
    async with with_operator(stage, workload, interpreter) as running:
        return (await running.cold_sync()).seconds, running.operator.log_file


def main(arguments: list[str] | None = None) -> int:
    """Profile one cold sync and print the top of the list; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.profile", description=__doc__)
    parser.add_argument("--syncs", type=int, default=1000)
    parser.add_argument("--top", type=int, default=40, help="lines to print")
    parser.add_argument("--imports", action="store_true", help="what the start imports, not a profile")
    parser.add_argument("--logs", type=Path, default=_BUILD / "bench", help="folder for logs and data")
    given = parser.parse_args(arguments)
    options = Options(given.logs)
    options = replace(options, dimensions=replace(options.dimensions, syncs=given.syncs))
    status = 0
    try:
        with held_directory(given.logs), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run((_imports if given.imports else _profile)(options, given.top))
    except* (BenchError, ControlPlaneError) as error:
        sys.stderr.writelines(f"{cause}\n" for cause in causes(error))
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
