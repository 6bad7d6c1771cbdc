"""A longer run at a short interval: memory and open files must stay where they were."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from tools.bench.coldsync import settle, synced
from tools.bench.figures import Bar, Figure, Others, RowResult
from tools.bench.options import Options
from tools.bench.rows.cold import warm_up
from tools.bench.samples import median, slope
from tools.bench.stage import open_stage

__all__ = ["run"]

_INTERVAL_SECONDS = 10
_SAMPLE_SECONDS = 5.0
# Resident memory moves by a few MiB between two looks at the same idle process.
_FLAT_MIB = 5.0


async def run(options: Options, _earlier: Mapping[str, RowResult]) -> RowResult:
    """Sample memory and open files, and compare the first tenth of the run with its last."""
    memory: list[tuple[float, float]] = []
    files: list[int] = []
    async with open_stage(options, "endurance") as stage:
        await warm_up(stage)
        workload = stage.workload("endurance", interval=f"{_INTERVAL_SECONDS}s")
        async with synced(stage, workload) as (running, _):
            await settle(running)
            started = time.monotonic()
            while (elapsed := time.monotonic() - started) < options.endurance_minutes * 60:
                memory.append((elapsed / 3600, running.operator.meter.memory().resident))
                files.append(running.operator.meter.open_files())
                await asyncio.sleep(_SAMPLE_SECONDS)
            peak = running.operator.meter.memory().peak
    tenth = max(len(memory) // 10, 1)
    first, last = ([mib for _, mib in part] for part in (memory[:tenth], memory[-tenth:]))
    figures = (
        Figure(
            "growth of memory, first tenth to last",
            "MiB",
            ours=median(last) - median(first),
            bar=Bar("flat", _FLAT_MIB),
        ),
        Figure(
            "memory at its peak",
            "MiB",
            ours=peak,
            others=Others("138 MiB", "395 MiB after 3 minutes"),
        ),
        Figure(
            "open files, most seen",
            "count",
            ours=max(files),
            others=Others("", "7,900 after 3 minutes"),
        ),
    )
    notes = (
        f"{len(memory)} samples, one each {_SAMPLE_SECONDS:g} s",
        f"memory: {median(first):.1f} MiB at first, {median(last):.1f} MiB at last",
        f"least-squares slope of memory: {slope(memory):+.1f} MiB per hour",
        f"open files: {files[0]} at first, {files[-1]} at last",
        f"up to {_FLAT_MIB:g} MiB count as flat",
    )
    title = (
        f"{options.endurance_minutes:g} minutes of {options.dimensions.syncs:,} SecretSyncs "
        f"at a {_INTERVAL_SECONDS} s interval"
    )
    return RowResult("endurance", title, figures, notes)
